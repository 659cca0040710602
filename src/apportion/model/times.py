"""Time: whole UTC seconds, half-open intervals, and the days of a time zone (23, 24, 24.5 or 25 hours, or missing)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from apportion.errors import InputError

INSTANT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII
)
PERIOD = re.compile(r"(\d{4})-(\d\d)", re.ASCII)
DAY_S = 86_400
MOST_MONTHS = 120  # that one may ask for at once


@dataclass(frozen=True, order=True, slots=True)
class Interval:
    """`[start_s, end_s)` in UTC seconds."""

    start_s: int
    end_s: int

    def clip(self, other: "Interval") -> "Interval":
        start = max(self.start_s, other.start_s)
        return Interval(start, max(start, min(self.end_s, other.end_s)))

    @property
    def seconds(self) -> int:
        return self.end_s - self.start_s


@dataclass(frozen=True, order=True, slots=True)
class Period:
    """A calendar month, `2026-10`."""

    year: int
    month: int

    def __str__(self) -> str:
        return f"{self.year:04d}-{self.month:02d}"

    @property
    def first_day(self) -> date:
        return date(self.year, self.month, 1)

    @property
    def last_day(self) -> date:
        return self.next.first_day - timedelta(days=1)

    @property
    def next(self) -> "Period":
        return Period(self.year + self.month // 12, self.month % 12 + 1)

    @property
    def previous(self) -> "Period":
        return Period(self.year - (self.month == 1), (self.month - 2) % 12 + 1)

    def interval(self, zone: tzinfo) -> Interval:
        return Interval(day_start(self.first_day, zone), day_start(self.next.first_day, zone))


def zone_named(name: str, where: str = "") -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(
            "unknown-time-zone",
            f"there is no time zone {name!r}",
            where=where,
            hint="use an IANA name such as Europe/Berlin",
        ) from error


def parse_period(text: str, where: str = "") -> Period:
    found = PERIOD.fullmatch(text)
    if not found or not 1 <= int(found[2]) <= 12 or int(found[1]) < 1:
        raise InputError("invalid-period", f"{text!r} is not a month", where=where, hint="write it as 2026-10")
    return Period(int(found[1]), int(found[2]))


def parse_periods(text: str, today: date) -> list[Period]:
    """`2026-10`, `2026-Q4`, `2026-04..2026-10` or `last-month`."""
    if text == "last-month":
        return [Period(today.year, today.month).previous]
    if ".." in text:
        return months_between(text)
    quarter = re.fullmatch(r"(\d{4})-Q([1-4])", text, re.ASCII)
    if quarter:
        first = int(quarter[2]) * 3 - 2
        return [Period(int(quarter[1]), month) for month in range(first, first + 3)]
    return [parse_period(text)]


def months_between(text: str) -> list[Period]:
    """`2026-04..2026-10`, both included."""
    first, last = (parse_period(part) for part in text.split("..", 1))
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    if not 1 <= count <= MOST_MONTHS:
        why = "ends before it begins" if count < 1 else f"is more than {MOST_MONTHS} months"
        raise InputError("invalid-period", f"{text[:60]!r} {why}", hint="write it as 2026-04..2026-10")
    return [Period(first.year + (first.month - 1 + n) // 12, (first.month - 1 + n) % 12 + 1) for n in range(count)]


def parse_instant(text: str, zone: tzinfo | None = None, where: str = "") -> int:
    """UTC seconds of an ISO 8601 time. Without an offset it needs a `zone`. Parts of a second are cut off on both ends of an interval alike."""
    found = INSTANT.fullmatch(text.strip())
    if not found:
        raise InputError(
            "invalid-time", f"{text[:60]!r} is not a time", where=where, hint="write it as 2026-10-01T00:00:00Z"
        )
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    offset = found[8]
    if offset is None and zone is None:
        raise InputError(
            "no-time-zone",
            f"{text!r} names no time zone",
            where=where,
            hint="add Z or an offset, or set time_zone on the source",
        )
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone if offset is None else UTC)
    except ValueError as error:
        raise InputError("invalid-time", f"{text[:60]!r} is not a time: {error}", where=where) from error
    shift = 0
    if offset not in (None, "Z"):
        digits = offset.replace(":", "")
        shift = (int(digits[1:3]) * 3600 + int(digits[3:5]) * 60) * (-1 if digits[0] == "-" else 1)
    return int((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)) - shift


def is_ambiguous(text: str, zone: tzinfo) -> bool:
    """Whether a time names two moments: it has no offset, and lies in the hour over which clocks went back. A day alone is its beginning."""
    found = INSTANT.fullmatch(text.strip())
    if not found or found[4] is None or found[8] is not None:
        return False
    try:
        return comes_twice(parse_instant(text, zone), zone)
    except InputError:
        return False


def comes_twice(second: int, zone: tzinfo) -> bool:
    """Whether the local time of a second is also that of another one."""
    local = datetime.fromtimestamp(second, tz=zone)
    early, late = (local.replace(fold=fold).utcoffset() or timedelta() for fold in (0, 1))
    return early > late


def is_skipped(text: str, zone: tzinfo) -> bool:
    """Whether a time names no moment: it has no offset, and lies in the hour over which clocks went forward. A day alone is its beginning."""
    found = INSTANT.fullmatch(text.strip())
    if not found or found[4] is None or found[8] is not None:
        return False
    try:
        second = parse_instant(text, zone)
    except InputError:
        return False
    year, month, day, hour, minute, whole = (int(part or 0) for part in found.groups()[:6])
    return never_comes(datetime(year, month, day, hour, minute, whole), second, zone)  # noqa: DTZ001 - as clocks show it


def never_comes(local: datetime, second: int, zone: tzinfo) -> bool:
    """Whether no clock shows the local time that was taken for a second. The moment of the change itself is in no doubt."""
    after, before = (datetime.fromtimestamp(moment, tz=zone) for moment in (second, second - 1))
    return after.replace(tzinfo=None, fold=0) != local and after.utcoffset() == before.utcoffset()


def instant_text(second: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def day_start(day: date, zone: tzinfo) -> int:
    """The first second of a local day. Where midnight does not exist the day starts at the jump; a day that does not exist has no seconds."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    second = int(midnight.timestamp())
    if local_day(second, zone) == day and local_day(second - 1, zone) < day:
        return second
    # The jump is in between: find the first second of `day` or later.
    low, high = second - 2 * DAY_S, second + 2 * DAY_S
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if local_day(middle, zone) < day else (low, middle)
    return low


def local_day(second: int, zone: tzinfo) -> date:
    return datetime.fromtimestamp(second, tz=zone).date()


def months(interval: Interval, zone: tzinfo) -> Iterator[Interval]:
    """The whole local months that an interval touches; a moment without length touches its own."""
    last = local_day(max(interval.start_s, interval.end_s - 1), zone)
    first = local_day(interval.start_s, zone)
    month = Period(first.year, first.month)
    while month <= Period(last.year, last.month):
        yield month.interval(zone)
        month = month.next


def days(interval: Interval, zone: tzinfo) -> Iterator[tuple[date, Interval]]:
    """The local days that an interval touches, each with its part of the interval."""
    day = local_day(interval.start_s, zone)
    while (start := day_start(day, zone)) < interval.end_s:
        part = Interval(start, day_start(day + timedelta(days=1), zone)).clip(interval)
        if part.seconds > 0:
            yield day, part
        day += timedelta(days=1)
