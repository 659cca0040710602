"""Asking slurmrestd: jobs of a window from its accounting, and the nodes and reservations of now. It has no events, so nothing is said of past outages."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apportion.errors import InputError
from apportion.model.times import Interval
from apportion.sources.live import Progress
from apportion.sources.outside.web import Web
from apportion.sources.settings import Stanza
from apportion.sources.slurm.delivery import Said
from apportion.sources.slurm.hostlists import nodes_of
from apportion.sources.slurm.nodes import from_rest
from apportion.sources.slurm.reservations import Reservation, names
from apportion.sources.slurm.sacct_json import blocks, number, text
from apportion.sources.slurm.tres import tres_of

PATH = re.compile(r"/slurmdb/(v0\.0\.[0-9]{2})/jobs/?")
PARTS = 3


def web_of(found: Stanza) -> Web:
    """The token, and who shows it, go in headers of their own."""
    own = {"token": "X-SLURM-USER-TOKEN", "username": "X-SLURM-USER-NAME"}
    headers = {
        **found.words("headers"),
        **{header: found.text(key) for key, header in own.items() if key in found.settings},
    }
    plain = {key: value for key, value in found.settings.items() if key not in own}
    return Web.of(Stanza({**plain, "headers": headers}, found.where))


def read_rest(web: Web, api: str, window: Interval, said: Said) -> Iterator[Progress]:
    """Fills `said` with what the window touches."""
    version = api or newest(web)
    yield Progress(0, PARTS, "jobs")
    bounds = {"start_time": f"uts{window.start_s}", "end_time": f"uts{window.end_s}"}
    said.accounting += [
        ("slurmrestd", block) for block in blocks(asked(web, f"/slurmdb/{version}/jobs", bounds), "slurmrestd")
    ]
    yield Progress(1, PARTS, "nodes")
    said.nodes |= {node.name: node for node in from_rest(asked(web, f"/slurm/{version}/nodes").get("nodes") or ())}
    yield Progress(2, PARTS, "reservations")
    found = asked(web, f"/slurm/{version}/reservations").get("reservations") or ()
    said.reservations += [one for entry in found if (one := reservation_of(entry)) is not None]


def asked(web: Web, path: str, params: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
    """An answer may hold errors beside its data: half of an answer is none."""
    found = web.get(path, params)
    errors = found.get("errors") if isinstance(found, Mapping) else [{"error": "the answer is no object"}]
    if errors:
        said = "; ".join(str(error.get("description") or error.get("error") or error)[:200] for error in errors)
        raise InputError("bad-response", f"slurmrestd answers {path} with: {said}", where=web.where)
    return found  # type: ignore[no-any-return]  # a mapping, as was just seen


def newest(web: Web) -> str:
    """The newest version of its interface that this slurmrestd speaks."""
    paths = web.get("/openapi/v3").get("paths") or ()
    versions = sorted(found[1] for path in paths if (found := PATH.fullmatch(path)))
    if not versions:
        raise InputError(
            "bad-response",
            "slurmrestd offers no accounting of jobs",
            where=web.where,
            hint="start it with the slurmdbd plugin (-s openapi/slurmctld,openapi/slurmdbd, or dbv0.0.38 on 22.05)",
        )
    return versions[-1]


def reservation_of(entry: Mapping[str, Any]) -> Reservation | None:
    start, end = number(entry.get("start_time")), number(entry.get("end_time"))
    if start is None or end is None:
        return None
    flags = entry.get("flags") or ()
    return Reservation(
        "", text(entry.get("name")), "", Interval(start, end), nodes_of(text(entry.get("node_list"))), tres_of(text(entry.get("tres"))),
        frozenset(flags.split(",") if isinstance(flags, str) else map(str, flags)), names(text(entry.get("accounts"))), names(text(entry.get("users"))),
    )  # fmt: skip
