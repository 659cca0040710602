"""When: the month in local days, the vendor's month in UTC, the days before it that a late correction reaches back to, and a warm-up before those."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apportion.model.times import DAY_S, Interval, Period, day_start

ZONE = ZoneInfo("America/Los_Angeles")
REACH_BACK_S = 3 * DAY_S  # usage is delivered for these days before the vendor's month too
WARM_UP_S = 7 * DAY_S  # simulated so that the machines are not empty when the evidence begins
BURST_DAYS = range(19, 26)  # the week before a deadline


@dataclass(frozen=True, slots=True)
class Calendar:
    period: Period

    @property
    def month(self) -> Interval:
        return self.period.interval(ZONE)

    @property
    def vendor_month(self) -> Interval:
        return self.period.interval(ZoneInfo("UTC"))

    @property
    def window(self) -> Interval:
        """What the schedulers' evidence covers: up to the end of the local month, when it was collected."""
        return Interval(self.vendor_month.start_s - REACH_BACK_S, self.month.end_s)

    @property
    def warm_up_s(self) -> int:
        return self.window.start_s - WARM_UP_S

    def at(self, day: int, hour: int, minute: int = 0) -> int:
        """A moment of the month in local time."""
        start = day_start(self.period.first_day + timedelta(days=day - 1), ZONE)
        return start + hour * 3600 + minute * 60

    def local(self, second: int) -> datetime:
        return datetime.fromtimestamp(second, tz=UTC).astimezone(ZONE)

    def vendor_days(self) -> list[Interval]:
        first, end = self.window.start_s, self.vendor_month.end_s
        return [Interval(start, start + DAY_S) for start in range(first, end, DAY_S)]
