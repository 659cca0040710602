"""Amortisation of one asset: straight line or declining, through upgrades, to its end or its disposal.

    straight line   (value - salvage) / days of the life, each day the same
    declining       in each year from the day it went into service: rate x value at the year's start, by day; never below the salvage.
                    With `switch`, from the year on in which an even share of what is left is more, that share. The last year takes what is left.

An upgrade adds to the value, may lengthen the life, and writes off the part of the value that it replaces. On the day of its disposal an asset
is no longer in service; what its value then exceeds the proceeds by is a loss, what it falls short a gain.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from apportion.sources.tco.days import Span, after_months
from apportion.sources.tco.items import MINUS, amount_text, counted, number_text
from apportion.sources.tco.streams import Event, Spread, cut

PERCENT = 100
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Upgrade:
    on: date
    price: Fraction
    replaced: Fraction  # of what the asset had cost, the part that is thrown away
    proceeds: Fraction = ZERO
    extends: int = 0  # months
    salvage: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Life:
    """What was bought, when, and how it loses its value; amounts are those of all its pieces."""

    price: Fraction
    salvage: Fraction
    bought: date
    in_service: date
    months: int
    rate: Fraction | None = None  # declining by so much a year; None: straight line
    switch: bool = True
    upgrades: tuple[Upgrade, ...] = ()
    disposed: date | None = None
    proceeds: Fraction = ZERO

    def span(self, start: date, months: int) -> Span:
        """From a day to the end of so many months in service."""
        return Span(start, after_months(self.in_service, months))


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of the life without an upgrade in it. `worth` says how its value came about."""

    span: Span
    value: Fraction
    salvage: Fraction
    worth: str


def amortised(life: Life) -> tuple[tuple[Spread, ...], tuple[Event, ...]]:
    """All days on which it loses value, and all days on which money moves."""
    spreads: list[Spread] = []
    events = [Event(life.bought, ZERO, life.price, paid(life.price, life.bought))]
    leg = Leg(life.span(life.in_service, life.months), life.price, life.salvage, amount_text(life.price))
    months, cost = life.months, life.price
    for upgrade in life.upgrades:
        days = tuple(cut(by_day(leg, life), upgrade.on))
        spreads += days
        part = upgrade.replaced / cost if cost else ZERO
        left = leg.value - lost(days)
        events += upgraded(upgrade, left * part)
        months, cost = months + upgrade.extends, cost - upgrade.replaced + upgrade.price
        value = left - left * part + upgrade.price
        salvage = leg.salvage * (1 - part) if upgrade.salvage is None else upgrade.salvage
        leg = Leg(life.span(upgrade.on, months), value, salvage, f"value {amount_text(value)}")
    days = tuple(cut(by_day(leg, life), life.disposed or leg.span.end))
    if life.disposed:
        events.append(disposal(life.disposed, life.proceeds, leg.value - lost(days)))
    return (*spreads, *days), tuple(events)


def lost(spreads: tuple[Spread, ...]) -> Fraction:
    return sum((one.daily * one.span.days for one in spreads), ZERO)


def paid(amount: Fraction, day: date) -> str:
    return f"{amount_text(amount)} paid on {day}"


def upgraded(upgrade: Upgrade, value: Fraction) -> Iterator[Event]:
    """What it cost, and what the value of the replaced part (`value`) is more than what it fetched."""
    yield Event(upgrade.on, ZERO, upgrade.price, f"upgrade, {paid(upgrade.price, upgrade.on)}")
    if value or upgrade.proceeds:
        why = f"part replaced on {upgrade.on}: value {amount_text(value)} {MINUS} proceeds {amount_text(upgrade.proceeds)}"
        yield Event(upgrade.on, value - upgrade.proceeds, -upgrade.proceeds, why, adjusts=True)


def disposal(day: date, proceeds: Fraction, value: Fraction) -> Event:
    why = f"disposed on {day}: value {amount_text(value)} {MINUS} proceeds {amount_text(proceeds)}"
    return Event(day, value - proceeds, -proceeds, why, adjusts=True)


def by_day(leg: Leg, life: Life) -> Iterator[Spread]:
    if life.rate is not None:
        yield from declining(leg, life.rate, switch=life.switch)
    elif leg.span.days:
        why = f"({leg.worth} {MINUS} {amount_text(leg.salvage)}) over {counted(leg.span.days, 'day')} from {leg.span.start}"
        yield Spread(leg.span, (leg.value - leg.salvage) / leg.span.days, why)


def declining(leg: Leg, rate: Fraction, *, switch: bool) -> Iterator[Spread]:
    """Year by year from the leg's first day; a year that the life's end cuts short counts by its days."""
    value, number = leg.value, 0
    while (start := after_months(leg.span.start, 12 * number)) < leg.span.end:
        number += 1
        whole = Span(start, after_months(leg.span.start, 12 * number))
        year = whole.clip(leg.span)
        left, remaining = value - leg.salvage, (leg.span.end - start).days
        amount, even = value * rate * year.days / whole.days, left * year.days / remaining
        how = f"{number_text(rate * PERCENT)} % a year of {amount_text(value)}"
        if year.days == remaining or (switch and even > amount):
            amount, how = even, f"the {amount_text(left)} left over {counted(remaining, 'day')}"
        elif amount > left:
            amount, how = left, f"the {amount_text(left)} left"
        if amount:
            why = f"year {number}, {how}: {amount_text(amount)} over {counted(year.days, 'day')} from {start}"
            yield Spread(year, amount / year.days, why)
        value -= amount
