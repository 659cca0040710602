"""A board's joules and busy time of one interval, divided among the processes on it, in whole units that add up.

1. Who was busy shares everything, by use of the compute units: the draw of the idle board with it, since it is on for them.
2. Where nobody was busy, it stays with the workload that holds the board alone: nobody else could have used it.
3. Otherwise (nobody holds it, or several do and none works) it is `_idle`.
4. Where the board does not say who was busy (MIG, old drivers), those that hold it share it: by the driver's accounting where it
   is on, else by the slices of their MIG instances. Busy time is then not measured.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apportion.sources.agent.looks import Reading

FULL = 1000  # thousandths
FINE = 5040  # a slice shared by up to ten is exact


@dataclass(frozen=True, slots=True)
class Portion:
    """What one pid gets of an interval; None stands for nobody. `busy_us` is None where it was not measured."""

    pid: int | None
    millijoules: int
    busy_us: int | None


def apportioned(total: int, weights: Sequence[int]) -> list[int]:
    """Whole parts of a total in proportion to weights, by largest remainder; ties go to the first. They add up to the total."""
    whole = sum(weights)
    if whole <= 0:
        raise ValueError("no weight to share by")
    parts = [total * weight // whole for weight in weights]
    order = sorted(range(len(weights)), key=lambda place: (-(total * weights[place] % whole), place))
    for place in order[: total - sum(parts)]:
        parts[place] += 1
    return parts


def divided(reading: Reading, millijoules: int, took_us: int, sole: int | None) -> list[Portion]:
    """`sole` is a pid of the workload that holds the board alone, None where none or several do."""
    measured = reading.busy is not None
    weights = working(reading)
    nothing = 0 if measured else None
    waiting = [
        Portion(pid, 0, nothing) for pid in sorted({process.pid for process in reading.processes} - {*weights, sole})
    ]
    if not weights:
        return [Portion(sole, millijoules, nothing), *waiting]
    pids = sorted(weights)
    shares = [weights[pid] for pid in pids]
    joules = apportioned(millijoules, shares)
    busy: Sequence[int | None] = [None] * len(pids)
    if measured:
        busy = apportioned(took_us * min(sum(shares), FULL) // FULL, shares)
    return [Portion(pid, mine, used) for pid, mine, used in zip(pids, joules, busy, strict=True)] + waiting


def working(reading: Reading) -> Mapping[int, int]:
    """The weights by which those at work share; nothing where nobody worked."""
    if reading.busy is not None:
        return positive(reading.busy)
    accounted = positive(reading.weights or {})
    if accounted:
        return accounted
    crowd = Counter(process.instance for process in reading.processes)
    found: Counter[int] = Counter()
    for process in reading.processes:  # an instance is shared alike by those in it; a process may hold several
        found[process.pid] += process.slices * FINE // crowd[process.instance]
    return found


def positive(weights: Mapping[int, int]) -> dict[int, int]:
    return {pid: weight for pid, weight in weights.items() if weight > 0}
