"""Facts added up for every owner at a level: one pass over the rows per dimension, whatever the number of owners."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.reports.statement.facts import KEYS

Key = tuple[str, ...]  # currency, and the owner at a level
Sums = Mapping[Key, Mapping[tuple[str, ...], Any]]


def added(rows: pa.Table, level: str, by: Sequence[str] = (), value: str = "amount") -> Sums:
    """Sums of `value` by owner, and inside an owner by some dimensions; owners without a name at this level are left out."""
    keys = ["currency", *KEYS[level]]
    some = named(rows, level).select(list(dict.fromkeys([*keys, *by, value])))
    sums = some.group_by(list(dict.fromkeys([*keys, *by]))).aggregate([(value, "sum")])
    owners = zip(*(sums[name].to_pylist() for name in keys), strict=True)
    names = zip(*(sums[name].to_pylist() for name in by), strict=True) if by else [()] * len(sums)
    found: dict[Key, dict[tuple[str, ...], Any]] = defaultdict(dict)
    for owner, name, amount in zip(owners, names, sums[f"{value}_sum"].to_pylist(), strict=True):
        found[owner][name] = amount
    return found


def named(rows: pa.Table, level: str) -> pa.Table:
    return rows.filter(pc.not_equal(rows[KEYS[level][-1]], ""))


def where(rows: pa.Table, **wanted: Sequence[Any] | Any) -> pa.Table:
    for name, values in wanted.items():
        kind = rows.schema.field(name).type
        some = values if isinstance(values, list | tuple) else [values]
        rows = rows.filter(pc.is_in(rows[name], pa.array(list(some), kind)))
    return rows


def single(sums: Sums, key: Key) -> int:
    """The sum without a dimension; 0 where there is nothing."""
    return int(sums.get(key, {}).get((), 0))
