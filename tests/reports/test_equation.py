"""The equation, the difference to what is posted, and a job's part of it."""

from datetime import date
from decimal import Decimal

import pyarrow as pa
import pytest

from apportion.errors import InvariantError
from apportion.model.money import plain
from apportion.model.rows import CHARGES
from apportion.reports.changes import changes, tally
from apportion.reports.equation import by_currency, equations
from apportion.reports.job import job_lines
from apportion.reports.sums import total
from tests.reports.record import BILL, MONTH, record, row

ACME = "acme 2026-10 USD"


def test_the_equation_in_minor_units_that_add_up_as_shown() -> None:
    made = equations(record().posted, [(ACME, "USD", Decimal(BILL))])
    assert made[0].holds
    assert (
        made[0].sentence()
        == f"{ACME} 1,000.00 USD = owners 891.00 + _idle 108.50 + _unallocated 0.50 + _residual 0.00 ✓"
    )


def test_a_bill_that_does_not_add_up_is_never_shown() -> None:
    with pytest.raises(InvariantError, match=r"acme 2026-10 USD: what is posted: expected 999, found 1000\.0000000001"):
        equations(record().posted, [(ACME, "USD", Decimal(999))])
    with pytest.raises(InvariantError, match="expected 5, found 0"):
        equations(record().posted.slice(0, 0), [("other", "USD", Decimal(5))])


def test_equations_of_a_currency_add_up_and_currencies_do_not() -> None:
    posted = record(row("1"), row("2", bill="b", team="_idle"), row("4", bill="c", currency="EUR")).posted
    totals = by_currency(
        equations(posted, [(ACME, "USD", Decimal(1)), ("b", "USD", Decimal(2)), ("c", "EUR", Decimal(4))])
    )
    assert [(one.currency, int(one.total), int(one.owners), int(one.idle)) for one in totals] == [
        ("EUR", 4, 4, 0),
        ("USD", 3, 1, 2),
    ]


def test_changes_say_who_and_why() -> None:
    before = record(row("10"), row("5", team="speech"), row("3", team="old")).posted
    after = record(
        row("10"), row("6.5", team="speech"), row("-1", team="speech", pool="storage"), row("2", team="new")
    ).posted
    made = {change.owner: (change.sign, change.change, change.why) for change in changes(before, after)}
    assert made == {
        "vision": (" ", 0, ""),
        "speech": ("~", Decimal("0.5"), "h100 usage +1.50 USD, and 1 other part"),
        "old": ("-", -3, "h100 usage -3.00 USD"),
        "new": ("+", 2, "h100 usage +2.00 USD"),
    }
    assert (
        tally(changes(before, after), "2026-10") == "3 owners: 1 to add, 1 to change, 1 to remove; -0.50 USD in total."
    )
    assert tally(changes(before, before), "2026-10").startswith("Nothing changes")


def test_money_that_only_moves_inside_an_owner_is_a_change_too() -> None:
    before, after = record(row("1"), row("2", pool="b")).posted, record(row("2"), row("1", pool="b")).posted
    assert [(change.sign, plain(change.change)) for change in changes(before, after)] == [("~", "0")]


def charge(amount: str, workload: str, **more: object) -> dict[str, object]:
    key = {
        "period": "2026-10",
        "bill": ACME,
        "component": "compute",
        "pool": "h100",
        "day": date(2026, 10, 1),
        "reason": "usage",
    }
    owner = {"team": "vision", "project": "p1", "user": "ann", "unit_seconds": Decimal(1)}
    return {**key, **owner, **more, "workload": workload, "amount": Decimal(amount)}


def test_the_jobs_of_a_team_share_all_that_it_owes() -> None:
    """Idle by pool, overhead over all, adjustments by pool, day and owner, credits only among jobs with that outcome."""
    own = {"project": "p1", "user": "ann"}
    posted = record(
        row("90", **own),
        row("30", reason="idle", cause="unsold"),
        row("12", reason="overhead", pool="rest"),
        row("-9", reason="adjustment", **own),
        row("-5", reason="credit", cause="node_fail", **own),
        row("60", team="_idle", reason="idle", cause="unsold"),
    ).posted
    charges = pa.Table.from_pylist([charge("60", "a"), charge("20", "b"), charge("10", "c")], schema=CHARGES)
    outcomes = {"a": "completed", "b": "node_fail", "c": "node_fail"}
    lines = job_lines(charges, ["a", "b", "c"], posted, outcomes)
    figures = [
        [plain(part) for part in (line.direct, line.idle, line.overhead, line.adjustments, line.unshared_idle)]
        for line in lines
    ]
    assert figures == [
        ["60", "20", "8", "-6", "40"],
        ["20", "6.666666667", "2.666666667", "-2", "13.333333333"],
        ["10", "3.333333333", "1.333333333", "-1", "6.666666667"],
    ]
    assert [line.credits for line in lines] == [0, Decimal("-3.333333333"), Decimal("-1.666666667")]
    assert total(line.owed for line in lines) == Decimal(90 + 30 + 12 - 9 - 5)


def test_a_job_alone_is_a_part_of_the_same() -> None:
    posted = record(row("80", project="p1", user="ann"), row("16", reason="overhead", pool="rest")).posted
    charges = pa.Table.from_pylist([charge("60", "a"), charge("20", "b")], schema=CHARGES)
    (line,) = job_lines(charges, ["b"], posted, {})
    assert (line.workload, line.currency, plain(line.with_overhead)) == ("b", "USD", "24")


def test_the_month_used_here_is_the_one_of_the_reports() -> None:
    assert total(amount for line in MONTH if isinstance(amount := line["amount"], Decimal)) == Decimal(BILL)
