"""What one asset or contract costs over time, and what of it falls into a month.

A stream is money spread evenly over days, money on one day (a loss when something is sold), and cash. Everything is an exact fraction;
a line is the difference of two running totals, each rounded half-even to 10^-9, so that whatever months are asked for add up to the whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction

from apportion.model.money import NANO
from apportion.sources.tco.days import Span

WHOLE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Spread:
    """So much a day. `why` is the arithmetic behind it, in words; `units` are what a day counts, such as 8 GPUs."""

    span: Span
    daily: Fraction
    why: str
    units: Fraction = WHOLE

    def inside(self, span: Span) -> Fraction:
        return self.daily * self.span.clip(span).days


@dataclass(frozen=True, slots=True)
class Event:
    """Money on one day: what it costs, and what was paid. `adjusts` where it is a gain or loss and no use."""

    day: date
    cost: Fraction
    cash: Fraction
    why: str
    adjusts: bool = False


@dataclass(frozen=True, slots=True)
class Sharing:
    """Who bears a stream from a day on: names or globs of nodes, each with its weight; without any, nobody in particular."""

    since: date
    weights: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Stream:
    id: str
    what: str  # begins the sentence: `Amortisation of dgx-03, straight line`
    service: str
    component: str
    currency: str
    sharing: tuple[Sharing, ...]
    spreads: tuple[Spread, ...]
    events: tuple[Event, ...] = ()
    name: str = ""
    kind: str = ""
    unit: str = "Days"
    tags: Mapping[str, str] = field(default_factory=dict)
    as_used: bool = False  # paid as it is used up: what is billed is what it costs

    def cost_before(self, day: date) -> Fraction:
        past = Span(date.min, day)
        spread = sum((one.inside(past) for one in self.spreads), Fraction(0))
        return spread + sum((event.cost for event in self.events if event.day < day), Fraction(0))

    def cash_before(self, day: date) -> Fraction:
        return sum((event.cash for event in self.events if event.day < day), Fraction(0))

    def touches(self, span: Span) -> bool:
        return any(one.span.clip(span).days for one in self.spreads) or any(
            span.start <= event.day < span.end for event in self.events
        )

    def shared_on(self, day: date) -> Sharing:
        """The last that has begun; before the first, the first."""
        return max(
            (one for one in self.sharing if one.since <= day), key=lambda one: one.since, default=self.sharing[0]
        )


def cut(spreads: Iterable[Spread], stop: date) -> Iterator[Spread]:
    """Up to a day."""
    for one in spreads:
        if one.span.start < stop:
            yield Spread(Span(one.span.start, min(one.span.end, stop)), one.daily, one.why, one.units)


@dataclass(slots=True)
class Running:
    """A running total that hands out whole nanos."""

    exact: Fraction

    def add(self, amount: Fraction) -> int:
        before = round(self.exact * NANO)
        self.exact += amount
        return round(self.exact * NANO) - before


def day_after(day: date) -> date:
    return day + timedelta(days=1)
