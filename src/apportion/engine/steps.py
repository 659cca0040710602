"""Price: a pool's price curves as arrays, one row for each curve and slot with money. The same rules as `price`, for many curves at once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import overload

import numpy as np

from apportion.engine.dues import Dues
from apportion.engine.grids import stepped
from apportion.engine.price import SlotPrice
from apportion.engine.wide import Whole, running, starts_of, zeros
from apportion.model.money import GRAIN
from apportion.policy.pool_parts import Cause

CANCELLED = 10**24
ORDER: tuple[Cause, ...] = ("held", "down", "reserved", "unsold")  # each takes at most what the earlier ones left


@dataclass(frozen=True, slots=True)
class Tally:
    """Unit-seconds by curve and cell: what was asked for, what of it was held without use, what was offered, what of that was down.

    `row` is the largest amount of any of the `rows`.
    """

    units: Whole
    row: int
    rows: int
    held: Whole | None = None
    offered: Whole | None = None
    down: Whole | None = None

    def largest(self) -> int:
        """No sum of units is more than this."""
        return int(self.units[0].sum()) + (int(self.held[0].sum()) if self.held is not None else 0)


@dataclass(frozen=True)
class Steps(Sequence[SlotPrice]):
    """`first_row[n]` is where step n begins in the dues. Idle units of a cause are `idle[cause] / below`."""

    dues: Dues
    first_row: np.ndarray
    units: Whole
    demand: Whole
    held: Whole
    idle: Mapping[Cause, Whole]
    below: Whole

    @cached_property
    def of_row(self) -> np.ndarray:
        """The step of each row of the dues."""
        marks = np.zeros(len(self.dues.curve), dtype=np.int64)
        marks[self.first_row[1:]] = 1
        return np.cumsum(marks)

    @cached_property
    def groups(self) -> np.ndarray:
        """Rows of the same step and column stand together: where each such group begins."""
        return starts_of(self.of_row, self.dues.column)

    def __len__(self) -> int:
        return len(self.first_row)

    @overload
    def __getitem__(self, place: int) -> SlotPrice: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[SlotPrice]: ...
    def __getitem__(self, place: int | slice) -> SlotPrice | Sequence[SlotPrice]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        row = self.first_row[place]
        idle = {cause: Fraction(self.idle[cause][place], self.below[place]) for cause in ORDER}
        return SlotPrice(
            self.dues.curves[self.dues.curve[row]],
            (int(self.dues.first[row]), int(self.dues.last[row])),
            self.units[place],
            self.demand[place],
            idle if self.units[place] > self.demand[place] else {},
        )

    def __iter__(self) -> Iterator[SlotPrice]:
        return (self[n] for n in range(len(self)))


def form_prices(dues: Dues, tally: Tally, promised: Mapping[tuple[int, int], Fraction]) -> Steps:
    """Units and idle of every step. `promised` says of each slot which part of what is neither held nor down was reserved."""
    first_row = starts_of(dues.curve, dues.first, dues.last)
    where = (dues.curve[first_row], dues.first[first_row], dues.last[first_row])
    demand, held = over(tally.units, where), over(tally.held, where)
    if tally.offered is None:
        none = zeros(len(first_row))
        return Steps(dues, first_row, demand, demand, held, dict.fromkeys(ORDER, none), none + 1)
    units = np.maximum(over(tally.offered, where), demand)
    spare = units - demand
    idle_held = np.minimum(spare, held)
    idle_down = np.minimum(spare - idle_held, over(tally.down, where))
    rest = spare - idle_held - idle_down
    above, below = zeros(len(first_row)), zeros(len(first_row)) + 1
    if promised:
        parts = [promised[slot] for slot in zip(where[1].tolist(), where[2].tolist(), strict=True)]
        above[:], below[:] = [part.numerator for part in parts], [part.denominator for part in parts]
    idle: dict[Cause, Whole] = {
        "held": idle_held * below,
        "down": idle_down * below,
        "reserved": rest * above,
        "unsold": rest * (below - above),
    }
    return Steps(dues, first_row, units, demand, held, idle, below)


def over(amounts: Whole | None, where: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Whole:
    """Sums over the cells of each step."""
    curve, first, last = where
    if amounts is None:
        return zeros(len(curve))
    out: Whole
    if len(curve) and (last - first).max() == 1:
        out = amounts[curve, first]
    else:
        sums = running(amounts)
        out = sums[curve, last] - sums[curve, first]
    return out


def sum_groups(numbers: Whole, first: np.ndarray) -> Whole:
    return np.add.reduceat(numbers, first) if len(first) else zeros(0)


def idle_money(steps: Steps) -> Whole:
    """Of each row of the dues. Idle money lies on the days of the money itself; a group's last day takes the grains that flooring left."""
    dues, of_row = steps.dues, steps.of_row
    units = np.maximum(steps.units, 1)
    spare = np.where(steps.units == 0, 1, steps.units - steps.demand)  # money without units is idle as a whole
    out: Whole = dues.grains * spare[of_row] // units[of_row]
    first = steps.groups
    whole, step = sum_groups(dues.grains, first), of_row[first]
    used = whole * steps.demand[step] // units[step]
    last = np.append(first[1:], len(out))[: len(first)] - 1
    out[last] += whole - used - sum_groups(out, first)
    return out


def split_idle(steps: Steps, money: Whole) -> dict[Cause, Whole]:
    """Idle money of each row by cause, by idle units; the first cause takes the grains that flooring left."""
    weights = {cause: steps.idle[cause][steps.of_row] for cause in ORDER if steps.idle[cause].any()}
    if set(weights) <= {"unsold"}:
        return {"unsold": money}
    whole = sum(weights.values(), zeros(len(money)))
    weights["unsold"] = np.where(whole == 0, 1, weights.get("unsold", zeros(len(money))))
    found = {cause: money * weight // np.maximum(whole, 1) for cause, weight in weights.items()}
    left = money - sum(found.values(), zeros(len(money)))
    for cause, weight in weights.items():
        found[cause] = found[cause] + np.where(weight == 0, 0, left)
        left = np.where(weight == 0, left, 0)
    return found


@dataclass(frozen=True, slots=True)
class Due:
    """Money of each step and column: a unit costs `money / units`, and the units that pay it come to `paid`."""

    rows: np.ndarray  # the first row of the dues of each
    money: Whole
    units: Whole
    paid: Whole

    def extremes(self) -> tuple[int, int]:
        """The least money (but none), whatever its sign, and the most units that share any. Money of both signs may leave much less."""
        some = self.money[(self.paid != 0).astype(bool)]
        if not len(some):
            return 1, 1
        both = some.min() < 0 < some.max()
        return int(abs(some).min()) // (CANCELLED if both else 1), int(self.units.max())


def used_due(steps: Steps) -> Due:
    rows = steps.groups
    money, step = sum_groups(steps.dues.grains, rows), steps.of_row[rows]
    units = np.maximum(steps.units[step], 1)
    if steps.units is steps.demand:  # nothing is idle
        return Due(rows, money, units, np.where(steps.units[step] == 0, 0, money))
    return Due(rows, money, units, money * steps.demand[step] // units)


def held_due(steps: Steps, idle: Whole) -> Due:
    """`idle` is the money of each row that was held without use."""
    rows = steps.groups
    money = sum_groups(idle, rows)
    return Due(rows, money, np.maximum(steps.held[steps.of_row[rows]], 1), money)


def heights(due: Due, dues: Dues, scale: int, cells: int) -> Iterator[Whole]:
    """Column by column, the price of every curve and cell, in parts of the currency's unit."""
    for column in range(len(dues.columns)):
        mine = (dues.column[due.rows] == column) & (due.paid != 0).astype(bool)
        yield laid_out(dues, due.rows[mine], floored(due.money[mine], due.units[mine], scale), cells)


def floored(money: Whole, units: Whole, scale: int) -> Whole:
    """Prices in whole parts; of `scale` and the grains in a unit one divides the other."""
    price: Whole = (money * (scale // GRAIN) if scale >= GRAIN else money // (GRAIN // scale)) // units
    return price


def laid_out(dues: Dues, rows: np.ndarray, price: Whole, cells: int) -> Whole:
    """Curves by cells. What a unit of the whole pool costs, a unit of each resource bears too."""
    shape = (len(dues.curves), cells)
    found = stepped(dues.curve[rows], (dues.first[rows], dues.last[rows]), price, shape)
    each: Whole = found[1:] + found[0] if found[0].any() else found[1:]
    return each
