"""Steps of 30 percent are found within days and told once; restless days, weekends and wild days are no news. Thresholds were chosen with other seeds."""

import math

import pytest

from apportion.reports.anomaly.daily import Daily
from apportion.reports.anomaly.failures import failing, wilson
from apportion.reports.anomaly.levels import steps
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
        assert not one.is_over
        delays.append(one.seen - planted.at)
    assert len(delays) == 10
    assert max(delays) <= 14
    assert sorted(delays)[5] <= 7


@pytest.mark.parametrize(("noise", "most"), [(0.05, 0), (0.1, 2), (0.15, 5)])
def test_twenty_quarters_without_a_step_hardly_have_an_alarm(noise: float, most: int) -> None:
    """A quarter, and the four weeks before that are needed to know what is usual."""
    found = [len(steps(days(seed, noise, step=1.0).daily)) for seed in range(7100, 7120)]
    assert max(found) <= 1
    assert sum(found) <= most


def test_a_fall_is_no_news_and_ends_a_step() -> None:
    assert [one for seed in HELD_OUT for one in steps(days(seed, 0.05, step=0.6).daily)] == []
    planted = days(7000, 0.05)
    parts = [part if day < planted.at + 12 else part * 10 // 13 for day, part in enumerate(planted.daily.parts)]
    [one] = steps(Daily(FIRST, tuple(parts), planted.daily.wholes))
    assert one.is_over
    assert planted.at + 12 <= one.last <= planted.at + 19


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
