"""What one source says was held, and what another measured, laid side by side in time: cut wherever either changes."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.meters import METERS
from apportion.model.money import share
from apportion.model.rows import USAGE, complete_columns, held_amounts

KEY = ["workload", "meter", "resource"]
FLOWS = pa.array(sorted(name for name, meter in METERS.items() if meter.flow))


def lay_beside(held: pa.Table, measured: pa.Table) -> tuple[pa.Table, list[Problem]]:
    """The held rows; where somebody measured the same workload, meter and resource, cut at the edges of what was measured and with its use.

    Held time that nobody measured stays unmeasured. Use outside the time or the place that was held is nobody's.
    """
    if not len(measured):
        return held, []
    groups, of_held, of_measured = grouped(held, measured)
    both = np.intersect1d(of_held, of_measured)
    mine = np.isin(of_held, both)
    strays = stray(measured.filter(pa.array(~np.isin(of_measured, both))))
    if not len(both):
        return held, strays
    cut = sweep(
        (of_held[mine], held.filter(pa.array(mine))),
        (of_measured[np.isin(of_measured, both)], measured.filter(pa.array(np.isin(of_measured, both)))),
    )
    laid = rows_of(cut, groups, held["source"], of_held)
    return pa.concat_tables([held.filter(pa.array(~mine)), share_among_sets(laid, held.filter(pa.array(mine)))]), strays


def grouped(held: pa.Table, measured: pa.Table) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Every workload, meter and resource of both, numbered, and the number of each row."""
    both = pa.concat_tables([held.select(KEY), measured.select(KEY)])
    groups = both.group_by(KEY, use_threads=False).aggregate([])
    numbered = groups.append_column("group", pa.array(np.arange(len(groups))))
    placed = both.append_column("place", pa.array(np.arange(len(both)))).join(numbered, KEY).sort_by("place")
    numbers = placed["group"].to_numpy()
    return groups, numbers[: len(held)], numbers[len(held) :]


def sweep(held: tuple[np.ndarray, pa.Table], measured: tuple[np.ndarray, pa.Table]) -> dict[str, np.ndarray]:
    """Running sums over the edges of both: in each stretch what is held, what is used, and whether anybody measured."""
    group, rows = held
    other, seen = measured
    start, end = (rows[name].to_numpy() for name in ("start_s", "end_s"))
    begin, finish = (seen[name].to_numpy() for name in ("start_s", "end_s"))
    amount, used = held_amounts(rows).to_numpy(), seen["used"].to_numpy()
    at = np.concatenate([start, end, begin, finish])
    of = np.concatenate([group, group, other, other])
    one, none = np.ones(len(group), np.int64), np.zeros(len(group), np.int64)
    eins, nil = np.ones(len(other), np.int64), np.zeros(len(other), np.int64)
    changes = {
        "allocated": np.concatenate([amount, -amount, nil, nil]),
        "used": np.concatenate([none, none, used, -used]),
        "holds": np.concatenate([one, -one, nil, nil]),
        "watches": np.concatenate([none, none, eins, -eins]),
    }
    order = np.lexsort((at, of))
    at, of = at[order], of[order]
    levels = {name: np.cumsum(change[order]) for name, change in changes.items()}
    last = np.append(
        (of[1:] != of[:-1]) | (at[1:] != at[:-1]), True
    )  # of several changes at one second, what is so after all of them
    at, of, levels = at[last], of[last], {name: level[last] for name, level in levels.items()}
    until = np.append(at[1:], at[-1:])
    there = (levels["holds"] > 0) & (np.append(of[1:], -1) == of) & (until > at)
    return {"group": of[there], "start_s": at[there], "end_s": until[there], **{
        name: level[there] for name, level in levels.items() if name != "holds"
    }}  # fmt: skip


def rows_of(cut: dict[str, np.ndarray], groups: pa.Table, sources: pa.ChunkedArray, of_held: np.ndarray) -> pa.Table:
    """Usage rows again; stretches that follow each other with the same amounts are one."""
    same = np.zeros(len(cut["group"]), dtype=bool)
    same[1:] = cut["end_s"][:-1] == cut["start_s"][1:]
    for name in ("group", "allocated", "used"):
        same[1:] &= cut[name][1:] == cut[name][:-1]
    same[1:] &= (cut["watches"][1:] > 0) == (cut["watches"][:-1] > 0)
    first = np.flatnonzero(~same)
    final = np.append(first[1:], len(same)) - 1
    whose = first_source(sources, of_held, len(groups)).take(pa.array(cut["group"][first]))
    keys = groups.take(pa.array(cut["group"][first]))
    cut_rows = pa.table({
        "source": whose,
        **{name: keys[name] for name in KEY},
        "start_s": cut["start_s"][first],
        "end_s": cut["end_s"][final],
        "allocated": cut["allocated"][first],
        "used": pa.array(cut["used"][first], mask=cut["watches"][first] == 0),
    })  # fmt: skip
    return complete_columns(cut_rows, USAGE).select(USAGE.names).cast(USAGE)


def share_among_sets(laid: pa.Table, held: pa.Table) -> pa.Table:
    """Whose labels own each stretch: those of the held rows there. Where rows of several sets hold at once, each has its part of the use."""
    if held["label_set"].null_count == len(held):
        return laid
    whose = by_place(held)
    made = [part for row in laid.to_pylist() for part in parts_of(row, whose[tuple(row[name] for name in KEY)])]
    return pa.Table.from_pylist(made, schema=USAGE)


def by_place(held: pa.Table) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row, units in zip(held.to_pylist(), held_amounts(held).to_pylist(), strict=True):
        found.setdefault(tuple(row[name] for name in KEY), []).append(row | {"allocated": units})
    return found


def parts_of(row: dict[str, Any], held: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Cut where the sets change: equal stretches of several sets were one."""
    own = [one for one in held if one["start_s"] < row["end_s"] and one["end_s"] > row["start_s"]]
    edges = {row["start_s"], row["end_s"], *(one[name] for one in own for name in ("start_s", "end_s"))}
    inside = sorted(edge for edge in edges if row["start_s"] <= edge <= row["end_s"])
    for start, end in pairwise(inside):
        sets: dict[str | None, int] = {}
        for one in own:
            if one["start_s"] <= start and end <= one["end_s"]:
                sets[one["label_set"]] = sets.get(one["label_set"], 0) + one["allocated"]
        names = sorted(sets, key=lambda name: name or "")
        weights = [sets[name] for name in names] if any(sets.values()) else [1] * len(names)
        used = None if row["used"] is None else share(row["used"], weights, [name or "" for name in names])
        for place, name in enumerate(names):
            amounts = {"allocated": sets[name], "used": None if used is None else used[place]}
            yield row | amounts | {"start_s": start, "end_s": end, "label_set": name}


def first_source(sources: pa.ChunkedArray, of_held: np.ndarray, groups: int) -> pa.Array:
    """A group has one source that decides, so any of its rows tells it."""
    place = np.zeros(groups, np.int64)
    place[of_held[::-1]] = np.arange(len(of_held) - 1, -1, -1)
    return sources.combine_chunks().take(pa.array(place))


def stray(measured: pa.Table) -> list[Problem]:
    """Use that was measured where nothing was held: mostly two names of one node."""
    measured = measured.append_column("quantity", quantities(measured, "used"))
    sums = [("resource", "min"), ("quantity", "sum"), ([], "count_all")]
    counts = measured.group_by(["source", "meter"]).aggregate(sums).to_pylist()
    return [
        Problem(
            f"source {row['source']}",
            "measured-elsewhere",
            f"{row['count_all']:,} measurements of {row['meter']} are of a resource where their workload held nothing, such as {row['resource_min']}; "
            "see whether both sources call it by the same name",
            f"+{row['count_all']}",
            quantity=str(row["quantity_sum"] or 0),
            meter=row["meter"],
        )
        for row in sorted(counts, key=lambda row: (row["source"], row["meter"]))
    ]


def quantities(rows: pa.Table, column: str) -> pa.ChunkedArray:
    """Base units of each row; of a level times its seconds."""
    seconds = pc.subtract(rows["end_s"], rows["start_s"])
    lasting = (
        pc.if_else(pc.is_in(rows["meter"], value_set=FLOWS), 1, seconds).cast(pa.int32()).cast(pa.decimal128(10, 0))
    )
    return pc.multiply(rows[column].cast(pa.decimal128(19, 0)), lasting)
