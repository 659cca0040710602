"""PUE, prices and intensities that are stated: one number, or several by day, month, weekday and hour on the site's own clock.

Of the entries that hold at an instant, the one with the latest `from` counts; of those the first that is listed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from apportion.model.times import Interval, parse_period
from apportion.sources.tco.facility.sections import Section, number, section
from apportion.sources.tco.facility.steps import Step, Steps, in_order

CELL_S = 900  # every zone's offsets change on quarters of an hour
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
KEYS = ("from", "until", "months", "days", "hours")
HOURS = re.compile(r"([0-9]{1,2})(?::(00|15|30|45))?-([0-9]{1,2})(?::(00|15|30|45))?", re.ASCII)
MONTH = re.compile(r"[0-9]{4}-[0-9]{2}", re.ASCII)
YEAR, MIDNIGHT = 12, 24 * 60


@dataclass(frozen=True, slots=True)
class Entry:
    value: Fraction
    from_: date | None = None
    until: date | None = None
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    hours: tuple[tuple[int, int], ...] = ()  # minutes since midnight; the second smaller: over midnight

    @property
    def always(self) -> bool:
        return not (self.from_ or self.until or self.months or self.days or self.hours)

    def holds(self, moment: datetime) -> bool:
        day, minute = moment.date(), moment.hour * 60 + moment.minute
        return (
            (self.from_ is None or day >= self.from_)
            and (self.until is None or day <= self.until)
            and (not self.months or day.month in self.months)
            and (not self.days or day.weekday() in self.days)
            and (not self.hours or any(within(minute, first, last) for first, last in self.hours))
        )


def within(minute: int, first: int, last: int) -> bool:
    return first <= minute < last if first < last else minute >= first or minute < last


@dataclass(frozen=True, slots=True)
class Schedule:
    entries: tuple[Entry, ...]
    zone: ZoneInfo

    @property
    def by_hour(self) -> bool:
        return any(entry.hours or entry.days for entry in self.entries)

    def steps(self, span: Interval) -> Steps:
        """Asked every quarter of an hour, so that 23- and 25-hour days need no thought."""
        if len(self.entries) == 1 and self.entries[0].always:
            return Steps((Step(span.start_s, span.end_s, self.entries[0].value),))
        return in_order(self._cells(span))

    def _cells(self, span: Interval) -> Iterator[Step]:
        for start_s in range(span.start_s // CELL_S * CELL_S, span.end_s, CELL_S):
            moment = datetime.fromtimestamp(start_s, self.zone)
            found = [entry for entry in self.entries if entry.holds(moment)]
            if found:
                chosen = max(found, key=lambda entry: entry.from_ or date.min)  # the first of the latest
                yield Step(max(start_s, span.start_s), min(start_s + CELL_S, span.end_s), chosen.value)


def read_schedule(found: Any, zone: ZoneInfo, where: str, *, word: str, least: int | None = 0) -> Schedule:
    """A number; a table of months; or a list of entries whose number is called `word`."""
    if isinstance(found, Mapping):
        return Schedule(tuple(of_month(key, value, f"{where}.{key}", least) for key, value in found.items()), zone)
    if not isinstance(found, list):
        return Schedule((Entry(number(found, where, least)),), zone)
    parts = [section(part, (*KEYS, word), f"{where}[{n}]") for n, part in enumerate(found)]
    return Schedule(tuple(read_entry(part, word, least) for part in parts), zone)


def of_month(key: object, value: object, where: str, least: int | None) -> Entry:
    period = parse_period(str(key), where)
    last = period.next.first_day - timedelta(days=1)
    return Entry(number(value, where, least), period.first_day, last)


def read_entry(part: Section, word: str, least: int | None) -> Entry:
    return Entry(
        part.number(word, least),
        part.day("from"),
        part.day("until"),
        frozenset(months_of(part)),
        frozenset(days_of(part)),
        tuple(hours_of(part)),
    )


def listed(part: Section, key: str) -> list[Any]:
    value = part.cells.get(key, [])
    return value if isinstance(value, list) else [value]


def months_of(part: Section) -> Iterator[int]:
    for month in listed(part, "months"):
        if not str(month).isdecimal() or not 1 <= int(month) <= YEAR:
            raise part.refuse("months", "a list of numbers from 1 to 12")
        yield int(month)


def days_of(part: Section) -> Iterator[int]:
    """`sat`, or `mon-fri`; a stretch may go over the week's end."""
    for text in listed(part, "days"):
        first, _, last = str(text).partition("-")
        if first not in DAYS or (last or first) not in DAYS:
            raise part.refuse("days", 'a list of days such as ["mon-fri", "sun"]')
        start, end = DAYS.index(first), DAYS.index(last or first)
        yield from (day % len(DAYS) for day in range(start, end + 1 if end >= start else end + 1 + len(DAYS)))


def hours_of(part: Section) -> Iterator[tuple[int, int]]:
    for text in listed(part, "hours"):
        found = HOURS.fullmatch(str(text))
        first, last = (60 * int(found[n]) + int(found[n + 1] or 0) for n in (1, 3)) if found else (0, 0)
        if first == last or first >= MIDNIGHT or last > MIDNIGHT:
            raise part.refuse("hours", 'stretches such as "7-22" or "22:30-6", on quarters of an hour')
        yield first, last
