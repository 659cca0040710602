"""One-off credits: what one is spared another pays, inside every bill, once."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import apportion
from apportion.errors import ApportionError
from apportion.verbs.adjust import Wish
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from apportion.verbs.transfers import spread
from tests.conftest import LONG
from tests.disputes.small import bill, entries, owed, post, sums

WISH = Wish("vision", "office", "30.00", "node 7 was down", "head of research")


def test_a_credit_is_spread_over_what_is_owed_and_every_bill_stays(project: Project) -> None:
    before = sums(entries(project), "bill", "component", "day")
    done = apportion.adjust(project, "2026-09", WISH)
    assert (done.posted, done.booked) == (True, "2026-09")
    mine = [row for row in entries(project) if row["run_id"] == done.transfer.run_id]
    # 30.00 over 45, 15 and 30.004 of 90.004: 14.9993, 4.9998 and 10.0009 cents' worth, largest remainder
    assert sums([row for row in mine if row["team"] == "vision"], "bill", "pool") == {
        ("Nimbus 2026-09 USD", "rest"): Decimal("-15.00"),
        ("Nimbus 2026-09 USD", "disks"): Decimal("-5.00"),
        ("Cirrus 2026-09 USD", "rest"): Decimal("-10.00"),
    }
    assert owed(project, "2026-09") == {"vision": Decimal("60.004"), "speech": Decimal(40), "office": Decimal(30)}
    after = sums(entries(project), "bill", "component")
    assert after == {key: sum(value for known, value in before.items() if known[:2] == key) for key in after}
    assert {(row["team"], row["reason"]) for row in mine} == {("vision", "credit"), ("office", "subsidy")}
    assert {row["cause"] for row in mine} == {f"{done.transfer.run_id}: node 7 was down"}
    assert {row["cost_centre"] for row in mine if row["team"] == "office"} == {"9"}
    assert apportion.verify(project).sound


def test_it_is_noted_with_its_reason_and_approver(project: Project) -> None:
    done = apportion.adjust(project, "2026-09", WISH)
    assert project.books.audit()[-1].why == "node 7 was down (approved by head of research)"
    (kept,) = project.books.transfers()
    assert kept == done.transfer
    assert (kept.owner, kept.other, kept.amount, kept.approver) == ("vision", "office", Decimal(30), "head of research")
    steps = apportion.explain(project, "office", "2026-09").steps
    (node,) = next(one for one in steps if one.text.startswith("decided")).steps
    assert node.text == (
        "30.00 USD booked in 2026-09: credited to vision, paid by office, because of 'node 7 was down', approved by head of research"
    )


def test_both_sides_statements_show_it(project: Project) -> None:
    apportion.adjust(project, "2026-09", WISH)
    apportion.close(project, "2026-09")
    spared, pays = (statements(project, Wanted("2026-09", owner=team))[0] for team in ("vision", "office"))
    said = {(one.why, one.approver) for one in (*spared.adjustments, *pays.adjustments)}
    assert said == {("node 7 was down", "head of research")}
    assert {(one.side, one.other) for one in spared.adjustments} == {("received", "office")}
    assert {(one.side, one.other) for one in pays.adjustments} == {("given", "vision")}
    assert (sum(one.amount for one in spared.adjustments), sum(one.amount for one in pays.adjustments)) == (-3000, 3000)
    assert (spared.owed, pays.owed) == (6000, 3000)


def test_the_same_twice_is_one_and_a_reference_makes_another(project: Project) -> None:
    first = apportion.adjust(project, "2026-09", WISH)
    again = apportion.adjust(project, "2026-09", replace(WISH, amount="30"))
    assert (again.posted, again.transfer, again.head) == (False, first.transfer, first.head)
    other = apportion.adjust(project, "2026-09", replace(WISH, reference="ticket 2"))
    assert other.posted
    assert owed(project, "2026-09")["office"] == 60


def test_of_a_closed_month_it_is_booked_in_the_next_and_stays_one(project: Project) -> None:
    assert apportion.adjust(project, "2026-09", WISH).booked == "2026-09"
    closed = apportion.close(project, "2026-09").closed
    assert closed is not None
    assert sum(row["amount"] for row in closed.minor.to_pylist()) == 13000  # 130.004, rounded once
    assert sum(row["amount"] for row in closed.minor.to_pylist() if row["reason"] == "subsidy") == 3000
    assert not apportion.adjust(project, "2026-09", WISH).posted
    later = apportion.adjust(project, "2026-09", replace(WISH, reference="2"))
    assert later.booked == "2026-10"
    run = project.books.runs()[-1]
    assert (run.kind, run.period, run.about) == ("credit", "2026-10", "2026-09")
    assert owed(project, "2026-10") == {"vision": Decimal(-30), "office": Decimal(30)}
    assert project.books.closed("2026-09") == closed
    assert apportion.verify(project).sound


def test_a_later_correction_leaves_a_credit_alone(project: Project) -> None:
    """A credit is no part of what the evidence says, so that computing the month again does not undo it."""
    apportion.close(project, "2026-09")
    apportion.adjust(project, "2026-09", WISH)
    bill(project.folder, "2026-09", [("vision", "Compute", "31.004")], "Cirrus")
    post(project, "2026-09")
    assert owed(project, "2026-10") == {"vision": Decimal(-29), "office": Decimal(30)}
    assert not apportion.plan(project, "2026-09").pending


def test_bill_pool_project_and_user_narrow_it(project: Project) -> None:
    apportion.adjust(project, "2026-09", replace(WISH, bill="Cirrus 2026-09 USD", amount="7.5"))
    apportion.adjust(project, "2026-09", replace(WISH, pool="disks", amount="2"))
    bill(project.folder, "2026-09", [("vision", "Compute", "8")], project="folding")
    post(project, "2026-09")
    apportion.adjust(project, "2026-09", replace(WISH, owner="vision/folding", amount="8"))
    given = [row for row in entries(project) if row["reason"] == "credit"]
    assert sums(given, "bill", "pool", "project") == {
        ("Cirrus 2026-09 USD", "rest", ""): Decimal("-7.5"),
        ("Nimbus 2026-09 USD", "disks", ""): Decimal(-2),
        ("Nimbus 2026-09 USD", "rest", "folding"): Decimal(-8),
    }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"amount": "90.01"}, "credit-too-large"),
        ({"amount": "30.001"}, "invalid-amount"),
        ({"amount": "-3"}, "invalid-amount"),
        ({"amount": "many"}, "invalid-number"),
        ({"owner": "visoin"}, "unknown-owner"),
        ({"sponsor": "_idle"}, "unknown-owner"),
        ({"sponsor": "vision"}, "same-owner"),
        ({"bill": "Stratus"}, "nothing-owed"),
        ({"pool": "disk"}, "nothing-owed"),
        ({"why": " "}, "no-reason"),
    ],
)
def test_what_is_refused_posts_nothing(project: Project, change: dict[str, str], code: str) -> None:
    head = project.books.head()
    with pytest.raises(ApportionError) as told:
        apportion.adjust(project, "2026-09", replace(WISH, **change))
    assert told.value.code == code
    assert project.books.head() == head


def test_credits_are_at_most_what_is_left(project: Project) -> None:
    apportion.adjust(project, "2026-09", replace(WISH, amount="60"))
    with pytest.raises(ApportionError, match="credit-too-large"):
        apportion.adjust(project, "2026-09", replace(WISH, amount="30.01"))
    with pytest.raises(ApportionError, match="nothing-posted"):
        apportion.adjust(project, "2026-10", WISH)


AMOUNTS = st.decimals("-50", "1000", places=3)


@given(st.lists(AMOUNTS, min_size=1, max_size=8), st.integers(1, 10_000))
@settings(max_examples=60 if LONG else 25, deadline=None)
def test_a_spread_adds_up_and_follows_what_is_owed(amounts: list[Decimal], cents: int) -> None:
    rows = [
        {"amount": amount, "bill": str(n), "component": "", "pool": "", "day": "", "cost_centre": "", "department": "", "team": "", "project": "", "user": ""}
        for n, amount in enumerate(amounts)
    ]  # fmt: skip
    positive = sum((Fraction(amount) for amount in amounts if amount > 0), Fraction(0))
    if not positive:
        return
    amount = Decimal(cents).scaleb(-2)
    parts = {row["bill"]: part for row, part in spread(rows, amount)}
    assert sum(parts.values()) == amount
    for n, owes in enumerate(amounts):
        wanted = Fraction(amount) * max(Fraction(0), Fraction(owes)) / positive
        assert abs(Fraction(parts.get(str(n), Decimal(0))) - wanted) < Fraction(1, 100)
