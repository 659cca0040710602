"""Leases, maintenance, staff, software and other payments: a price for a term, a month, a quarter or a year, by the day."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from apportion.sources.tco.days import ONE_DAY, Span, terms
from apportion.sources.tco.items import TIMES, amount_text, counted
from apportion.sources.tco.streams import Event, Spread

ZERO = Fraction(0)
WORDS = {"node": "node", "gpu": "GPU", "socket": "socket"}


@dataclass(frozen=True, slots=True)
class Contract:
    """`how` is the price in words where it is itself computed; `end` is the day after its last, None where it goes on."""

    price: Fraction
    every: str  # once, month, quarter or year
    start: date
    end: date | None = None
    up_front: Fraction = ZERO
    deposit: Fraction = ZERO
    how: str = ""

    @property
    def words(self) -> str:
        return self.how or amount_text(self.price)

    def until(self, horizon: date) -> date:
        return min(self.end or horizon, horizon)


def owed(contract: Contract, horizon: date) -> tuple[tuple[Spread, ...], tuple[Event, ...]]:
    """By day and as paid, as far as terms begin before the horizon; what falls before it does not depend on it."""
    spreads, events = [], []
    for term in terms_of(contract, horizon):
        part = term.clip(Span(contract.start, contract.end or term.end))
        daily = contract.price / term.days
        why = f"{contract.words} over {counted(term.days, 'day')} from {term.start}"
        spreads.append(Spread(part, daily, why))
        events.append(
            Event(
                part.start,
                ZERO,
                daily * part.days,
                "" if contract.every == "month" else paid(daily * part.days, part.start),
            )
        )
    if contract.end:
        whole = Span(contract.start, contract.end)
        if contract.up_front:
            why = f"{amount_text(contract.up_front)} up front over {counted(whole.days, 'day')} from {whole.start}"
            spreads.append(Spread(whole, contract.up_front / whole.days, why))
    events += moved(contract)
    return tuple(spreads), tuple(events)


def paid(amount: Fraction, day: date) -> str:
    return f"{amount_text(amount)} paid on {day}"


def moved(contract: Contract) -> Iterator[Event]:
    """What is paid at the start, and what comes back on the last day."""
    if contract.up_front:
        yield Event(contract.start, ZERO, contract.up_front, paid(contract.up_front, contract.start))
    if contract.deposit:
        yield Event(contract.start, ZERO, contract.deposit, f"deposit {paid(contract.deposit, contract.start)}")
        if contract.end:
            last = contract.end - ONE_DAY
            yield Event(last, ZERO, -contract.deposit, f"deposit {amount_text(contract.deposit)} back on {last}")


def terms_of(contract: Contract, horizon: date) -> Iterator[Span]:
    if contract.every == "once":
        yield Span(contract.start, contract.end or horizon)
    else:
        yield from terms(contract.start, contract.until(horizon), contract.every)


def per_unit(contract: Contract, per: str, counts: Iterable[tuple[Span, int]], horizon: date) -> tuple[Spread, ...]:
    """A price for each unit and term, by the units in service on each day."""
    found = []
    held = list(counts)
    for term in terms_of(contract, horizon):
        part = term.clip(Span(contract.start, contract.until(horizon)))
        for span, many in held:
            days = span.clip(part)
            if days.days:
                why = (
                    f"{amount_text(contract.price)} per {WORDS[per]} and {contract.every} {TIMES} "
                    f"{counted(many, WORDS[per])} over {counted(term.days, 'day')} from {term.start}"
                )
                found.append(Spread(days, contract.price * many / term.days, why, Fraction(many)))
    return tuple(found)
