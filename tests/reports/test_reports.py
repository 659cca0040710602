"""Every report counts every posted row once."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.model.money import plain
from apportion.reports.coverage import coverage
from apportion.reports.groups import DIMENSIONS
from apportion.reports.idle import idle
from apportion.reports.report import Report
from apportion.reports.showback import showback
from apportion.reports.sums import less, total
from apportion.reports.trend import trend
from apportion.reports.words import add_up, places, rounded, shown
from tests.reports.record import BILL, record, row


def column(report: Report, name: str, section: int = 0) -> list[object]:
    at = [column.name for column in report.columns].index(name)
    return [cells[at] for cells in report.sections[section].rows]


def amounts(report: Report, section: int = 0) -> list[Decimal]:
    return [cell for cell in column(report, "amount", section) if isinstance(cell, Decimal)]


@pytest.mark.parametrize("by", sorted(DIMENSIONS))
def test_showback_adds_up_to_the_bill_whatever_it_is_grouped_by(by: str) -> None:
    report = showback(record(), by)
    assert plain(report.sections[0].bill) == BILL
    assert plain(total(amounts(report))) == BILL


def test_showback_by_team_lists_owners_by_amount_and_the_system_last() -> None:
    report = showback(record())
    assert column(report, "owner") == ["vision", "speech", "office", "_idle", "_unallocated", "_residual"]
    assert [plain(amount) for amount in amounts(report)] == [
        "590.666666666",
        "290.333333333",
        "10.000000001",
        "108.5",
        "0.5",
        "0.0000000001",
    ]
    assert column(report, "department") == ["research", "research", "central", "", "", ""]
    assert report.title == "3 teams owe 891.00 USD of the bill of 1,000.00 USD for 2026-10; 10.8 % stays with _idle."
    assert report.head == "a" * 64


def test_showback_reasons_add_up_to_each_amount() -> None:
    report = showback(record())
    names = [column.name for column in report.columns]
    for cells in report.sections[0].rows:
        line = dict(zip(names, cells, strict=True))
        parts = [cell for name, cell in line.items() if isinstance(cell, Decimal) and name not in ("amount", "share")]
        assert total(parts) == line["amount"]


def test_showback_by_user_keeps_teams_and_the_nameless_apart() -> None:
    report = showback(record(), "user")
    assert column(report, "owner")[:3] == ["vision/ann", "speech/(none)", "office/(none)"]


def test_currencies_are_never_added() -> None:
    report = showback(record(row("1.5"), row("2", currency="EUR", bill="b 2026-10 EUR", team="_idle")))
    assert [(section.currency, plain(section.bill)) for section in report.sections] == [("EUR", "2"), ("USD", "1.5")]
    assert "0 teams owe 0.00 EUR of the bill of 2.00 EUR" in report.title


def test_sums_keep_more_digits_than_a_python_decimal_does() -> None:
    report = showback(
        record(row("99999999999999999999.000000000000000001"), row("0.000000000000000001", team="speech"))
    )
    assert plain(report.sections[0].bill) == "99999999999999999999.000000000000000002"


def test_trend_by_day_tells_sides_and_change() -> None:
    report = trend(record())
    assert column(report, "day") == ["2026-10-01", "2026-10-02", "2026-10-03", "2026-10-31"]
    assert plain(total(amounts(report))) == BILL
    assert [None if cell is None else plain(cell) for cell in column(report, "change")][:2] == [None, "-990.333333334"]  # type: ignore[arg-type]
    assert "the highest is 2026-10-01" in report.title


def test_trend_by_month_and_of_one_team() -> None:
    assert column(trend(record(), "month"), "month") == ["2026-10"]
    assert plain(total(amounts(trend(record(), owner="speech")))) == "290.333333333"
    assert trend(record(), owner="nobody").sections == ()


def test_idle_names_pool_cause_and_who_carries_it() -> None:
    report = idle(record(), {"_idle": "ml-platform"})
    assert [cells[:4] for cells in report.sections[0].rows] == [
        ("h100", "down", "_idle", "ml-platform"),
        ("h100", "held", "speech", ""),
        ("h100", "unsold", "_idle", "ml-platform"),
    ]
    assert plain(report.sections[0].bill) == "148.5"
    assert "(14.8 %)" in report.title


def test_coverage_is_stated_in_money_by_cause() -> None:
    report = coverage(record())
    assert [cells[:3] for cells in report.sections[0].rows] == [
        ("owners", "", ""),
        ("idle", "down", "h100"),
        ("idle", "unsold", "h100"),
        ("unallocated", "no owner", "h100"),
        ("unallocated", "no pool", ""),
        ("residual", "rounding", ""),
    ]
    assert plain(total(amounts(report))) == BILL
    assert report.title.startswith("89.1 % of the bill of 1,000.00 USD for 2026-10 has an owner")


@pytest.mark.parametrize("report", [showback, trend, idle, coverage])
def test_an_empty_month_is_said_not_shown(report: object) -> None:
    made = report(record(row("1"))).__class__  # type: ignore[operator]
    assert made is Report
    empty = record(row("1"))
    bare = type(empty)(empty.period, empty.posted.slice(0, 0), empty.head)
    assert report(bare).title == "Nothing is posted for 2026-10."  # type: ignore[operator]
    assert report(bare).sections == ()  # type: ignore[operator]


MONEY = st.decimals(min_value=-(10**12), max_value=10**12, places=12, allow_nan=False, allow_infinity=False)


@given(st.lists(MONEY, max_size=8), st.sampled_from(["USD", "JPY", "KWD"]))
def test_shown_figures_add_up_and_stay_within_a_minor_unit(values: list[Decimal], currency: str) -> None:
    figures = add_up(values, currency)
    assert sum(figures, Decimal(0)) == rounded(total(values), currency)
    unit = Decimal(1).scaleb(-places(currency))
    assert all(abs(figure - value) < unit for figure, value in zip(figures, values, strict=True))


def test_money_in_sentences() -> None:
    assert shown(Decimal("-0.004"), "USD") == "0.00 USD"
    assert shown(Decimal("-1234567.005"), "USD") == "-1,234,567.00 USD"
    assert shown(Decimal("1234.5"), "JPY") == "1,234 JPY"
    assert shown(Decimal("1.0005"), "KWD") == "1.000 KWD"


def test_a_difference_keeps_every_digit() -> None:
    """A posting may have 38 digits; Python's decimals keep 28 of them unless told."""
    large = Decimal("12345678901.123456789012345678")
    assert less(large, large) == 0
    assert less(large, Decimal("0.000000000000000001")) == Decimal("12345678901.123456789012345677")
    assert less(Decimal(0), large) == large.copy_negate()
