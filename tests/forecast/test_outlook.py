"""What is planted is foreseen; what cannot be known is said to be wide; what is known counts as it is."""

from datetime import date, timedelta
from decimal import Decimal

import pytest

from apportion.reports.forecast import methods
from apportion.reports.forecast.made import backtest_of, forecast_of
from apportion.reports.forecast.outlook import Ahead, outlook
from apportion.reports.forecast.report import cases, forecast_report
from apportion.reports.forecast.series import Series, series_of
from apportion.reports.forecast.shares import WHOLE, Bill, bill_of
from apportion.reports.forecast.trial import trials
from apportion.reports.sums import total
from tests.forecast.worlds import FIRST, MONTH, Spends, came, cents, foreseen, known, noisy, rows, series

THROUGH = date(2026, 10, 14)


def growing(day: date) -> float:
    return 100.0 + 2 * (day - FIRST).days


def office(day: date) -> float:
    return 20.0 if day.weekday() >= 5 else 100.0


def stepped(day: date) -> float:
    return 300.0 if day >= date(2026, 9, 15) else 100.0


def every_third(day: date) -> float:
    return 90.0 if day.toordinal() % 3 == 0 else 0.0


def vanished(day: date) -> float:
    return 500.0 if day < date(2026, 9, 1) else 0.0


@pytest.mark.parametrize(
    ("spends", "off"), [(growing, 0.02), (office, 0.01), (stepped, 0.02), (every_third, 0.10), (vanished, 0.0)]
)
@pytest.mark.parametrize("days", [0, 14])
def test_what_is_planted_is_foreseen(spends: Spends, off: float, days: int) -> None:
    found, truth = foreseen(spends, days), came(spends)
    assert float(found.amount) == pytest.approx(truth, rel=off + 0.02 * (days == 0), abs=0.01)
    assert found.range(80).low <= cents(truth) <= found.range(80).high


def test_known_days_count_as_they_are_to_the_last_digit() -> None:
    odd = Decimal("0.000000000000000000000000000000000001")
    days = series(office)
    exact = Series(days.name, "USD", days.first, tuple(total([one, odd]) for one in days.amounts))
    found = outlook(Ahead(exact.cut(THROUGH)), THROUGH, MONTH)
    assert found.spent == total(exact.amounts[-31:-17])
    assert found.amount == total([found.spent, found.remaining])


def test_a_month_that_is_over_is_what_it_came_to() -> None:
    found = foreseen(office, 31)
    assert (found.amount, found.remaining, found.spread) == (cents(came(office)), Decimal(0), 0.0)
    assert {(one.low, one.high) for one in found.ranges} == {(found.amount, found.amount)}


def test_a_new_team_goes_by_its_average_and_is_told_to_be_unsure() -> None:
    begun = date(2026, 10, 12)
    fresh: Spends = lambda day: 50.0 if day >= begun else 0.0  # noqa: E731
    made = forecast_of(known({("fresh", "gpus"): fresh, ("old", "gpus"): office}, THROUGH))
    one = next(group for group in made.groups if group.outlook.name == "fresh")
    assert one.history == 3
    at = one.outlook.range(80)
    assert (
        at.low < Decimal(700) < one.outlook.amount < Decimal(1000) < at.high
    )  # 3 days and 17 more; the sum knows less
    assert any(note.startswith("fresh: less than a week of history") for note in forecast_report(made).notes)


def test_a_team_that_vanished_may_come_back_but_never_below_nothing() -> None:
    found = foreseen(vanished, 7)
    assert found.amount == 0
    assert found.range(95).low == 0
    assert found.range(95).high > 0


def test_a_small_beginning_does_not_make_all_that_follows_unknown() -> None:
    """Two weeks of cents, then a hundred a day: errors of ten thousand times what was usual count as one and a half times."""
    found = foreseen(lambda day: 100.0 if day >= date(2026, 5, 15) else 0.01, 14)
    assert float(found.amount) == pytest.approx(3100, rel=0.01)
    assert found.range(80).high < Decimal(4500)


def test_who_never_spent_is_not_foreseen() -> None:
    assert series_of(rows({("idle", "gpus"): lambda _: 0.0}, THROUGH), "team", FIRST, THROUGH) == []
    assert foreseen(lambda _: 0.0, 14).amount == 0


def test_refunds_may_come_again_and_spending_cannot_be_undone() -> None:
    def refunded(day: date) -> float:
        return -900.0 if day.day == 28 else 40.0

    with_refunds, without = foreseen(refunded, 14), foreseen(noisy(3, swing=0.9), 7)
    assert with_refunds.range(95).low < with_refunds.spent
    assert without.range(95).low >= without.spent


def test_rows_of_days_outside_their_month_count_in_it() -> None:
    late = rows({("vision", "gpus"): office}, THROUGH).slice(0, 1).to_pylist()[0] | {"period": "2026-10"}
    table = rows({("vision", "gpus"): lambda _: 1.0}, THROUGH)
    both = table.from_pylist([*table.to_pylist(), late], schema=table.schema)
    [found] = series_of(both, "team", FIRST, THROUGH)
    assert found.between(MONTH.first_day, MONTH.first_day) == total([Decimal(1), late["amount"]])


WORLD = {
    ("vision", "h100"): noisy(1),
    ("vision", "disks"): office,
    ("speech", "h100"): noisy(2),
    ("_idle", "h100"): growing,
}


@pytest.mark.parametrize("by", ["team", "pool"])
def test_groups_add_up_to_one_end_of_the_month_in_each_currency(by: str) -> None:
    euros = rows({("speech", "cloud"): office}, THROUGH, "EUR")
    made = forecast_of(known(WORLD, THROUGH, euros), by)
    sums = {one.outlook.currency: one.outlook.amount for one in made.wholes}
    assert set(sums) == {"EUR", "USD"}
    for currency, amount in sums.items():
        assert total(one.outlook.amount for one in made.groups if one.outlook.currency == currency) == amount
    teams = forecast_of(known(WORLD, THROUGH, euros), "team")
    assert sums == {one.outlook.currency: one.outlook.amount for one in teams.wholes}
    [euro] = [one for one in made.groups if one.outlook.currency == "EUR"]
    assert float(euro.outlook.amount) == pytest.approx(came(office), rel=0.01)


def test_days_lead_from_what_is_spent_to_the_end() -> None:
    made = forecast_of(known(WORLD, THROUGH))
    for one in (*made.groups, *made.wholes):
        days = [day for day, _, _, _ in one.steps]
        assert days == days_in(MONTH.first_day, 31)
        assert one.steps[13][1:] == (one.outlook.spent, None, None)
        at = one.outlook.range(80)
        assert one.steps[-1][1:] == (one.outlook.amount, at.low, at.high)
        widths = [high - low for _, _, low, high in one.steps[14:] if low is not None and high is not None]
        assert len(widths) == 17
        assert widths[0] < widths[-1]
    assert made.wholes == forecast_of(known(WORLD, THROUGH), "pool").wholes


def test_the_same_is_foreseen_every_time() -> None:
    first = forecast_of(known(WORLD, THROUGH))
    methods.made_of.cache_clear()
    assert forecast_of(known(WORLD, THROUGH)).groups == first.groups


def alone(spends: Spends) -> Bill:
    return bill_of([series(spends)], None, {"vision"}, {})


def test_what_comes_later_changes_no_forecast_that_was_made_before() -> None:
    """A back-test that peeked would be better than any forecast."""
    steady = noisy(4)
    wild: Spends = lambda day: steady(day) * (9 if day > date(2026, 9, 14) else 1)  # noqa: E731
    said = [
        {(one.month, one.day): (one.forecast, one.run_rate) for one in trials(alone(spends))}
        for spends in (steady, wild)
    ]
    early = [key for key in said[0] if key <= ("2026-09", 14)]
    assert len(early) == 11
    assert {key: said[0][key] for key in early} == {key: said[1][key] for key in early}
    assert said[0]["2026-10", 14] != said[1]["2026-10", 14]


def test_chances_go_from_certain_to_none_and_half_lies_at_the_amount() -> None:
    found = foreseen(noisy(5), 14)
    limits = [found.spent * Decimal("0.9"), found.range(80).low, found.amount, found.range(80).high, found.amount * 9]
    chances = [found.chance_over(limit) for limit in limits]
    assert chances == sorted(chances, reverse=True)
    assert (chances[0], chances[2]) == (Decimal(1), Decimal("0.50"))
    assert (chances[1], chances[3]) == (Decimal("0.90"), Decimal("0.10"))
    assert [cases(Decimal(part)) for part in ("0.72", "0.01", "0.99")] == [
        "in 7 of 10 cases",
        "in fewer than 1 of 20 cases",
        "in more than 19 of 20 cases",
    ]


def test_intervals_hold_as_often_as_they_say_on_months_of_many_seeds() -> None:
    """Over 10 teams, 5 months and 3 days each. Within what as many throws of a coin may differ by, and never far too narrow."""
    teams = [series(noisy(seed), f"team-{seed}") for seed in range(10)]
    found = [one for one in trials(bill_of(teams, None, {one.name for one in teams}, {})) if one.name != WHOLE]
    assert len(found) == 10 * 5 * 3
    held = [sum(one.within[level] for one in found) / len(found) for level in range(3)]
    assert 0.42 <= held[0] <= 0.75
    assert 0.74 <= held[1] <= 0.95
    assert 0.90 <= held[2] <= 1.0
    off = sum(abs(float(one.forecast - one.came)) for one in found)
    assert off < 0.7 * sum(abs(float(one.before - one.came)) for one in found)


def test_a_back_test_counts_errors_as_plain_sums_do() -> None:
    made = backtest_of(known(WORLD, MONTH.last_day))
    assert made.months == ("2026-06", "2026-07", "2026-08", "2026-09", "2026-10")
    vision = [one for one in made.trials if (one.name, one.day) == ("vision", 14)]
    spends = [sum(WORLD["vision", pool](day) for pool in ("h100", "disks")) for day in days_in(date(2026, 6, 1), 30)]
    assert float(vision[0].came) == pytest.approx(sum(spends), abs=0.5)
    assert float(vision[0].run_rate) == pytest.approx(sum(spends[:14]) * 30 / 14, abs=0.5)
    [scored] = [one for one in made.scores if (one.name, one.day) == ("vision", 14)]
    off = sum(abs(float(one.forecast - one.came)) for one in vision) / sum(float(one.came) for one in vision)
    assert scored.error is not None
    assert float(scored.error) == pytest.approx(off, abs=1e-6)
    whole = [one for one in made.trials if (one.name, one.day, one.month) == (WHOLE, 14, "2026-06")]
    own = [one for one in made.trials if one.name != WHOLE and (one.day, one.month) == (14, "2026-06")]
    assert [one.forecast for one in whole] == [total(one.forecast for one in own)]


def days_in(first: date, count: int) -> list[date]:
    return [first + timedelta(days=n) for n in range(count)]


def test_one_month_alone_cannot_be_tried() -> None:
    through = date(2026, 5, 31)
    made = backtest_of(known({("vision", "gpus"): office}, through))
    assert (made.is_better, made.every) == (None, ())
