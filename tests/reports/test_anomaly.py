"""Days that stand out: told once they stand out in every way, and else not a word."""

from datetime import date, timedelta
from decimal import Decimal

from apportion.reports.anomaly import Anomaly, anomaly_report, stands_out

FIRST = date(2026, 10, 1)
DAY = date(2026, 11, 12)


def days(usual: int = 200, **others: int) -> dict[date, dict[str, Decimal]]:
    """Six weeks of about the same, but for days given as `d_2026_11_12=900`."""
    found = {}
    for n in range(45):
        day = FIRST + timedelta(days=n)
        amount = others.get(f"d_{day:%Y_%m_%d}", usual + n % 3)
        found[day] = {"gpus": Decimal(amount - 50), "disks": Decimal(50)}
    return found


def found(spent: dict[date, dict[str, Decimal]], day: date = DAY) -> list[Anomaly]:
    return stands_out("vision", "USD", spent, [day])


def test_a_wild_day_is_told_with_how_much_and_where() -> None:
    [one] = found(days(d_2026_11_12=900))
    assert (one.amount, one.usual, one.pool, one.pool_above) == (Decimal(900), Decimal("201.5"), "gpus", Decimal(699))
    assert one.sentence == (
        "vision spent 900.00 USD on 2026-11-12, 698.50 USD above its usual 201.50 USD; most of it in gpus (699.00 USD)."
    )
    assert anomaly_report([one]).title == "1 day stands out."


def test_usual_days_little_more_and_small_change_are_no_news() -> None:
    assert found(days()) == []
    assert found(days(d_2026_11_12=290)) == []  # less than half as much again
    assert found(days(usual=60, d_2026_11_12=150)) == []  # less than a hundred more
    assert anomaly_report([]).title == "No day stands out."


def test_what_is_usual_on_that_weekday_or_day_of_the_month_is_no_news() -> None:
    weekly = {f"d_{DAY - timedelta(days=7 * n):%Y_%m_%d}": 900 for n in range(5)}
    assert found(days(**weekly)) == []
    assert found(days(d_2026_11_12=900, d_2026_10_12=900)) == []
    assert len(found(days(d_2026_11_12=900, d_2026_10_13=900))) == 1  # one wild day does not make the next usual


def test_whoever_is_always_wild_or_new_is_not_told() -> None:
    restless = {day: {"gpus": Decimal(100 if day.day % 2 else 1000)} for day in days()}
    assert found(restless, date(2026, 11, 12)) == []
    young = {day: pools for day, pools in days(d_2026_11_12=900).items() if day > date(2026, 11, 1)}
    assert found(young) == []
    assert stands_out("vision", "USD", {}, [DAY]) == []
