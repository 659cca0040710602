"""The data interval of a run: which days and months it is about.

A day or month belongs to the run in whose interval it ends, so that each is waited for, closed and stated once.
"""

from datetime import date, datetime, timedelta, tzinfo

from apportion.errors import InputError
from apportion.model.times import Interval, Period, day_start, days, instant_text, local_day, months

HOW = (
    'schedule the DAG by CronDataIntervalTimetable("0 0 * * *", timezone="UTC"), since a cron text or "@daily" alone gives no interval in Airflow 3; '
    'or give the operator a month: period="2026-10"'
)


def interval_of(start: datetime | None, end: datetime | None) -> Interval:
    """Refuses a run that has none: what it would charge for is nothing."""
    if start is None or end is None:
        raise InputError("empty-interval", "this run has no data interval, so no month is named", hint=HOW)
    found = Interval(int(start.timestamp()), int(end.timestamp()))
    if found.seconds <= 0:
        moment = instant_text(found.start_s)
        raise InputError("empty-interval", f"this run's data interval begins and ends at {moment}", hint=HOW)
    return found


def months_touched(interval: Interval, zone: tzinfo) -> list[Period]:
    """Those of which some moment lies in it."""
    days = [local_day(month.start_s, zone) for month in months(interval, zone)]
    return [Period(day.year, day.month) for day in days]


def months_ended(interval: Interval, zone: tzinfo) -> list[Period]:
    """Those whose end lies after its start, and no later than its end."""
    return [month for month in months_touched(interval, zone) if month.interval(zone).end_s <= interval.end_s]


def days_ended(interval: Interval, zone: tzinfo) -> list[date]:
    """Like months: a day that the interval cuts off is of the run after it."""
    return [day for day, part in days(interval, zone) if part.end_s == day_start(day + timedelta(days=1), zone)]
