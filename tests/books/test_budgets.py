"""Budgets: the last one of a month holds from it on, 0 ends it, nothing is edited, and the audit log covers every one."""

from decimal import Decimal

import pytest
from sqlalchemy import text

from apportion.books.audit import acting
from apportion.books.budgets import Budget
from apportion.books.database import writing
from apportion.books.open import Books


def put(books: Books, owner: str, since: str, amount: int) -> Budget:
    team, _, project = owner.partition("/")
    return books.budgets.set(Budget(team, project, since, "USD", Decimal(amount), "agreed"))


def held(books: Books, period: str) -> dict[str, int]:
    return {one.owner: int(one.amount) for one in books.budgets.holding(period)}


def test_the_last_of_a_month_holds_until_another_begins(books: Books) -> None:
    for owner, since, amount in [
        ("vision", "2026-10", 100),
        ("vision", "2026-12", 300),
        ("vision", "2026-10", 200),
        ("vision/detect", "2026-10", 50),
        ("speech", "2026-11", 70),
    ]:
        put(books, owner, since, amount)
    assert held(books, "2026-09") == {}
    assert held(books, "2026-10") == {"vision": 200, "vision/detect": 50}
    assert held(books, "2026-11") == {"speech": 70, "vision": 200, "vision/detect": 50}
    assert held(books, "2027-03") == {"speech": 70, "vision": 300, "vision/detect": 50}
    put(books, "vision", "2027-01", 0)
    assert held(books, "2027-03") == {"speech": 70, "vision/detect": 50}
    assert held(books, "2026-12")["vision"] == 300
    assert len(books.budgets.all()) == 6


def test_who_set_it_is_kept_and_noted(books: Books) -> None:
    before = books.state()
    with acting("grace"):
        made = put(books, "speech/asr", "2026-10", 1200)
    assert (made.who, made.owner) == ("grace", "speech/asr")
    last = books.audit()[-1]
    assert (last.who, last.what, last.why) == ("grace", "budget", "agreed")
    assert "speech/asr: 1200 USD a month since 2026-10" in last.detail
    assert books.state() != before
    assert books.verify() == []


@pytest.mark.parametrize(
    "change", ["UPDATE budgets SET amount = '9'", "UPDATE budgets SET why = ''", "DELETE FROM budgets"]
)
def test_a_changed_budget_is_found(books: Books, change: str) -> None:
    put(books, "vision", "2026-10", 100)
    with writing(books.engine) as connection:
        for action in ("update", "delete"):
            on = " ON budgets" if connection.dialect.name == "postgresql" else ""
            connection.execute(text(f"DROP TRIGGER budgets_no_{action}{on}"))
        connection.execute(text(change))
    assert {finding.code for finding in books.verify()} == {"budget-changed"}
