"""The ledger a page at a time, on both databases: the same rows as reading all of it, users by name, links checked."""

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

from apportion.books.browse import Sought
from apportion.books.open import Books
from apportion.model.rows import POSTINGS
from tests.books.rows import run

MONTH = "2026-10"


@pytest.fixture
def posted(books: Books) -> Books:
    made = run(books, [("vision", "10.10"), ("speech", "5.05"), ("_idle", "0.85")], "16.00")
    users = pa.array(["ada", "grace", ""], pa.string())
    place = POSTINGS.names.index("user")
    books.post(replace(made, postings=made.postings.set_column(place, POSTINGS.field(place), users)))
    return books


def test_pages_are_the_whole_newest_first(posted: Books) -> None:
    sought = Sought((MONTH,))
    whole = [row for row in posted.entries(period=MONTH).to_pylist() if not row["account"].startswith("bill:")]
    first = posted.browse.page(sought, None, 2)
    rest = posted.browse.page(sought, first["seq"][-1].as_py(), 2)
    seen = [*first.to_pylist(), *rest.to_pylist()]
    assert [(row["seq"], row["user"], row["amount"]) for row in seen] == [
        (row["seq"], row["user"], row["amount"]) for row in reversed(whole)
    ]
    assert [row["seq"] for table in posted.browse.every(sought) for row in table.to_pylist()] == [
        row["seq"] for row in seen
    ]
    assert posted.browse.sums(sought) == (3, {"USD": Decimal("16.00")})


def test_filters_and_facets(posted: Books) -> None:
    browse = posted.browse
    assert browse.sums(Sought((MONTH,), where={"user": ["ada"]})) == (1, {"USD": Decimal("10.10")})
    assert browse.sums(Sought((MONTH,), teams=("speech",))) == (1, {"USD": Decimal("5.05")})
    assert browse.sums(Sought((MONTH,), teams=())) == (0, {})
    assert browse.counts(Sought((MONTH,)), ("team", "kind")) == {
        "team": {"_idle": 1, "speech": 1, "vision": 1},
        "kind": {"plan": 3},
    }


def test_links_hold(posted: Books) -> None:
    numbers = posted.browse.page(Sought((MONTH,)), None, 9)["seq"].to_pylist()
    assert posted.browse.broken(numbers) == []
    chain = posted.browse.chain()
    assert (chain.head, chain.links, chain.runs) == (posted.head(), max(run.last_seq for run in posted.runs()), 1)
