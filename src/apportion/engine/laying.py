"""What one source says was held, and what another measured, laid side by side in time: cut wherever either changes."""

import numpy as np
import pyarrow as pa

from apportion.errors import Problem
from apportion.model.rows import USAGE

KEY = ["workload", "meter", "resource"]


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
    return pa.concat_tables([held.filter(pa.array(~mine)), laid]), strays


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
    amount, used = rows["allocated"].to_numpy(), seen["used"].to_numpy()
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
    return pa.table({
        "source": whose,
        **{name: keys[name] for name in KEY},
        "start_s": cut["start_s"][first],
        "end_s": cut["end_s"][final],
        "allocated": cut["allocated"][first],
        "used": pa.array(cut["used"][first], mask=cut["watches"][first] == 0),
    }).select(USAGE.names).cast(USAGE)  # fmt: skip


def first_source(sources: pa.ChunkedArray, of_held: np.ndarray, groups: int) -> pa.Array:
    """A group has one source that decides, so any of its rows tells it."""
    place = np.zeros(groups, np.int64)
    place[of_held[::-1]] = np.arange(len(of_held) - 1, -1, -1)
    return sources.combine_chunks().take(pa.array(place))


def stray(measured: pa.Table) -> list[Problem]:
    """Use that was measured where nothing was held: mostly two names of one node."""
    counts = measured.group_by(["source", "meter"]).aggregate([("resource", "min"), ([], "count_all")]).to_pylist()
    return [
        Problem(
            f"source {row['source']}",
            "measured-elsewhere",
            f"{row['count_all']:,} measurements of {row['meter']} are of a resource where their workload held nothing, such as {row['resource_min']}; "
            "see whether both sources call it by the same name",
        )
        for row in sorted(counts, key=lambda row: (row["source"], row["meter"]))
    ]
