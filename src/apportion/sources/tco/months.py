"""What of a stream falls into a month, node by node, with the sentence that explains it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.model.money import from_nanos
from apportion.model.times import Period, day_start
from apportion.sources.tco.days import ONE_DAY, Span, month_span
from apportion.sources.tco.fleet import Fleet, cuts
from apportion.sources.tco.items import Item, counted, number_text
from apportion.sources.tco.streams import Event, Running, Stream

ZERO = Fraction(0)
USAGE, PURCHASE, ADJUSTMENT = "Usage", "Purchase", "Adjustment"


@dataclass(slots=True)
class Part:
    """One line in the making."""

    resource: str
    category: str = USAGE
    cost: Fraction = ZERO
    cash: Fraction = ZERO
    quantity: Fraction = ZERO
    first: date = date.max
    end: date = date.min
    whys: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def cover(self, span: Span) -> None:
        self.first, self.end = min(self.first, span.start), max(self.end, span.end)


def items(stream: Stream, fleet: Fleet, period: Period, zone: ZoneInfo) -> Iterator[Item]:
    """Each line is the difference of two running totals, so lines add up to months and months to the whole."""
    month = month_span(period)
    if not stream.touches(month):
        return
    cost = Running(stream.cost_before(month.start))
    cash = Running(stream.cash_before(month.start))
    for part in parts(stream, fleet, month, period):
        amount = from_nanos(cost.add(part.cost))
        billed = amount if stream.as_used else from_nanos(cash.add(part.cash))
        if amount or billed or part.category == USAGE:
            yield Item(
                stream.service, stream.component, part.resource, stream.name,
                day_start(part.first, zone), day_start(part.end, zone), amount, billed,
                f"{sentence(stream, part)} = {amount:.9f}", part.quantity, stream.unit, stream.currency,
                stream.tags, part.category, stream.id, stream.kind,
            )  # fmt: skip


def parts(stream: Stream, fleet: Fleet, month: Span, period: Period) -> Iterable[Part]:
    """The nodes in their order, then what is sold or replaced, day by day."""
    used: dict[str, Part] = {}
    for span, bearers in cuts(stream, fleet, month):
        whole = sum(bearers.values(), ZERO)
        for spread in stream.spreads:
            days = spread.span.clip(span)
            for node, weight in bearers.items() if days.days else ():
                part = used.setdefault(node, Part(node))
                share = f", {number_text(weight)} of {counted(whole, 'share')}" if len(bearers) > 1 else ""
                part.cover(days)
                part.cost += spread.daily * days.days * weight / whole
                part.quantity += days.days * spread.units
                part.whys.setdefault(spread.why, []).append(f"{counted(days.days, 'day')} of {period}{share}")
    adjusted: list[Part] = []
    for event in sorted(stream.events, key=lambda one: one.day):
        if month.start <= event.day < month.end:
            adjusted += at_once(stream, fleet, event, used)
    return [*(used[node] for node in sorted(used)), *adjusted]


def at_once(stream: Stream, fleet: Fleet, event: Event, used: dict[str, Part]) -> Iterator[Part]:
    """What is paid goes with the month's line of the same node, or on one of its own; a gain or loss always does."""
    before = event.day - ONE_DAY if event.adjusts else event.day  # on its day it is gone
    bearers = fleet.bearers(stream.shared_on(before), before)
    whole = sum(bearers.values(), ZERO)
    for node, weight in sorted(bearers.items()):
        if event.adjusts:
            part = Part(node, ADJUSTMENT)
            yield part
        else:
            part = used.setdefault(node, Part(node, PURCHASE))
        if part.category != USAGE:
            part.cover(Span(event.day, event.day + ONE_DAY))
        share = f", {number_text(weight)} of {counted(whole, 'share')}" if len(bearers) > 1 else ""
        part.cost += event.cost * weight / whole
        part.cash += event.cash * weight / whole
        part.notes += [event.why + share] if event.why else []


def sentence(stream: Stream, part: Part) -> str:
    notes = "; ".join(part.notes)
    if part.category != USAGE:
        return f"{stream.name}, {notes}"
    whys = " + ".join(f"{why}; {' and '.join(days)}" for why, days in part.whys.items())
    return f"{stream.what}{f' ({notes})' if notes else ''}: {whys}"
