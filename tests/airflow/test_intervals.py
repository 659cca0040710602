"""Which days and months the data interval of a run is about."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.errors import InputError
from apportion.integrations.airflow.intervals import days_ended, interval_of, months_ended, months_touched
from apportion.model.times import Interval, Period

ZONES = ("UTC", "America/Los_Angeles", "Pacific/Auckland", "Europe/Berlin")
FIRST = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp())


def of(start: str, end: str) -> Interval:
    return interval_of(datetime.fromisoformat(start), datetime.fromisoformat(end))


@pytest.mark.parametrize("end", ["2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00.9Z"])
def test_a_run_without_length_is_refused_and_told_how_to_get_one(end: str) -> None:
    with pytest.raises(InputError) as caught:
        of("2026-03-02T00:00:00Z", end)
    assert caught.value.code == "empty-interval"
    assert "begins and ends at 2026-03-02T00:00:00Z" in caught.value.message
    assert 'CronDataIntervalTimetable("0 0 * * *", timezone="UTC")' in caught.value.hint
    assert 'period="2026-10"' in caught.value.hint


def test_a_run_without_any_interval_is_refused() -> None:
    with pytest.raises(InputError, match="no data interval"):
        interval_of(None, datetime(2026, 3, 2, tzinfo=UTC))


def test_a_day_of_utc_in_california_touches_two_months_and_ends_one() -> None:
    """From 2026-10-31 17:00 to 2026-11-01 16:00, since summer time ends that night."""
    day = of("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")
    zone = ZoneInfo("America/Los_Angeles")
    assert months_touched(day, zone) == [Period(2026, 10), Period(2026, 11)]
    assert months_ended(day, zone) == [Period(2026, 10)]
    assert days_ended(day, zone) == [date(2026, 10, 31)]
    assert months_ended(day, ZoneInfo("UTC")) == []
    assert days_ended(day, ZoneInfo("UTC")) == [date(2026, 11, 1)]


def test_the_fifth_of_a_month_closes_the_month_before() -> None:
    """From the fifth to the fifth."""
    found = of("2026-10-05T06:00:00Z", "2026-11-05T06:00:00Z")
    assert months_ended(found, ZoneInfo("UTC")) == [Period(2026, 10)]
    assert months_touched(found, ZoneInfo("UTC")) == [Period(2026, 10), Period(2026, 11)]


@given(st.sampled_from(ZONES), st.lists(st.integers(1, 4_000_000), min_size=1, max_size=12))
def test_intervals_in_a_row_end_each_day_and_month_once(zone_name: str, lengths: list[int]) -> None:
    zone, at, days, months = ZoneInfo(zone_name), FIRST, [], []
    for length in lengths:
        days += days_ended(Interval(at, at + length), zone)
        months += months_ended(Interval(at, at + length), zone)
        at += length
    whole = Interval(FIRST, at)
    assert days == days_ended(whole, zone)
    assert months == months_ended(whole, zone)
    assert days == [days[0] + timedelta(days=n) for n in range(len(days))] if days else True
