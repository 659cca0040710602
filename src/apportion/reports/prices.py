"""What an hour will cost in the coming days, told before anybody runs it. What is listed or follows from a rule stands apart from what is expected."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import groupby

from apportion.model.money import for_reading
from apportion.reports.estimate import Curve
from apportion.reports.report import Cell, Column, Report, Section
from apportion.reports.words import counted, price_digits

ALIKE = 10_000  # less than one in so many is no difference
HOURS, BAND, SATURDAY = 24, 6, 5  # of a day; of a stretch of the day whose hours are told as one; of the week
LISTED, BY_RULE, EXPECTED = "listed", "by rule", "expected"
COLUMNS = (
    Column("pool", "pool"),
    Column("with", "with", quiet=True),
    Column("per", "per"),
    Column("days", "days"),
    Column("hours", "hours"),
    Column("price", "price", "price"),
    Column("least", "least", "price", quiet=True),
    Column("most", "most", "price", quiet=True),
    Column("kind", "what it is"),
)
ALL_DAY = "all day"


@dataclass(frozen=True, slots=True)
class Quote:
    """Of one hour. `least` and `most` where it is expected, and such hours differed."""

    price: Fraction
    least: Fraction | None = None
    most: Fraction | None = None

    def times(self, factor: Fraction) -> "Quote":
        least, most = (None if one is None else one * factor for one in (self.least, self.most))
        return Quote(self.price * factor, least, most)


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a unit of a pool costs in each hour of some days, for work with some labels. `rests_on` says why."""

    pool: str
    labels: str
    per: str
    kind: str
    rests_on: str
    days: tuple[tuple[date, tuple[Quote, ...]], ...]


@dataclass(frozen=True, slots=True)
class Band:
    """Hours that cost alike, on days that do."""

    days: str
    hours: str
    quote: Quote


def by_weight(curve: Curve, then: Callable[..., Fraction]) -> Fraction | None:
    """What an hour of the weight 1 came to, on average over the hours that had a weight."""
    found = [cell.hourly / weight for cell in curve.cells if (weight := then(cell.start))]
    return sum(found, Fraction(0)) / len(found) if found else None


def such_hours(curve: Curve) -> Callable[[date, int], Quote]:
    """As the quarter of such a day came to: weekdays and weekends apart. Single hours of a month are too few to promise anything by."""
    parts: dict[tuple[bool, int], list[Fraction]] = defaultdict(list)
    for cell in curve.cells:
        parts[cell.start.weekday() >= SATURDAY, cell.start.hour // BAND].append(cell.hourly)
    every = quote_of([curve.mean, *(price for some in parts.values() for price in some)])
    if every.least is None:
        return lambda _day, _hour: Quote(curve.mean)
    quotes = {key: quote_of(some) for key, some in parts.items()}
    return lambda day, hour: quotes.get((day.weekday() >= SATURDAY, hour // BAND), replace(every, price=curve.mean))


def quote_of(prices: Sequence[Fraction]) -> Quote:
    mean, least, most = sum(prices, Fraction(0)) / len(prices), min(prices), max(prices)
    return Quote(mean) if (most - least) * ALIKE <= mean else Quote(mean, least, most)


def bands(ahead: Ahead) -> list[Band]:
    """Days with the same hours together, each in its stretches of equal price."""
    alike: dict[tuple[Quote, ...], list[date]] = defaultdict(list)
    for day, quotes in ahead.days:
        alike[quotes].append(day)
    found = []
    for quotes, days in alike.items():
        hour = 0
        for quote, some in groupby(quotes):
            until = hour + len(list(some))
            found.append(Band(days_called(days, len(ahead.days)), hours_called(hour, until), quote))
            hour = until
    return found


def days_called(days: Sequence[date], of: int) -> str:
    """`every day`, or stretches of days: `2026-11-16..2026-11-20, 2026-11-23`."""
    if len(days) == of:
        return "every day"
    stretches = [
        [day for _, day in some] for _, some in groupby(enumerate(days), lambda pair: pair[1] - timedelta(pair[0]))
    ]
    return ", ".join(str(some[0]) if len(some) == 1 else f"{some[0]}..{some[-1]}" for some in stretches)


def hours_called(start: int, until: int) -> str:
    return ALL_DAY if until - start == HOURS else f"{start:02d}:00-{until:02d}:00"


def prices_report(found: Iterable[Ahead], currency: str, period: str, head: str, notes: Sequence[str] = ()) -> Report:
    curves = list(found)
    rows: list[dict[str, Cell]] = [cells(ahead, band) for ahead in curves for band in bands(ahead)]
    lines = tuple(tuple(row.get(column.name) for column in COLUMNS) for row in rows)
    pools = {ahead.pool for ahead in curves}
    why = dict.fromkeys(f"{ahead.pool}: {ahead.rests_on}." for ahead in curves)
    sections = (Section(currency, Decimal(0), lines, ()),) if lines else ()
    title = f"What {counted(len(pools), 'pool')} will cost, {period}."
    said = (
        f"{title} {cheapest(curves, currency)}".strip()
        if lines
        else f"No pool has a price per unit that could be told for {period}."
    )
    return Report("prices", said, period, COLUMNS, sections, head, notes=(*why, *notes))


def cheapest(curves: Sequence[Ahead], currency: str) -> str:
    """`h100 is cheapest 00:00-06:00 on every day: 1.02 USD a GPU-hour, against 2.04.` of the pool whose hours differ most."""
    spread = []
    for ahead in curves:
        found = sorted(bands(ahead), key=lambda band: band.quote.price)
        if not ahead.labels and found[0].quote.price < found[-1].quote.price:
            spread.append((found[0].quote.price / found[-1].quote.price, ahead, found[0], found[-1]))
    if not spread:
        return ""
    _, ahead, least, most = min(spread, key=lambda one: (one[0], one[1].pool))
    low, high = (price_digits(for_reading(one.quote.price), currency) for one in (least, most))
    return f"{ahead.pool} is cheapest {least.hours} on {least.days}: {low} {currency} a {ahead.per}, against {high}."


def cells(ahead: Ahead, band: Band) -> dict[str, Cell]:
    quote = band.quote
    return {
        "pool": ahead.pool,
        "with": ahead.labels,
        "per": ahead.per,
        "days": band.days,
        "hours": band.hours,
        "price": for_reading(quote.price),
        "least": None if quote.least is None else for_reading(quote.least),
        "most": None if quote.most is None else for_reading(quote.most),
        "kind": ahead.kind,
    }
