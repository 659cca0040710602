"""Shared boards: parts of a resource's GPUs may add up to more than there are, and yet no board is billed more than once.

Time-slicing, MPS and fractions of a GPU are promises that need not add up. What is asked above a board's stated capacity in a cell does not count:
each part counts less there, in proportion. Whole GPUs above a capacity are a stale inventory, and stay as they are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa

from apportion.engine.bearers import Bearers
from apportion.engine.claims import WHOLE_POOL, Claim, Reach, claim, clip
from apportion.engine.demand import FINE, HELD, UNITS, measures, plus, scale_of
from apportion.engine.encode import METER_NUMBER
from apportion.engine.grids import integrate_grid, measure_curves
from apportion.engine.resources import SHARED
from apportion.engine.setting import Setting
from apportion.engine.wide import Whole, zeros
from apportion.errors import Problem
from apportion.model.meters import GPU
from apportion.model.times import Interval
from apportion.policy.pools import Pool

Curves = dict[
    int, dict[int, dict[tuple[int, int], list[int]]]
]  # curve -> cell -> bearer, rate -> units, allocated, held


class Crowd(NamedTuple):
    """A board in a cell: how much there is of it, and [units, allocated, held] that were asked for in all."""

    there: int
    asked: Sequence[int]

    @property
    def counts(self) -> tuple[Fraction, ...]:
        """Which part of each counts. What is held without use counts as far as what is used leaves room."""
        units, allocated, held = self.asked
        left = self.there - min(self.there, units)
        return part(self.there, units), part(self.there, allocated), part(left, held)

    @property
    def fullness(self) -> Fraction:
        return Fraction(self.asked[UNITS] + self.asked[HELD], self.there)


def part(there: int, asked: int) -> Fraction:
    return Fraction(there, asked) if asked > there else Fraction(1)


@dataclass(frozen=True, slots=True)
class Boards:
    """The boards of a pool of which more was asked than there is: resource -> cell -> crowd. Their GPUs are counted on curves of their own, the first
    of which is `first`, and then on that of the resource or of the whole pool.
    """

    crowds: Mapping[int, Mapping[int, Crowd]] = field(default_factory=dict)
    first: int = 0
    by_resource: bool = False

    def __bool__(self) -> bool:
        return bool(self.crowds)

    @property
    def fine(self) -> int:
        """Units that are counted for one whole one: parts of parts need more digits."""
        return FINE if self else 1

    def home(self, board: int) -> int:
        """The curve on which a board counts in the end."""
        return board + 1 if self.by_resource else WHOLE_POOL

    def apart(self, claimed: Claim) -> Claim:
        """The GPUs of these boards on curves of their own."""
        if not self:
            return claimed
        rows = claimed.rows
        here = (rows.meter == METER_NUMBER[SHARED]) & rows.resource.isin(sorted(self.crowds))
        return replace(claimed, rows=rows.mutate(curve=ibis.ifelse(here, rows.resource + self.first, rows.curve)))

    def count(self, curves: Curves, bearers: Bearers, *, whole: bool = True) -> Curves:
        """What counts of what was asked for, in fine units. `whole`: it is all that was asked, so that a board that is full is full to the last digit."""
        out: Curves = {}
        for curve, cells in curves.items():
            board = curve - self.first
            crowds = self.crowds[board] if board >= 0 else {}
            into = out.setdefault(self.home(board) if board >= 0 else curve, {})
            for cell, loads in cells.items():
                here = into.setdefault(cell, {})
                for load, amounts in counted(loads, crowds.get(cell), bearers, whole=whole).items():
                    here[load] = plus(here[load], amounts) if load in here else amounts
        return out

    def beside(self, curves: Sequence[int]) -> list[int]:
        """The boards that count on these curves."""
        return [board for board in sorted(self.crowds) if self.home(board) in curves]

    def price(self, prices: Whole, curves: Sequence[int], of: int) -> Whole:
        """Beside the price of a unit on each curve, what one that was asked of these boards costs: as much as the part of it that counts."""
        boards = self.beside(curves)
        own = prices[[list(curves).index(self.home(board)) for board in boards]]
        for row, board in enumerate(boards):
            for cell, crowd in self.crowds[board].items():
                counts = crowd.counts[of]
                own[row, cell] = own[row, cell] * counts.numerator // counts.denominator
        return np.concatenate([prices, own])


NO_BOARDS = Boards()


def counted(
    loads: Mapping[tuple[int, int], list[int]], crowd: Crowd | None, bearers: Bearers, *, whole: bool
) -> dict[tuple[int, int], list[int]]:
    """In fine units. The first takes the little that flooring left."""
    if crowd is None:
        return {load: [amount * FINE for amount in amounts] for load, amounts in loads.items()}
    counts = crowd.counts
    out = {
        load: [amount * FINE * each.numerator // each.denominator for amount, each in zip(amounts, counts, strict=True)]
        for load, amounts in loads.items()
    }
    order = sorted(out, key=lambda load: (bearers.rank(load[0]), load[1]))
    for n, (asked, each) in enumerate(zip(crowd.asked, counts, strict=True)):
        if whole and each < 1:
            first = next(load for load in order if loads[load][n])
            out[first][n] += int(asked * FINE * each) - sum(amounts[n] for amounts in out.values())
    return out


def find_boards(name: str, reach: Reach, setting: Setting) -> Boards:
    """Of the boards that the pool counts and that some of its rows hold a part of, those of which more was asked in a cell than there is."""
    pool = setting.policy.pools[name]
    shared = setting.resources.shared
    named = [n for n in reach.resources if setting.encoded.resources[n] in shared] if shared else []
    if not named or SHARED not in pool.meter or pool.method == "time" or not reach.persons:
        return NO_BOARDS
    rows = [rows_on(named, claim(name, reach, season, setting), pool, setting) for season in setting.workforce.seasons]
    parted = sorted({board for each in rows for board in boards_parted(each)})
    offered = offered_on(parted, pool, setting)
    boards = sorted(offered)
    if not boards:
        return NO_BOARDS
    curves = [WHOLE_POOL, *(board + 1 for board in boards)]
    asked = [measure_curves(each.filter(each.curve.isin(curves)), curves, setting.calendar)[0] for each in rows]
    there = integrate_grid({board + 1: offered[board] for board in boards}, curves, setting.calendar)
    crowds = crowds_of(dict(zip(boards, range(1, len(curves)), strict=True)), asked, there)
    return Boards(crowds, len(setting.encoded.resources) + 1, pool.scope == "resource")


def rows_on(boards: Sequence[int], claimed: Claim, pool: Pool, setting: Setting) -> Any:
    """The GPUs that a claim has of some resources, each on its resource's curve: their amounts, and whether they are a part of a board."""
    lent = setting.backend.lend(pa.table({"resource": pa.array(boards, pa.int32())}))
    rows = clip(claimed.rows, claimed.season)
    rows = rows.filter(rows.meter == METER_NUMBER[SHARED]).semi_join(lent, "resource")
    sums = measures(rows, pool.driver, scale_of(pool))
    return setting.backend.keep(
        rows.select("start_s", "end_s", curve=rows.resource + 1, part=rows.allocated % GPU != 0, **sums)
    )


def boards_parted(rows: Any) -> Iterable[int]:
    return (curve - 1 for curve in rows.filter(rows.part).select("curve").distinct().to_pyarrow()["curve"].to_pylist())


def offered_on(boards: Sequence[int], pool: Pool, setting: Setting) -> dict[int, list[tuple[Interval, int]]]:
    """What is stated of the boards' GPUs, whatever their state."""
    numbers = {setting.encoded.resources[board]: board for board in boards}
    scale = scale_of(pool)
    out: dict[int, list[tuple[Interval, int]]] = {}
    for row in setting.capacity if numbers else ():
        if row["meter"] == SHARED and row["resource"] in numbers:
            amount = row["amount"] * scale.factors[SHARED] * scale.capacity
            out.setdefault(numbers[row["resource"]], []).append((Interval(row["start_s"], row["end_s"]), amount))
    return out


def crowds_of(
    row_of: Mapping[int, int], seasons: Sequence[Mapping[str, Whole]], there: Whole
) -> dict[int, dict[int, Crowd]]:
    none = zeros(*there.shape)
    units = sum((asked["units"] for asked in seasons), none)
    allocated = sum((asked.get("allocated", asked["units"]) for asked in seasons), none)
    held = sum((asked.get("held", none) for asked in seasons), none)
    over = ((units + held > there) & (there > 0)).astype(bool)
    out: dict[int, dict[int, Crowd]] = {}
    for board, row in row_of.items():
        cells = np.flatnonzero(over[row]).tolist()
        if cells:
            found = {cell: [int(amounts[row, cell]) for amounts in (units, allocated, held)] for cell in cells}
            out[board] = {cell: Crowd(int(there[row, cell]), asked) for cell, asked in found.items()}
    return out


def problems_of(name: str, boards: Boards, setting: Setting) -> list[Problem]:
    if not boards:
        return []
    fullness = {board: max(crowd.fullness for crowd in cells.values()) for board, cells in boards.crowds.items()}
    fullest = min(fullness, key=lambda board: (-fullness[board], board))
    calendar = setting.calendar
    first = calendar.days[calendar.day_of[min(min(cells) for cells in boards.crowds.values())]]
    many = "1 shared board" if len(fullness) == 1 else f"{len(fullness)} shared boards"
    return [
        Problem(
            f"pool {name}",
            "overcommitted-board",
            f"more was asked of {many} than there is, of {setting.encoded.resources[fullest]} up to {round(100 * fullness[fullest])} %, "
            f"first on {first}; each part counts less there, in proportion",
        )
    ]
