"""Wild days of a team's spending: told with what they meant, and as part of a step where one begins with them."""

from datetime import date, timedelta
from decimal import Decimal

import pyarrow as pa
import pytest

from apportion.model.times import Period
from apportion.reports.anomaly.found import Anomaly
from apportion.reports.anomaly.report import anomaly_report, cause_report
from apportion.verbs.noticing.known import ROWS, Known, unbroken
from apportion.verbs.noticing.teams import spent
from apportion.verbs.project import Project

FIRST, LAST = date(2026, 8, 1), date(2026, 10, 28)
WILD = date(2026, 10, 20)  # a Tuesday


def found(project: Project, **others: int) -> list[Anomaly]:
    """Days of 200 and a little, 50 of it of disks, but for those given as `d_10_20=900`; October is not posted."""
    rows = []
    for n in range((LAST - FIRST).days + 1):
        day = FIRST + timedelta(days=n)
        gpus = others.get(f"d_{day:%m_%d}", 200 + n % 3) - 50
        for pool, amount in (("gpus", gpus), ("disks", 50)):
            said = {"day": day, "team": "vision", "project": "", "user": "", "currency": "USD", "pool": pool}
            rows.append({**said, "reason": "usage", "cause": "", "amount": Decimal(amount)})
    table = pa.Table.from_pylist(rows).select(list(ROWS))
    october = Period(2026, 10)
    return list(spent(Known(project, table, {}, (), october, LAST, october.first_day)))


def usual() -> Decimal:
    """What the four Tuesdays before come to on average."""
    places = [(WILD - timedelta(days=7 * n) - FIRST).days for n in range(1, 5)]
    return Decimal(sum(200 + place % 3 for place in places)) / 4


def test_a_wild_day_is_told_with_how_much_and_where(posted: Project) -> None:
    [one] = found(posted, d_10_20=900)
    assert (one.shape, one.state, one.began, one.until) == ("day", "one day", WILD, WILD)
    assert one.meant == 900 - usual()
    assert one.causes == {"use": one.meant}  # nobody counts hours here
    assert (one.pool, one.leaders[0].above) == ("gpus", one.meant)
    assert one.estimated
    assert one.sentence.startswith("vision spent 900.00 USD (+")
    assert anomaly_report([one]).title == "1 thing is not as usual."


def test_usual_days_little_more_and_small_change_are_no_news(posted: Project) -> None:
    assert found(posted) == []
    assert found(posted, d_10_20=300) == []  # less than 1.6 times the highest day before
    small = {f"d_{FIRST + timedelta(days=n):%m_%d}": 52 for n in range(89)}
    assert found(posted, **{**small, "d_10_20": 140}) == []  # less than a hundred more
    assert len(found(posted, **{**small, "d_10_20": 160})) == 1


def test_what_came_some_weeks_before_is_no_news(posted: Project) -> None:
    assert found(posted, d_10_20=900, d_09_20=900) == []
    assert found(posted, d_10_20=900, d_10_13=880) != []  # the first of two is
    assert [one.began.day for one in found(posted, d_10_20=900, d_10_13=880)] == [13]


def test_a_step_that_begins_with_a_wild_day_is_one_anomaly(posted: Project) -> None:
    """It keeps the name that the day had when it was told."""
    days = {f"d_{WILD + timedelta(days=n):%m_%d}": 700 for n in range(9)}
    [day] = found(posted, d_10_20=900)
    [step] = found(posted, **{**days, "d_10_20": 900})
    assert (step.shape, step.began, step.until, step.state) == ("step", WILD, LAST, "lasting")
    assert step.id == day.id


def of_days(first: int, last: int, amount: int) -> dict[str, int]:
    """Of October."""
    return {f"d_10_{day:02}": amount for day in range(first, last + 1)}


def test_a_dearer_price_and_a_doubling_are_two_and_no_day_is_told_twice(posted: Project) -> None:
    dearer, doubled = found(posted, **of_days(2, 13, 250), **of_days(14, 28, 500))
    assert (dearer.began, dearer.until, dearer.state) == (date(2026, 10, 2), date(2026, 10, 13), "over")
    assert (doubled.began, doubled.until, doubled.state) == (date(2026, 10, 14), LAST, "lasting")
    assert dearer.now == doubled.before == 250
    assert doubled.now == 500
    assert doubled.meant == 15 * 250
    assert 12 * 48 < dearer.meant < 12 * 50


def test_a_doubling_within_the_same_week_is_part_of_the_step(posted: Project) -> None:
    [one] = found(posted, **of_days(2, 5, 250), **of_days(6, 28, 500))
    assert (one.began, one.until, one.shape) == (date(2026, 10, 2), LAST, "step")


@pytest.mark.parametrize("wild", [16, 28])
def test_money_of_a_wild_day_in_a_step_is_told_of_the_day_alone(posted: Project, wild: int) -> None:
    step, day = found(posted, **{**of_days(2, 28, 250), **of_days(wild, wild, 700)})
    assert (step.shape, step.began, step.until) == ("step", date(2026, 10, 2), LAST)
    assert (day.shape, day.began) == ("day", date(2026, 10, wild))
    assert step.now == day.before == 250
    assert day.meant == 450


def test_a_fall_is_told_as_one(posted: Project) -> None:
    """From 201 a day to 24; the disks' 50 among the first."""
    [one] = found(posted, **of_days(8, 28, 24))
    assert (one.shape, one.began, one.state, one.is_fall) == ("step", date(2026, 10, 8), "lasting", True)
    assert one.meant == -21 * (201 - 24)
    assert one.causes == {"use": one.meant}
    assert (one.pool, one.leaders[0].above) == ("gpus", one.meant)
    assert one.sentence == (
        "vision's spending fell to 24.00 USD (-88.1 %) a day since 2026-10-08, against 201.00 USD before: "
        "3,717.00 USD less, most of it use (-3,717.00 USD); most in gpus (-3,717.00 USD) (estimated)."
    )
    report = anomaly_report([one])
    assert report.sections[0].rows[0][-2:] == ("use -3,717.00 USD", "lasting, estimated")
    assert cause_report(one).notes == ("pool gpus: 3,717.00 USD less than before.",)
    assert one.without_money().sentence.endswith("against 201.00 USD before (estimated).")


def test_a_little_less_is_no_news(posted: Project) -> None:
    assert found(posted, **of_days(8, 28, 180)) == []
    small = {f"d_{FIRST + timedelta(days=n):%m_%d}": 4 for n in range(89)}
    assert found(posted, **{**small, **of_days(8, 28, 1)}) == []  # less than a hundred less


def test_a_month_that_is_not_posted_ends_what_is_known() -> None:
    """Else it would look like a month without work, and the next like a step."""
    october = Period(2026, 10)
    assert unbroken(october, {"2026-05", "2026-07", "2026-09", "2026-10"}) == ["2026-09", "2026-10"]
    assert unbroken(october, {"2026-07", "2026-08", "2026-09"}) == ["2026-07", "2026-08", "2026-09"]
    assert unbroken(october, {"2026-08"}) == []
    assert unbroken(october, {f"2026-{month:02}" for month in range(1, 11)}) == [f"2026-{n:02}" for n in range(7, 11)]
