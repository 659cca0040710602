"""Who held what: their hours, as levels over the time that a pod ran. Containers of a pod are added up; volumes are counted anew.

Their numbers have five places. A level that these cannot tell from the request, or from a whole number, is that: a GPU for ten minutes
reads 0.16667 GPU-hours and is one GPU. A volume's byte-hours are their pod's share squared, so its size and the time that it was mounted
count instead, split evenly among those who have it mounted at the time.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa

from apportion.model.meters import METERS
from apportion.model.money import share
from apportion.model.rows import USAGE, WORKLOADS, complete_columns
from apportion.model.times import Interval
from apportion.sources.opencost.day import Day, stated
from apportion.sources.opencost.rows import Allocation

HALF_A_PLACE = Decimal("0.000005")
FLOAT = Decimal("1e-9")
FINE = 10**6  # base units: rounding to a whole one moves less than a millionth
Key = tuple[str, str, str]  # workload, meter, resource


@dataclass(frozen=True, slots=True)
class Piece:
    run: Interval
    allocated: Fraction  # of the meter's base units
    used: Fraction | None


Row = tuple[Key, int, int, int, int | None]


def usage(day: Day, source: str, sizes: Mapping[str, int]) -> pa.Table:
    """`sizes` are the bytes of the volumes that the assets know."""
    levels: dict[Key, list[Piece]] = defaultdict(list)
    flows: dict[Key, list[Piece]] = defaultdict(list)
    for row in day.allocations:
        if row.is_pod and row.run.seconds > 0:
            for meter, piece in held(row):
                levels[row.workload, meter, row.node].append(piece)
            moved = Fraction(row.number("networkTransferBytes") + row.number("networkReceiveBytes"))
            if moved > 0:
                flows[row.workload, "network", row.node].append(Piece(row.run, moved, None))
    rows = [found for key, pieces in levels.items() for found in stacked(key, pieces)]
    rows += [added(key, pieces) for key, pieces in flows.items()]
    rows += mounted(day.allocations, sizes)
    clusters = {row.workload: stated(row.cluster) for row in day.allocations}
    made = pa.table(
        {
            "source": [source] * len(rows),
            "workload": [key[0] for key, *_ in rows],
            "meter": [key[1] for key, *_ in rows],
            "resource": [key[2] for key, *_ in rows],
            "start_s": [row[1] for row in rows],
            "end_s": [row[2] for row in rows],
            "allocated": [row[3] for row in rows],
            "used": pa.array([row[4] for row in rows], pa.int64()),
            "cluster": pa.array([clusters[key[0]] for key, *_ in rows], pa.string()),
        }
    )
    return complete_columns(made, USAGE).cast(USAGE)


def held(row: Allocation) -> Iterator[tuple[str, Piece]]:
    for meter, hours, request, use in (
        ("cpu", "cpuCoreHours", "cpuCoreRequestAverage", "cpuCoreUsageAverage"),
        ("memory", "ramByteHours", "ramByteRequestAverage", "ramByteUsageAverage"),
    ):
        amount = level(row.number(hours), row.run.seconds, row.numbers.get(request))
        used = row.numbers.get(use)
        used = None if used is None or used < 0 else used
        if amount > 0 or used:
            base = METERS[meter].base if meter == "cpu" else 1
            yield meter, Piece(row.run, amount * base, None if used is None else Fraction(used) * base)
    gpus = level(row.number("gpuHours"), row.run.seconds, row.gpu.get("gpuRequestAverage"))
    if gpus > 0:
        busy = busy_of(row)
        yield (
            "gpu",
            Piece(row.run, gpus * METERS["gpu"].base, None if busy is None else gpus * busy * METERS["gpu"].base),
        )


def level(hours: Decimal, seconds: int, request: object) -> Fraction:
    """How much, over so many seconds, makes the hours."""
    held = hours * 3600
    slack = HALF_A_PLACE * 3600 + held * FLOAT
    asked = [Decimal(request)] if isinstance(request, int | Decimal) else []
    for near in (*asked, Decimal(round(held / seconds))):
        if abs(held - near * seconds) <= slack:
            return Fraction(near)
    return Fraction(held) / seconds


def busy_of(row: Allocation) -> Fraction | None:
    """How busy the boards were, 0 to 1. Their `gpuEfficiency` divides it by the number of GPUs and turns 0 into 1, so it is not read."""
    busy = row.gpu.get("gpuUsageAverage")
    seen = row.gpu.get("gpuModel") or row.gpu.get("gpuUUID") or busy
    return Fraction(busy) if seen and isinstance(busy, int | Decimal) else None


def stacked(key: Key, pieces: list[Piece]) -> Iterator[Row]:
    """The sum of levels, cut where one begins or ends."""
    edges = sorted({edge for piece in pieces for edge in (piece.run.start_s, piece.run.end_s)})
    rows = []
    for start, end in pairwise(edges):
        inside = [piece for piece in pieces if piece.run.start_s <= start < piece.run.end_s]
        if inside:
            known = [piece.used for piece in inside if piece.used is not None]
            used = round(sum(known)) if known else None
            whole = sum((piece.allocated for piece in inside), Fraction(0))
            rows += [(key, *span, used) for span in in_whole_units(whole, start, end)]
    yield from joined(rows)


def in_whole_units(amount: Fraction, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """A fine amount is rounded. A coarse one, such as 0.4 millicores, is held in two parts, so that its hours stay what they are."""
    if amount >= FINE:
        yield start, end, round(amount)
        return
    low, seconds = divmod(round(amount * (end - start)), end - start)
    if seconds:
        yield start, start + seconds, low + 1
    yield start + seconds, end, low


def added(key: Key, pieces: list[Piece]) -> Row:
    """The sum of flows, over the time of all."""
    start, end = min(piece.run.start_s for piece in pieces), max(piece.run.end_s for piece in pieces)
    return key, start, end, round(sum(piece.allocated for piece in pieces)), None


def mounted(rows: Iterable[Allocation], sizes: Mapping[str, int]) -> list[Row]:
    """Volumes by who had them mounted when. One that no asset knows has no size, and is told as a problem."""
    mounts: dict[str, dict[str, Interval]] = defaultdict(dict)
    for row in rows:
        for volume in row.volumes if row.is_pod and row.run.seconds > 0 else ():
            before = mounts[volume].get(row.workload, row.run)
            mounts[volume][row.workload] = Interval(
                min(before.start_s, row.run.start_s), max(before.end_s, row.run.end_s)
            )
    return [
        found for volume, holders in sorted(mounts.items()) if volume in sizes
        for found in split_evenly(volume, holders, sizes[volume])
    ]  # fmt: skip


def split_evenly(volume: str, holders: Mapping[str, Interval], size: int) -> Iterator[Row]:
    edges = sorted({edge for run in holders.values() for edge in (run.start_s, run.end_s)})
    parts: dict[str, list[Row]] = defaultdict(list)
    for start, end in pairwise(edges):
        inside = sorted(name for name, run in holders.items() if run.start_s <= start < run.end_s)
        for name, amount in zip(inside, share(size, [1] * len(inside), inside) if inside else (), strict=True):
            parts[name].append(((name, "storage", f"storage/{volume}"), start, end, amount, None))
    for rows in parts.values():
        yield from joined(rows)


def joined(rows: list[Row]) -> Iterator[Row]:
    """Neighbours that say the same are one row."""
    last: Row | None = None
    for row in rows:
        if last and last[2] == row[1] and last[3:] == row[3:]:
            last = (last[0], last[1], row[2], *last[3:])
        else:
            if last:
                yield last
            last = row
    if last:
        yield last


def workloads(day: Day, source: str) -> pa.Table:
    """A pod each. Their answers know no outcome: what reaches the window's end still runs, else it is over."""
    found: dict[str, list[Allocation]] = defaultdict(list)
    for row in day.allocations:
        if row.is_pod:
            found[row.workload].append(row)
    rows = []
    for workload, parts in sorted(found.items()):
        end = max(part.run.end_s for part in parts)
        kind, owner = parts[0].controller
        rows.append(
            {
                "source": source,
                "workload": workload,
                "run": f"k8s/{parts[0].cluster}/{parts[0].namespace}/{kind}/{owner}" if kind and owner else workload,
                "name": parts[0].pod,
                "start_s": min(part.run.start_s for part in parts),
                "end_s": end,
                "outcome": "running" if end >= day.window.end_s else "completed",
                "labels": sorted(labels(parts).items()),
            }
        )
    return pa.Table.from_pylist(rows, WORKLOADS)


def labels(parts: list[Allocation]) -> dict[str, str]:
    """Of all its containers; the policy's rules match them."""
    first = max(parts, key=lambda part: (part.number("gpuHours"), part.name))
    found = {key: value for part in parts for key, value in part.labels.items()}
    found |= {
        "k8s.cluster": first.cluster,
        "k8s.namespace": first.namespace,
        "k8s.pod": first.pod,
        "k8s.uid": first.uid,
        "k8s.node": first.node,
        "k8s.owner_kind": first.controller[0],
        "k8s.owner": first.controller[1],
        "gpu.model": str(first.gpu.get("gpuModel") or ""),
    }
    return {key: value for key, value in found.items() if value}
