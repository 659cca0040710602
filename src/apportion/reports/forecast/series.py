"""What was spent, day by day, as forecasts read it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.model.rows import POSTINGS
from apportion.model.times import Period, parse_period
from apportion.reports.groups import names
from apportion.reports.sums import ZERO, grouped, less, total

Floats = npt.NDArray[np.float64]
NEEDED = (
    "period",
    "day",
    "currency",
    "team",
    "project",
    "pool",
    "amount",
)  # department and cost centre are not told apart here
ROWS = pa.schema([POSTINGS.field(name) for name in NEEDED])
DAY, WEEK = timedelta(days=1), 7


@dataclass(frozen=True)
class Series:
    """One group in one currency, from the first day of a month on, every day that is known. A day without a row cost nothing."""

    name: str
    currency: str
    first: date
    amounts: tuple[Decimal, ...]
    partial: frozenset[date] = frozenset()  # days of which only some hours are in the books

    @cached_property
    def values(self) -> Floats:
        """For methods that look ahead, partial days as the same weekday beside them; what was spent is read from `amounts`."""
        found = np.array([float(amount) for amount in self.amounts], np.float64)
        for n in (self.known(day) - 1 for day in sorted(self.partial)):
            beside = next((at for at in (n - WEEK, n + WEEK) if 0 <= at < len(found)), None)
            if 0 <= n < len(found) and beside is not None:
                found[n] = found[beside]
        return found

    @property
    def last(self) -> date:
        return self.first + timedelta(days=len(self.amounts) - 1)

    def known(self, until: date) -> int:
        """How many of its days are over by the end of that day."""
        return (until - self.first).days + 1

    def between(self, first: date, last: date) -> Decimal:
        return total(self.amounts[max(0, self.known(first) - 1) : max(0, self.known(last))])

    def cut(self, through: date) -> "Series":
        return replace(self, amounts=self.amounts[: max(0, self.known(through))])

    def without(self, amounts: Mapping[date, Decimal]) -> "Series":
        """Nothing of a day is left rather than less than nothing: what is taken is spread evenly, and the day's own may not be."""
        days = (self.first + timedelta(days=n) for n in range(len(self.amounts)))
        pairs = [(own, less(own, amounts.get(day, ZERO))) for day, own in zip(days, self.amounts, strict=True)]
        return replace(self, amounts=tuple(max(left, min(own, ZERO)) for own, left in pairs))


def series_of(
    rows: pa.Table, by: str, first: date, through: date, partial: frozenset[date] = frozenset()
) -> list[Series]:
    """Of postings or of rows like them, one for each group and currency. What a month books for days far outside it counts on its nearest day."""
    named = within_month(rows.select(list(NEEDED))).append_column("name", names(rows, by))
    found: dict[tuple[str, str], dict[date, Decimal]] = {}
    for (name, currency, day), amount in grouped(named, ("name", "currency", "day")).items():
        if amount and is_money(currency):
            found.setdefault((name, currency), {})[date.fromisoformat(day)] = amount
    days = [first + timedelta(days=n) for n in range((through - first).days + 1)]
    return [
        Series(*key, first, tuple(own.get(day, ZERO) for day in days), partial) for key, own in sorted(found.items())
    ]


def within_month(rows: pa.Table) -> pa.Table:
    """A day next to the month stays: a vendor's midnight is not ours, and the rest of that day is on the bill beside this one."""
    periods = {str(text): parse_period(str(text)) for text in pc.unique(rows["period"]).to_pylist()}
    coded = rows["period"].combine_chunks().dictionary_encode()
    order = [periods[str(text)] for text in coded.dictionary.to_pylist()]
    day = rows["day"]
    for beyond, step, ends in (
        (pc.less, -DAY, [month.first_day for month in order]),
        (pc.greater, DAY, [month.last_day for month in order]),
    ):
        nearest, outside = (
            pa.array(some, pa.date32()).take(coded.indices) for some in (ends, [end + step for end in ends])
        )
        day = pc.if_else(beyond(day, outside), nearest, day)
    return rows.set_column(rows.schema.get_field_index("day"), "day", day)


def months_of(series: Series) -> list[Period]:
    """Those that are known from the first day to the last, oldest first."""
    found, month = [], Period(series.first.year, series.first.month)
    while month.last_day <= series.last:
        found.append(month)
        month = month.next
    return found


def summed(every: Iterable[Series], name: str) -> Series:
    """Of one currency, over the same days."""
    some = list(every)
    amounts = tuple(total(day) for day in zip(*(one.amounts for one in some), strict=True))
    return replace(some[0], name=name, amounts=amounts)


def by_currency(every: Iterable[Series]) -> Mapping[str, list[Series]]:
    found: dict[str, list[Series]] = {}
    for one in every:
        found.setdefault(one.currency, []).append(one)
    return found
