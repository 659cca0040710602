"""Calendar arithmetic in whole days: the months after a day, and the spans over which a price is paid."""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from apportion.model.times import Period

ONE_DAY = timedelta(days=1)
EVERY = {"month": 1, "quarter": 3, "year": 12}


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """`[start, end)` in days."""

    start: date
    end: date

    @property
    def days(self) -> int:
        return max(0, (self.end - self.start).days)

    def clip(self, other: "Span") -> "Span":
        start = max(self.start, other.start)
        return Span(start, max(start, min(self.end, other.end)))


def after_months(day: date, months: int) -> date:
    """The same day of a later month, or that month's last where it is shorter."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def period_of(day: date) -> Period:
    return Period(day.year, day.month)


def month_span(period: Period) -> Span:
    return Span(period.first_day, period.next.first_day)


def terms(first: date, end: date, every: str) -> Iterator[Span]:
    """The spans that a price is for, from the one that holds `first` to the last that begins before `end`.

    Months are those of the calendar, so that the first and the last are in part; quarters and years count from the first day.
    """
    start = first.replace(day=1) if every == "month" else first
    number = 0
    while (term := Span(after_months(start, number), after_months(start, number + EVERY[every]))).start < end:
        yield term
        number += EVERY[every]
