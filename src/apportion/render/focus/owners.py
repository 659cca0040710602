"""What the split says of each row: whose part it is, by which method, and which part of the origin."""

import json
import string
from collections.abc import Mapping
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.wide import Whole
from apportion.model.kinds import kinds
from apportion.model.rows import OWN_TAG, SYSTEM_OWNERS
from apportion.render.focus.columns import OWNER
from apportion.render.focus.numbers import ratios

QUANTITY_UNIT = "Seconds"
TRANSFER, UNCLAIMED, OTHER = "transfer", "unclaimed", "shared"  # methods of what no pool of the policy shares
PLAIN = " " + "".join(sorted(set(string.punctuation) - set("%/")))
NULL = pa.scalar(None, pa.string())


def allocated_columns(
    rows: pa.Table, amounts: Whole, groups: tuple[np.ndarray, np.ndarray], methods: Mapping[str, str]
) -> dict[str, pa.Array]:
    """`rows` with pool, category, reason, cause and owner; `groups` is where each origin's rows begin, and each row's origin."""
    return {
        "AllocatedMethodId": method_ids(rows, methods),
        "AllocatedMethodDetails": details(ratios(amounts, *groups)),
        **owner_columns(rows),
        "x_Reason": rows["reason"].combine_chunks(),
        "x_Cause": filled(rows["cause"]),
    }


def details(ratio: pa.Array) -> pa.Array:
    text = pc.binary_join_element_wise('{"Elements":[{"AllocatedRatio":', ratio, "}]}", "")
    return pc.if_else(pc.is_null(ratio), NULL, text)


def method_ids(rows: pa.Table, methods: Mapping[str, str]) -> pa.Array:
    """Told once for each pool and category."""
    found = kinds([rows["pool"], rows["category"]], len(rows))
    keys = rows.select(["pool", "category"]).take(pa.array(found.first)).to_pylist()
    ids = pa.array([method_id(key["pool"], key["category"], methods) for key in keys], pa.string())
    return ids.take(pa.array(found.of))


def method_id(pool: str, category: str, methods: Mapping[str, str]) -> str:
    if category == "Adjustment":
        return OWN_TAG + TRANSFER
    return OWN_TAG + (methods.get(pool, OTHER) if pool else UNCLAIMED)


def owner_columns(rows: pa.Table) -> dict[str, pa.Array]:
    """Told once for each owner. Idle, unallocated and residual parts are nobody's: without id, name and tags, as FOCUS asks."""
    found = kinds([rows[name] for name in OWNER], len(rows))
    owners = rows.select(list(OWNER)).take(pa.array(found.first)).to_pylist()
    told = {
        "AllocatedResourceId": [resource_id(owner) for owner in owners],
        "AllocatedResourceName": [resource_name(owner) for owner in owners],
        "AllocatedTags": [tags(owner) for owner in owners],
        **{column: [owner[name] or None for owner in owners] for name, column in OWNER.items()},
    }
    of_row = pa.array(found.of)
    return {name: pa.array(values, pa.string()).take(of_row) for name, values in told.items()}


def resource_id(owner: Mapping[str, str]) -> str | None:
    """`vision/llm/ann`: team, project and user."""
    if owner["team"] in SYSTEM_OWNERS:
        return None
    return "/".join(quoted(owner[name]) for name in ("team", "project", "user")).rstrip("/")


def resource_name(owner: Mapping[str, str]) -> str | None:
    if owner["team"] in SYSTEM_OWNERS:
        return None
    return " / ".join(owner[name] for name in ("team", "project", "user") if owner[name])


def tags(owner: Mapping[str, str]) -> str | None:
    if owner["team"] in SYSTEM_OWNERS:
        return None
    said = {OWN_TAG + name: owner[name] for name in OWNER if owner[name]}
    return json.dumps(said, sort_keys=True, separators=(",", ":"))


def quoted(part: str) -> str:
    """As a part of an id: a slash in it does not part it, and ids are plain ASCII."""
    return quote(part, safe=PLAIN)


def filled(column: pa.ChunkedArray) -> pa.Array:
    """FOCUS knows no empty text: nothing said is null."""
    return pc.if_else(pc.equal(column, ""), NULL, column).combine_chunks()
