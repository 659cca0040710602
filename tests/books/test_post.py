"""The ledger: posted once, balanced, append-only, chained."""

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pyarrow as pa
import pytest
from sqlalchemy import delete, insert, update
from sqlalchemy.exc import DBAPIError

from apportion.books import record
from apportion.books.chain import GENESIS
from apportion.books.database import writing
from apportion.books.open import Books
from apportion.errors import BooksError, InvariantError
from apportion.model.rows import BILL_DAYS, POSTINGS
from tests.books.conftest import Place
from tests.books.rows import DAY, bill_days, charges, delivery, gpu_hours, postings, run

SHARES = [("vision", "60.000000001"), ("speech", "39.999999999"), ("_idle", "0.5")]


def owed(books: Books, period: str | None = None) -> dict[str, Decimal]:
    rows = books.posted(period)
    return dict(zip(rows["team"].to_pylist(), rows["amount"].to_pylist(), strict=True))


def test_a_run_is_posted_with_its_other_side_and_adds_up_to_nothing(books: Books) -> None:
    assert books.head() == GENESIS
    done = books.post(run(books, SHARES, "100.5"))
    entries = books.entries()
    assert (done.posted, done.entries, done.head) == (True, 4, books.head())
    assert entries["seq"].to_pylist() == [2, 3, 4, 5]
    assert entries["account"].to_pylist() == ["team:_idle", "team:speech", "team:vision", "bill:AWS 2026-10 USD"]
    assert sum(entries["amount"].to_pylist()) == 0
    assert entries["hash"].to_pylist()[-1] == done.head
    assert books.posted("2026-10").schema.equals(POSTINGS)
    assert owed(books) == {team: Decimal(amount) for team, amount in SHARES}
    (stored,) = books.runs()
    assert (stored.head_before, stored.head_after, stored.last_seq) == (GENESIS, done.head, 5)


def test_the_same_run_twice_is_posted_once(books: Books) -> None:
    first = run(books, SHARES, "100.5")
    head = books.post(first).head
    again = books.post(first)
    assert (again.posted, again.head, again.entries) == (False, head, 4)
    nothing_left = books.post(replace(first, postings=POSTINGS.empty_table()))
    assert (nothing_left.posted, nothing_left.head) == (False, head)
    assert books.entries().num_rows == 4


@pytest.mark.parametrize("change", ["amount", "owner", "plan", "policy", "inputs", "bill"])
def test_the_same_run_id_with_other_content_is_refused(books: Books, change: str) -> None:
    first = run(books, SHARES, "100.5")
    books.post(first)
    other = {
        "amount": {"postings": postings([("vision", "60.000000002"), ("speech", "39.999999998"), ("_idle", "0.5")])},
        "owner": {"postings": postings([("vision", "60.000000001"), ("speec", "39.999999999"), ("_idle", "0.5")])},
        "plan": {"plan_digest": "plan-2"},
        "policy": {"policy_version": "v2"},
        "inputs": {"inputs": {**first.inputs, "usage": 1}},
        "bill": {"bill_days": bill_days("100.6")},
    }[change]
    with pytest.raises(BooksError, match="run-conflict"):
        books.post(replace(first, **other))
    assert books.entries().num_rows == 4


def test_a_second_run_posts_differences_and_zero_rows_vanish(books: Books) -> None:
    books.post(run(books, SHARES, "100.5"))
    books.post(
        run(books, [("vision", "-10"), ("bio", "9"), ("_idle", "-0.5")], "99", run_id="run-2", plan_digest="plan-2")
    )
    assert owed(books, "2026-10") == {
        "vision": Decimal("50.000000001"),
        "speech": Decimal("39.999999999"),
        "bio": Decimal(9),
    }
    first, second = books.runs()
    assert second.head_before == first.head_after
    assert books.entries(run_id="run-2", team=["bio", "vision"]).num_rows == 2
    assert books.entries(day=DAY, account="bill:AWS 2026-10 USD").num_rows == 0


def test_periods_are_apart(books: Books) -> None:
    books.post(run(books, [("vision", "1")], "1"))
    november = replace(run(books, [("vision", "5")], "5", period="2026-11"), run_id="run-n")
    books.post(november)
    assert owed(books, "2026-10") == {"vision": Decimal(1)}
    assert owed(books, "2026-11") == {"vision": Decimal(5)}
    assert books.posted().num_rows == 2
    assert books.head("2026-10") == books.runs()[0].head_after != books.head()
    assert books.head("2026-12") == GENESIS


@pytest.mark.parametrize(
    ("rows", "days"),
    [
        (SHARES, bill_days("100.500000000000000001")),
        (SHARES, bill_days("100.5", bill="other")),
        (SHARES, pa.concat_tables([bill_days("100.5"), bill_days("1", bill="other")])),
        ([], bill_days("1")),
        ([("a", "1"), ("b", "-1")], bill_days("1")),
    ],
)
def test_what_does_not_add_up_to_the_bills_is_not_posted(
    books: Books, rows: list[tuple[str, str]], days: pa.Table
) -> None:
    with pytest.raises(InvariantError):
        books.post(replace(run(books, rows, "0"), bill_days=days))
    assert books.entries().num_rows == 0
    assert books.runs() == []
    assert books.head() == GENESIS
    assert books.verify() == []


def test_a_bill_that_vanished_must_be_posted_away(books: Books) -> None:
    books.post(run(books, [("vision", "1")], "1"))
    gone = {"run_id": "run-2", "bill_days": BILL_DAYS.empty_table()}
    with pytest.raises(InvariantError):
        books.post(run(books, [], "0", **gone))
    books.post(run(books, [("vision", "-1")], "0", **gone))
    assert books.posted().num_rows == 0


def test_a_run_on_moved_evidence_is_refused(books: Books) -> None:
    planned = run(books, SHARES, "100.5")
    books.ingest(delivery(usage=gpu_hours(1)))
    with pytest.raises(BooksError, match="inputs-moved") as refused:
        books.post(planned)
    assert "usage" in refused.value.message


def test_a_run_on_a_moved_ledger_is_refused_unless_only_another_period_moved(books: Books) -> None:
    planned = run(books, [("vision", "1")], "1")
    november = run(books, [("vision", "5")], "5", period="2026-11", run_id="run-n")
    same_month = run(books, [("speech", "1")], "1", run_id="run-s", plan_digest="plan-s")
    books.post(november)
    books.post(planned)
    with pytest.raises(BooksError, match="inputs-moved"):
        books.post(same_month)
    with pytest.raises(BooksError, match="inputs-moved"):
        books.post(replace(same_month, expected_head="0" * 64))
    assert len(books.runs()) == 2


def test_a_closed_period_takes_no_run(books: Books) -> None:
    with writing(books.engine) as connection:
        connection.execute(insert(record.periods).values(period="2026-10", status="closed"))
    with pytest.raises(BooksError, match="period-closed"):
        books.post(run(books, SHARES, "100.5"))


def test_a_run_must_name_a_saved_policy_and_its_own_period(books: Books) -> None:
    with pytest.raises(BooksError, match="unknown-policy"):
        books.post(run(books, SHARES, "100.5", policy_version="v0"))
    with pytest.raises(BooksError, match="invalid-run"):
        books.post(run(books, SHARES, "100.5", postings=postings(SHARES, period="2026-11")))
    with pytest.raises(BooksError, match="invalid-run"):
        books.post(run(books, [("a\0b", "1")], "1"))
    with pytest.raises(BooksError, match="invalid-run"):
        books.post(run(books, SHARES, "100.5", postings=postings(SHARES).drop_columns(["team"])))


def test_the_largest_amounts_keep_every_digit(books: Books) -> None:
    large, small = "12345678901234567890.123456789012345678", "-0.000000000000000001"
    total = "12345678901234567890.123456789012345677"
    books.post(run(books, [("large", large), ("small", small)], total))
    assert owed(books) == {"large": Decimal(large), "small": Decimal(small)}
    assert books.entries()["amount"].to_pylist()[-1] == Decimal(total).copy_negate()
    assert books.verify() == []


def test_entries_cannot_be_changed_or_removed(books: Books) -> None:
    books.post(run(books, SHARES, "100.5"))
    for table in (record.entries, record.runs, record.bill_days):
        for statement in (delete(table), update(table).values(run_id="x")):
            with pytest.raises(DBAPIError, match="append-only"), writing(books.engine) as connection:
                connection.execute(statement)
    assert books.verify() == []


def test_the_chain_has_no_gaps_and_no_two_equal_links(books: Books) -> None:
    books.post(run(books, SHARES, "100.5"))
    books.post(run(books, [("bio", "1")], "101.5", run_id="run-2", plan_digest="plan-2"))
    links = sorted([*books.entries()["seq"].to_pylist(), *(stored.seq for stored in books.runs())])
    assert links == list(range(1, 9))
    assert all(later - earlier == 1 for earlier, later in pairwise(links))
    assert len(set(books.entries()["hash"].to_pylist())) == 6


def test_charges_are_published_with_their_run_and_replaced_by_the_next(books: Books) -> None:
    books.post(run(books, SHARES, "100.5", charges=charges("2026-10", [("job-1", "60"), ("job-2", "40")])))
    assert books.scan("charges")["workload"].to_pylist() == ["job-1", "job-2"]
    books.post(
        run(books, [("n", "1")], "1", period="2026-11", run_id="n", charges=charges("2026-11", [("job-9", "1")]))
    )
    later = run(
        books, [("bio", "1")], "101.5", run_id="run-2", plan_digest="p2", charges=charges("2026-10", [("job-3", "1")])
    )
    books.post(later)
    assert sorted(books.scan("charges")["workload"].to_pylist()) == ["job-3", "job-9"]
    assert books.verify() == []


def test_charges_of_a_run_that_fails_are_never_seen(books: Books) -> None:
    with pytest.raises(InvariantError):
        books.post(run(books, SHARES, "100", charges=charges("2026-10", [("job-1", "60")])))
    assert books.scan("charges").num_rows == 0
    assert books.verify() == []
    books.post(run(books, SHARES, "100.5", charges=charges("2026-10", [("job-2", "60")])))
    assert books.scan("charges")["workload"].to_pylist() == ["job-2"]


def test_posted_snapshots_are_tagged(books: Books) -> None:
    books.ingest(delivery(usage=gpu_hours(1)))
    planned = run(books, SHARES, "100.5", charges=charges("2026-10", [("job-1", "60")]))
    books.post(planned)
    with books.engine.connect() as connection:
        places = {row.table: row.metadata for row in connection.execute(record.published.select())}
    for name, snapshot_id in planned.inputs.items():
        refs = books.evidence.read(places[name]).metadata.refs
        assert refs[f"posted-{snapshot_id}"].snapshot_id == snapshot_id
    assert any(name.startswith("posted-") for name in books.evidence.read(places["charges"]).metadata.refs)


def test_both_databases_make_the_same_links(place_of: Callable[[str], Place], monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the same clock and the same snapshots, so that nothing but the database differs."""
    monkeypatch.setattr("apportion.books.post.time.time", lambda: 1_790_000_000)
    heads = set()
    for kind in ("sqlite", "postgresql"):
        books = place_of(kind).open()
        books.post(run(books, SHARES, "100.5", inputs={}))
        heads.add(books.head())
    assert len(heads) == 1


def test_what_a_run_rests_on_is_in_its_link(books: Books) -> None:
    books.ingest(delivery(usage=gpu_hours(1)))
    books.post(run(books, SHARES, "100.5"))
    with books.engine.connect() as connection:
        (row,) = connection.execute(record.runs.select()).all()
    assert json.loads(row.inputs) == {name: version.snapshot_id for name, version in books.inputs().items()}
    assert len(set(json.loads(row.evidence).values())) == 2  # that of usage, and that of tables without files
