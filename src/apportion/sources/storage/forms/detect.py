"""Which form a text has."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from apportion.errors import InputError
from apportion.sources.storage.forms import ceph, gpfs, local, quota, trees, zfs
from apportion.sources.storage.report import Part, Said, Size

Parse = Callable[[Said], Iterator[Part | Size]]
TEXTS: tuple[tuple[re.Pattern[str], Parse], ...] = (
    (gpfs.COLONS, gpfs.parse_colons),
    (gpfs.TEXT, gpfs.parse_text),
    (local.REPQUOTA, local.parse_repquota),
    (local.XFS, local.parse_xfs),
    (local.DF, local.parse_df),
    (quota.MATCHES, quota.parse),
    (ceph.RBD, ceph.parse_rbd),
    (ceph.DF, ceph.parse_df),
    (ceph.ATTRIBUTES, ceph.parse_attributes),
    (zfs.MATCHES, zfs.parse),
    (trees.ZFS_LIST, trees.parse_zfs_list),
    (trees.DU, trees.parse_du),
)
KNOWN = "lfs quota, lfs df, mmrepquota, repquota, xfs_quota, quota, df, rbd du, ceph df, getfattr, zfs userspace, zfs list, du"


def parse_text(said: Said) -> list[Part | Size]:
    if not said.text.strip():
        raise InputError(
            "empty-file", f"{said.name} is empty", where=said.name, hint="see why the command printed nothing"
        )
    if said.text.lstrip().startswith("{"):
        return parse_json(said)
    for shape, parse in TEXTS:
        if shape.search(said.text):
            return list(parse(said))
    raise unknown(said, said.text.strip().splitlines()[0])


def parse_json(said: Said) -> list[Part | Size]:
    try:
        found: Any = json.loads(said.text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "corrupt-file", f"{said.name} is no whole JSON document: {error}", where=said.name, hint="fetch it again"
        ) from error
    try:
        if "images" in found:
            return list(ceph.parse_rbd_json(said, found))
        if "pools" in found and "stats" in found:
            return list(ceph.parse_df_json(said, found))
    except (KeyError, TypeError, ValueError) as error:
        raise unknown(said, f"{type(error).__name__}: {error}") from error
    raise unknown(said, ", ".join(list(found)[:5]))


def unknown(said: Said, first: str) -> InputError:
    return InputError(
        "unknown-form",
        f"{said.name} is no report that is known: {first.strip()[:60]!r}",
        where=said.name,
        hint=f"known are {KNOWN}; others can be read as CSV",
    )
