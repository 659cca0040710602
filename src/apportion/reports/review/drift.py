"""Drift: whose and what kind of work the month was, against the month before. One finding for each way to look at it, told where a share moved."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from apportion.reports.held import places
from apportion.reports.report import Cell, Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.finding import NO_FACET, Finding, part, said_number, said_percent, together
from apportion.reports.sums import total
from apportion.reports.words import shown

DIMENSIONS = {
    "team": "team",
    "gpu_model": "GPU model",
    "phase": "phase",
    "framework": "framework",
    "outcome": "outcome",
}
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
) -> Iterator[Finding]:
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
) -> Iterator[Finding]:
    now, before = sides
    names = sorted({*now.money, *before.money}, key=lambda name: (-now.money.get(name, Decimal(0)), name))
    far = [name for name in names if distance(now, before, name) >= bound]
    if not far:
        return
    far.sort(key=lambda name: (-distance(now, before, name), name))
    yield Finding(
        "drift",
        (dimension,),
        sentence(dimension, far, sides, (months[1], currency)),
        (Column(dimension, DIMENSIONS[dimension]), *COLUMNS),
        tuple(cells(name, now, before) for name in names),
        "moves",
        tuple((leading(before, name), leading(now, name)) for name in names),
        months[::-1],
        "% of GPU-hours" if any(now.held.values()) else f"% of {currency}",
        currency,
    )


def distance(now: Side, before: Side, name: str) -> Fraction:
    """The larger of both moves, of hours and of money; hours count where both months have some."""
    pairs = list(zip(now.shares(name), before.shares(name), strict=True))
    known = pairs if any(now.held.values()) and any(before.held.values()) else pairs[1:]
    return max(abs(here - there) for here, there in known)


def leading(one: Side, name: str) -> Fraction:
    """What is drawn, in percent."""
    hours, money = one.shares(name)
    return 100 * (hours if any(one.held.values()) else money)


def sentence(dimension: str, far: Sequence[str], sides: tuple[Side, Side], said: tuple[str, str]) -> str:
    """`By team, of the GPU-hours vision has 55.0 % (40.1 % in 2026-09) and speech 20.0 % (31.0 %); ...`."""
    month, currency = said
    by_hours = any(
        abs(sides[0].shares(name)[0] - sides[1].shares(name)[0]) == distance(*sides, name) for name in far[:1]
    )
    of, place = ("GPU-hours", 0) if by_hours else ("money", 1)
    moves = [tuple(said_percent(one.shares(name)[place]) for one in sides) for name in far]
    told = [f"{name} has {here} ({there} in {month})" for name, (here, there) in zip(far, moves, strict=True)]
    return f"By {DIMENSIONS[dimension]}, of the {of} {together(told)}; {volume(*sides, currency)}."


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
