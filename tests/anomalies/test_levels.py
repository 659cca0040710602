"""Steps of 30 percent, up and down, are found within days and told once; restless days, weekends and wild days are no news.

Thresholds were chosen with other seeds.
"""

import math

import pytest

from apportion.reports.anomaly.daily import Daily
from apportion.reports.anomaly.failures import failing, wilson
from apportion.reports.anomaly.levels import DOWN, UP, steps
from apportion.reports.anomaly.spikes import spikes
from tests.anomalies.planted import FIRST, days

HELD_OUT = range(7000, 7010)


@pytest.mark.parametrize("noise", [0.03, 0.05, 0.1])
def test_ten_of_ten_planted_steps_are_found_within_days_and_told_once(noise: float) -> None:
    delays = []
    for seed in HELD_OUT:
        planted = days(seed, noise)
        [one] = [step for step in steps(planted.daily) if step.seen >= planted.at]
        assert abs(one.began - planted.at) <= 7
        assert (one.way, one.is_over) == (UP, False)
        delays.append(one.seen - planted.at)
    print(f"noise {noise}: {len(delays)} of 10 rises, median delay {sorted(delays)[5]}")
    assert len(delays) == 10
    assert max(delays) <= 14
    assert sorted(delays)[5] <= 7


@pytest.mark.parametrize(("noise", "least"), [(0.03, 10), (0.05, 10), (0.1, 9), (0.15, 9)])
def test_planted_falls_are_found_as_soon_and_told_once(noise: float, least: int) -> None:
    delays = []
    for seed in HELD_OUT:
        planted = days(seed, noise, step=0.7)
        found = [step for step in steps(planted.daily) if step.seen >= planted.at and step.way == DOWN]
        assert len(found) <= 1
        delays += [one.seen - planted.at for one in found if abs(one.began - planted.at) <= 7]
    print(f"noise {noise}: {len(delays)} of 10 falls, median delay {sorted(delays)[len(delays) // 2]}")
    assert len(delays) >= least
    assert max(delays) <= 14


@pytest.mark.parametrize(("noise", "most"), [(0.05, 0), (0.1, 2), (0.15, 5)])
def test_twenty_quarters_without_a_step_hardly_have_an_alarm(noise: float, most: int) -> None:
    """A quarter, and the four weeks before that are needed to know what is usual."""
    found = [len(steps(days(seed, noise, step=1.0).daily)) for seed in range(7100, 7120)]
    print(f"noise {noise}: {sum(found)} alarms in 20 quarters")
    assert max(found) <= 1
    assert sum(found) <= most


def test_a_fall_that_ends_a_step_is_told_no_second_time() -> None:
    planted = days(7000, 0.05)
    parts = [part if day < planted.at + 12 else part * 10 // 13 for day, part in enumerate(planted.daily.parts)]
    [one] = steps(Daily(FIRST, tuple(parts), planted.daily.wholes))
    assert one.is_over
    assert planted.at + 12 <= one.last <= planted.at + 19


def levels(*changes: tuple[int, int], count: int = 95) -> Daily:
    """From each place on, so much a day and a little."""
    parts = [max(change for change in changes if change[0] <= day)[1] * 100 + day % 3 for day in range(count)]
    return Daily(FIRST, tuple(parts), (1,) * count)


@pytest.mark.parametrize("gap", [8, 10, 14, 20])
def test_a_doubling_after_a_rise_is_an_alarm_of_its_own(gap: int) -> None:
    """The first ends where the second begins, and the second stands against the days of the first."""
    first, second = steps(levels((0, 200), (61, 240), (61 + gap, 480)))
    assert (first.began, first.last, first.is_over, first.since) == (61, 60 + gap, True, None)
    assert (second.began, second.is_over, second.since, second.way) == (61 + gap, False, 61, UP)


@pytest.mark.parametrize("gap", [3, 5, 7])
def test_two_changes_within_a_week_are_one(gap: int) -> None:
    [one] = steps(levels((0, 200), (61, 240), (61 + gap, 480)))
    assert (one.began, one.is_over) == (61, False)


def test_what_grows_day_by_day_is_told_once() -> None:
    parts = tuple(20_000 + 400 * max(0, min(day - 60, 30)) for day in range(88))
    assert len(steps(Daily(FIRST, parts, (1,) * 88))) == 1


def test_a_fall_to_an_eighth_is_told_and_its_end_is_none() -> None:
    [one] = steps(levels((0, 184), (70, 24)))
    assert (one.began, one.way, one.is_over) == (70, DOWN, False)
    [back] = steps(levels((0, 184), (70, 24), (82, 184)))
    assert (back.began, back.way, back.is_over) == (70, DOWN, True)


def test_after_a_rise_less_than_ever_is_a_fall() -> None:
    up, down = steps(levels((0, 184), (60, 300), (75, 24)))
    assert (up.began, up.last, up.way, up.is_over) == (60, 74, UP, True)
    assert (down.began, down.way, down.since) == (75, DOWN, 60)


def test_after_a_rise_that_was_over_a_fall_is_one_as_ever() -> None:
    up, down = steps(levels((0, 184), (50, 240), (60, 184), (75, 130)))
    assert (up.began, up.way, up.is_over) == (50, UP, True)
    assert (down.began, down.way, down.since) == (75, DOWN, None)
    assert up.last < 70


def test_one_day_without_work_is_no_fall() -> None:
    parts = list(levels((0, 184)).parts)
    parts[80] = parts[81] = 0
    assert steps(Daily(FIRST, tuple(parts), (1,) * len(parts))) == []


def test_one_wild_day_is_a_day_and_no_step() -> None:
    planted = days(7000, 0.05, step=1.0)
    parts = list(planted.daily.parts)
    parts[100] = 4 * max(parts)
    daily = Daily(FIRST, tuple(parts), planted.daily.wholes)
    assert steps(daily) == []
    assert 100 in spikes(daily, 90, 1)
    assert spikes(daily, 90, 10**12) == []  # too little to matter


def test_what_comes_each_month_or_each_monday_is_no_news() -> None:
    parts = [100 + day % 3 + (900 if day % 30 == 20 else 0) + (300 if day % 7 == 0 else 0) for day in range(120)]
    daily = Daily(FIRST, tuple(parts), (1,) * 120)
    assert (steps(daily, 60), spikes(daily, 60, 1)) == ([], [])


def test_too_few_days_say_nothing() -> None:
    daily = Daily(FIRST, (100,) * 20 + (1000,) * 13, (1,) * 33)
    assert (steps(daily), spikes(daily, 0, 1)) == ([], [])
    assert steps(Daily(FIRST, (0,) * 60 + (5,) * 20, (1,) * 80)) == []  # of nothing there is no usual


def test_a_price_is_a_rate_and_days_without_hours_do_not_count() -> None:
    wholes = tuple(0 if day % 7 == 6 else 100 + day % 5 for day in range(90))
    parts = tuple(whole * (25 if day >= 70 else 20) for day, whole in enumerate(wholes))
    [one] = steps(Daily(FIRST, parts, wholes))
    assert one.began == 70


def test_few_runs_are_no_proof_and_many_are() -> None:
    """One of ten failed before and half do now: of two runs a day that may be chance, of twenty it is not."""
    for runs, found in ((2, 0), (20, 1)):
        bad = tuple(runs // 2 if day >= 60 else (1 if day % 10 == 0 else 0) * runs for day in range(75))
        counted = Daily(FIRST, bad, (runs,) * 75)
        money = Daily(FIRST, tuple(part * 1000 for part in bad), tuple(1000 * runs for _ in bad))
        assert len(failing(money, counted, 0)) == found


def test_wilson_is_the_interval_of_the_book() -> None:
    """Against the roots of (p - seen)^2 = z^2 p (1 - p) / n, found by halving."""
    for part, whole in ((0, 12), (3, 10), (40, 90), (7, 7)):
        low, high = wilson(part, whole)
        for bound in (low, high):
            assert math.isclose((bound - part / whole) ** 2, 9 * bound * (1 - bound) / whole, abs_tol=1e-12)
        assert low <= part / whole <= high
    assert wilson(0, 0) == (0.0, 1.0)
