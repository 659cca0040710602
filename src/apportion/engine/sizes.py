"""How large work was: the most accelerators that a workload held at once, and the name that the policy gives to so many."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.meters import GPU, METERS
from apportion.model.rows import held_amounts

ACCELERATORS = tuple(sorted(meter.name for meter in METERS.values() if meter.base == GPU))
SIZES: Mapping[str, Fraction] = {  # where the policy has none
    "no GPU": Fraction(0),
    "part of a GPU": Fraction(1, 1000),
    "1 GPU": Fraction(1),
    "2 to 8 GPUs": Fraction(2),
    "9 to 64 GPUs": Fraction(9),
    "65 to 512 GPUs": Fraction(65),
    "over 512 GPUs": Fraction(513),
}


def most_held(usage: pa.Table) -> dict[str, Fraction]:
    """By workload, in whole units. Where several sources saw it, none adds to another: the largest counts."""
    usage = usage.append_column("units", held_amounts(usage))
    rows = usage.filter(pc.and_(pc.greater(usage["units"], 0), pc.greater(usage["end_s"], usage["start_s"])))
    rows = rows.filter(pc.is_in(rows["meter"], pa.array(ACCELERATORS)))
    if not len(rows):
        return {}
    found = kinds([rows[name] for name in ("workload", "source", "meter")], len(rows))
    start, end, amount = (rows[name].to_numpy() for name in ("start_s", "end_s", "units"))
    whose = np.concatenate([found.of, found.of])
    when, change = np.concatenate([start, end]), np.concatenate([amount, -amount])
    order = np.lexsort((change, when, whose))  # what ends goes before what begins in the same second
    running = np.cumsum(change[order])  # all of one kind comes to nothing, so that the next begins at 0
    first = np.searchsorted(whose[order], np.arange(len(found.first)))
    most = np.maximum.reduceat(running, first)
    held: dict[str, int] = {}
    for workload, amount_held in zip(rows["workload"].take(pa.array(found.first)).to_pylist(), most, strict=True):
        held[workload] = max(held.get(workload, 0), int(amount_held))
    return {workload: Fraction(units, GPU) for workload, units in held.items()}


def size_of(held: Fraction, sizes: Mapping[str, Fraction]) -> str:
    """The last size that is not more; empty where the least one is."""
    reached = [name for name, least in sorted((sizes or SIZES).items(), key=lambda pair: pair[1]) if least <= held]
    return reached[-1] if reached else ""
