"""Drift: whose and what kind of work the month was, against the month before. One finding for each way to look at it, told where a share moved."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from apportion.reports.held import places
from apportion.reports.report import Cell, Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.finding import NO_FACET, Pattern, part, said_number, said_percent, together
from apportion.reports.sums import total
from apportion.reports.words import shown

DIMENSIONS = {
    "team": "team",
    "gpu_model": "GPU model",
    "phase": "phase",
    "framework": "framework",
    "outcome": "outcome",
}
HOURS, MONEY = range(2)  # the places of shares
SAID = ("GPU-hours", "money")
COLUMNS = (
    Column("held", "held h", "quantity"),
    Column("held_before", "before h", "quantity"),
    Column("share", "share of hours", "share"),
    Column("share_before", "before", "share"),
    Column("amount", "amount", "money"),
    Column("amount_before", "before", "money"),
    Column("money_share", "share of money", "share"),
    Column("money_share_before", "before", "share"),
)


@dataclass(frozen=True, slots=True)
class Worked:
    """Accelerator-hours and money of workloads that look alike, by the names of DIMENSIONS."""

    currency: str
    kinds: Mapping[str, str]
    held: Fraction
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Side:
    """One month by one dimension."""

    held: Mapping[str, Fraction]
    money: Mapping[str, Decimal]

    def shares(self, name: str) -> tuple[Fraction, Fraction]:
        """Of all hours, and of all money."""
        return (
            part(self.held.get(name, Fraction(0)), sum(self.held.values(), Fraction(0))),
            part(self.money.get(name, Decimal(0)), total(self.money.values())),
        )


def drift(
    now: Sequence[Worked], before: Sequence[Worked], months: tuple[str, str], bounds: Bounds
) -> Iterator[Pattern]:
    """`months`: this one and the one before."""
    for currency in sorted({one.currency for one in now} & {one.currency for one in before}):
        for dimension in DIMENSIONS:
            sides = [side([one for one in some if one.currency == currency], dimension) for some in (now, before)]
            if all(total(one.money.values()) > 0 for one in sides):
                yield from moved(dimension, currency, (sides[0], sides[1]), months, Fraction(bounds.drift, 100))


def side(some: Sequence[Worked], dimension: str) -> Side:
    held: dict[str, Fraction] = defaultdict(Fraction)
    money: dict[str, list[Decimal]] = defaultdict(list)
    for one in some:
        name = one.kinds.get(dimension) or NO_FACET
        held[name] += one.held
        money[name].append(one.amount)
    return Side(held, {name: total(amounts) for name, amounts in money.items()})


def moved(
    dimension: str, currency: str, sides: tuple[Side, Side], months: tuple[str, str], bound: Fraction
) -> Iterator[Pattern]:
    """Told by hours where those moved, else by money."""
    now, before = sides
    names = sorted({*now.money, *before.money}, key=lambda name: (-now.money.get(name, Decimal(0)), name))
    for of in (HOURS, MONEY) if all(any(one.held.values()) for one in sides) else (MONEY,):
        far = [name for name in names if distance(sides, name, of) >= bound]
        if not far:
            continue
        far.sort(key=lambda name: (-distance(sides, name, of), name))
        said = [one_move(name, sides, of, months[1]) for name in far]
        told = f"By {DIMENSIONS[dimension]}, of the {SAID[of]} {together(said)}; {volume(now, before, currency)}."
        yield Pattern(
            "drift", (dimension,), told, (Column(dimension, DIMENSIONS[dimension]), *COLUMNS),
            tuple(cells(name, now, before) for name in names), "moves",
            tuple(tuple(100 * one.shares(name)[of] for one in (before, now)) for name in names),
            months[::-1], f"% of {SAID[of]}", currency,
        )  # fmt: skip
        return


def distance(sides: tuple[Side, Side], name: str, of: int) -> Fraction:
    now, before = (one.shares(name)[of] for one in sides)
    return abs(now - before)


def one_move(name: str, sides: tuple[Side, Side], of: int, month: str) -> str:
    """`vision has 55.0 % (40.1 % in 2026-09)`."""
    now, before = (said_percent(one.shares(name)[of]) for one in sides)
    return f"{name} has {now} ({before} in {month})"


def volume(now: Side, before: Side, currency: str) -> str:
    hours = [said_number(sum(one.held.values(), Fraction(0))) for one in (before, now)]
    money = [shown(total(one.money.values()), currency) for one in (before, now)]
    held = f"{hours[0]} GPU-hours became {hours[1]}, and " if any(now.held.values()) else ""
    return f"in all, {held}{money[0]} became {money[1]}"


def cells(name: str, now: Side, before: Side) -> tuple[Cell, ...]:
    (hours, money), (hours_before, money_before) = now.shares(name), before.shares(name)
    held = [places(one.held.get(name, Fraction(0))) for one in (now, before)]
    paid = [one.money.get(name, Decimal(0)) for one in (now, before)]
    shares = [places(one) for one in (hours, hours_before, money, money_before)]
    return (name, *held, *shares[:2], *paid, *shares[2:])
