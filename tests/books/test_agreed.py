"""Policies by content and day, and the plan that `apply` will post."""

from decimal import Decimal

import pytest
from sqlalchemy import update

from apportion.books import record
from apportion.books.database import writing
from apportion.books.open import Books, StoredPlan, StoredPolicy
from apportion.errors import BooksError
from apportion.model.times import Period
from tests.books.rows import bill_days, postings, run


def plan(digest: str = "d1", amount: str = "1", period: str = "2026-10") -> StoredPlan:
    return StoredPlan(
        digest,
        period,
        "v1",
        {"usage": 7},
        "h",
        postings([("a", amount)], period),
        bill_days(amount),
        {"tally": "1 to post"},
    )


def test_a_policy_is_saved_once_and_keeps_its_first_text(books: Books) -> None:
    books.save_policy("v1", "a: 1\n", "policy.yaml", "lab", "2026-10-01")
    books.save_policy("v1", "a:   1\n", "other.yaml", "lab", "2026-10-01")
    assert books.policies() == [StoredPolicy("v1", "a: 1\n", "policy.yaml", "lab", "2026-10-01")]


def test_the_policy_of_a_period_is_the_last_that_came_into_force(books: Books) -> None:
    for version, day in (
        ("v1", "2026-01-01"),
        ("v3", "2026-11-01"),
        ("v2", "2026-10-01"),
        ("v2b", "2026-10-01"),
        ("mid", "2026-10-02"),
    ):
        books.save_policy(version, version, "policy.yaml", "lab", day)
    versions = {period: books.policy_for(Period(2026, period)) for period in (1, 9, 10, 11, 12)}
    assert {period: policy.version for period, policy in versions.items() if policy} == {
        1: "v1",
        9: "v1",
        10: "v2b",
        11: "v3",
        12: "v3",
    }
    assert books.policy_for(Period(2025, 12)) is None


def test_the_last_plan_of_a_period_is_kept_whole(books: Books) -> None:
    assert books.load_plan("2026-10") is None
    books.save_plan(plan())
    books.save_plan(plan("d2", "0.000000000000000001"))
    books.save_plan(plan("d3", "3", "2026-11"))
    loaded = books.load_plan("2026-10")
    assert loaded is not None
    assert (loaded.digest, loaded.inputs, loaded.head, loaded.summary) == (
        "d2",
        {"usage": 7},
        "h",
        {"tally": "1 to post"},
    )
    assert loaded.postings.equals(plan("d2", "0.000000000000000001").postings)
    assert loaded.bill_days["amount"].to_pylist() == [Decimal("1E-18")]


def test_a_plan_that_was_posted_stays_beside_later_ones(books: Books) -> None:
    books.save_plan(plan("plan-1"))
    books.post(run(books, [("a", "1")], "1"))
    books.save_plan(plan("d2"))
    books.save_plan(plan("d3"))
    with books.engine.connect() as connection:
        assert sorted(row.digest for row in connection.execute(record.plans.select())) == ["d3", "plan-1"]


def test_a_changed_plan_is_not_loaded(books: Books) -> None:
    books.save_plan(plan())
    with writing(books.engine) as connection:
        connection.execute(update(record.plans).values(head="i"))
    with pytest.raises(BooksError, match="damaged-plan"):
        books.load_plan("2026-10")
    assert [finding.code for finding in books.verify()] == ["plan-changed"]
