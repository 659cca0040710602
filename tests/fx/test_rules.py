"""Which rate a bill is converted by: worked by hand on a few days of October 2026, of which the 31st is a Saturday."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest

from apportion.engine.exchange import Exchange, Rate, days_asked, read_quotes
from apportion.errors import PolicyError
from apportion.model.rows import RATES
from apportion.model.times import Period, parse_instant
from apportion.policy.load import load_policy

OCTOBER = Period(2026, 10)
NOVEMBER = parse_instant("2026-11-01T00:00:00Z")


def exchange(rule: str, *rows: tuple[str, str, str, str], currency: str = "USD") -> Exchange:
    """Rows: day, from, to, rate."""
    text = (
        f"policy: p\neffective: 2026-10-01\ncurrency: {currency}\ntime_zone: UTC\nfx: {{table: fx.csv, rate: {rule}}}\n"
    )
    made = [
        {"source": "fx", "base": base, "currency": into, "day": date.fromisoformat(day), "rate": Decimal(rate)}
        for day, base, into, rate in rows
    ]
    return Exchange(load_policy(text, "policy.yaml"), OCTOBER, read_quotes(pa.Table.from_pylist(made, RATES)))


def day(text: str) -> date:
    return date.fromisoformat(text)


def test_month_average_is_the_mean_of_the_month_alone() -> None:
    found = exchange(
        "month_average",
        ("2026-09-30", "EUR", "USD", "9"),
        ("2026-10-01", "EUR", "USD", "1.1"),
        ("2026-10-02", "EUR", "USD", "1.2"),
        ("2026-10-30", "EUR", "USD", "1.2"),
        ("2026-11-02", "EUR", "USD", "9"),
    ).rate("EUR", NOVEMBER)
    # 3.5 / 3 in twelve places.
    assert found == Rate(Decimal("1.166666666667"), (day("2026-10-01"), day("2026-10-02"), day("2026-10-30")))


def test_month_end_is_the_last_on_or_before_the_last_day() -> None:
    rows = [("2026-10-29", "EUR", "USD", "1.1"), ("2026-10-30", "EUR", "USD", "1.2"), ("2026-11-01", "EUR", "USD", "9")]
    assert exchange("month_end", *rows).rate("EUR", NOVEMBER) == Rate(Decimal("1.2"), (day("2026-10-30"),))


def test_invoice_date_is_the_day_after_the_billing_period_or_the_last_before_it() -> None:
    rows = [("2026-10-30", "EUR", "USD", "1.2"), ("2026-11-02", "EUR", "USD", "1.3")]
    assert exchange("invoice_date", *rows).rate("EUR", NOVEMBER).days == (day("2026-10-30"),)
    sunday = exchange("invoice_date", *rows, ("2026-11-01", "EUR", "USD", "1.25"))
    assert sunday.rate("EUR", NOVEMBER) == Rate(Decimal("1.25"), (day("2026-11-01"),))


@pytest.mark.parametrize("midnight", ["2026-11-01T07:00:00Z", "2026-10-31T15:00:00Z", "2026-11-01T00:00:00Z"])
def test_a_vendor_whose_midnight_is_elsewhere_issues_on_the_same_day(midnight: str) -> None:
    rows = [("2026-10-31", "EUR", "USD", "1"), ("2026-11-01", "EUR", "USD", "2"), ("2026-11-02", "EUR", "USD", "3")]
    assert exchange("invoice_date", *rows).rate("EUR", parse_instant(midnight)).rate == 2
    assert days_asked(OCTOBER, parse_instant(midnight)) == (day("2026-09-24"), day("2026-11-01"))


@pytest.mark.parametrize(("last", "known"), [("2026-10-24", True), ("2026-10-23", False)])
def test_a_rate_of_over_seven_days_ago_is_missing(last: str, *, known: bool) -> None:
    asked = exchange("month_end", (last, "EUR", "USD", "1.2"))
    if known:
        assert asked.rate("EUR", NOVEMBER).days == (day(last),)
        return
    with pytest.raises(PolicyError) as refused:
        asked.rate("EUR", NOVEMBER)
    assert refused.value.code == "no-rate"
    assert refused.value.where == "policy.yaml:5"
    for word in ("EUR", "USD", "2026-10-24", "2026-10-31", "fx.csv", "month_end"):
        assert word in refused.value.message


@pytest.mark.parametrize("rule", ["month_average", "month_end", "invoice_date"])
def test_without_any_rate_every_rule_refuses(rule: str) -> None:
    with pytest.raises(PolicyError, match="no-rate"):
        exchange(rule, ("2026-10-30", "EUR", "JPY", "160")).rate("EUR", NOVEMBER)


def test_a_pair_is_turned_round_and_goes_through_what_both_are_stated_against() -> None:
    rows = [("2026-10-30", "EUR", "USD", "1.2"), ("2026-10-30", "EUR", "GBP", "0.9")]
    assert exchange("month_end", *rows, currency="EUR").rate("USD", NOVEMBER).rate == Decimal("0.833333333333")
    assert exchange("month_end", *rows).rate("GBP", NOVEMBER).rate == Decimal("1.333333333333")
    # Stated the other way round: a pound is 1.25 euro, a dollar 0.8 euro; a pound is 1.5625 dollars.
    turned = [("2026-10-30", "GBP", "EUR", "1.25"), ("2026-10-30", "USD", "EUR", "0.8")]
    assert exchange("month_end", *turned).rate("GBP", NOVEMBER).rate == Decimal("1.5625")


def test_what_is_stated_wins_over_what_follows() -> None:
    rows = [
        ("2026-10-30", "EUR", "USD", "1.2"),
        ("2026-10-30", "EUR", "GBP", "0.8"),
        ("2026-10-30", "USD", "GBP", "0.5"),
        ("2026-10-30", "GBP", "USD", "1.7"),
    ]
    assert exchange("month_end", *rows).rate("GBP", NOVEMBER).rate == Decimal("1.7")
    assert exchange("month_end", *rows[:3]).rate("GBP", NOVEMBER).rate == 2
    assert exchange("month_end", *rows[:2]).rate("GBP", NOVEMBER).rate == Decimal("1.5")


def test_the_average_of_turned_rates_is_the_mean_of_the_turned_ones() -> None:
    """What a bill converted on each of the days would have cost on average, not the reverse of the average."""
    rows = [("2026-10-01", "EUR", "USD", "1"), ("2026-10-02", "EUR", "USD", "2")]
    assert exchange("month_average", *rows, currency="EUR").rate("USD", NOVEMBER).rate == Decimal("0.75")


def test_a_rate_is_rounded_once_half_to_even() -> None:
    half = [("2026-10-01", "EUR", "USD", "1.000000000000"), ("2026-10-02", "EUR", "USD", "1.000000000001")]
    assert exchange("month_average", *half).rate("EUR", NOVEMBER).rate == Decimal("1.000000000000")
    odd = [("2026-10-01", "EUR", "USD", "1.000000000001"), ("2026-10-02", "EUR", "USD", "1.000000000002")]
    assert exchange("month_average", *odd).rate("EUR", NOVEMBER).rate == Decimal("1.000000000002")
    with pytest.raises(PolicyError, match="no-rate"):  # nothing is left of it in twelve places
        exchange("month_end", ("2026-10-30", "EUR", "USD", "0.0000000000001")).rate("EUR", NOVEMBER)


def test_quotes_are_exact() -> None:
    quotes = exchange("month_end", ("2026-10-30", "EUR", "USD", "1.083")).quotes
    assert quotes.on(day("2026-10-30"), ("USD", "EUR")) == Fraction(1000, 1083)
    assert quotes.on(day("2026-10-29"), ("USD", "EUR")) is None
