"""The books' side, in both databases: settled once whoever comes first, kept in a copy, and every change found."""

import multiprocessing
import os
from collections.abc import Callable
from dataclasses import asdict, replace
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.books import record
from apportion.books.database import writing
from apportion.books.open import Books, Run
from apportion.books.shapes import Dispute, DisputeNote, Transfer
from apportion.books.transfers import transfer_digest
from apportion.errors import BooksError, InvariantError
from apportion.model.rows import BILL_DAYS
from tests import processes
from tests.books.conftest import Place
from tests.books.rows import postings, run
from tests.disputes.writers import settle
from tests.processes import answers_of

DOUBT = Dispute(
    "2026-10", "posting", "2", ("AWS 2026-10 USD", "ü"), "vision", "USD", Decimal("60.000000001"), False, '{"title": "said"}', "head"
)  # fmt: skip
EARLIER = Path(__file__).parents[1] / "books/earlier/books.tar.gz"


def decided(books: Books, dispute: int = 1, **fields: object) -> tuple[Transfer, Run]:
    made = replace(
        Transfer(f"dispute-{dispute}", "vision", "office", "USD", Decimal("5.5"), "agreed", "ann", "", dispute),
        **fields,  # type: ignore[arg-type]
    )
    posted = run(
        books, [], "0", run_id=made.run_id, plan_digest=transfer_digest(asdict(made)), inputs={}, kind="credit"
    )
    return made, replace(
        posted,
        postings=postings([("vision", "-5.5"), ("office", "5.5")]),
        bill_days=BILL_DAYS.empty_table(),
        cause="agreed",
    )


@pytest.fixture
def disputed(books: Books) -> Books:
    books.post(run(books, [("vision", "60"), ("speech", "40")], "100"))
    books.open_dispute(DOUBT, "not ours")
    books.say(1, "why")
    return books


def test_what_is_kept_comes_back_and_restores_into_either_database(
    disputed: Books, place_of: Callable[[str], Place], tmp_path: Path
) -> None:
    known = disputed.dispute(1)
    assert replace(known, notes=(), number=0) == DOUBT
    assert [(note.status, note.text) for note in known.notes] == [("open", "not ours"), ("open", "why")]
    done, posted = disputed.settle(1, DisputeNote(0, "", "credited", "agreed"), decided(disputed))
    assert posted is not None
    assert (done.status, done.notes[-1].run_id) == ("credited", posted.run_id)
    disputed.backup(tmp_path / "copy.tar")
    for other in ("sqlite", "postgresql"):
        copy = place_of(other).restore(tmp_path / "copy.tar")
        assert (copy.head(), copy.disputes(), copy.transfers()) == (posted.head, [done], disputed.transfers())
        assert copy.verify(posted.head) == []
        assert copy.open_dispute(DOUBT, "again").number == 2
        assert copy.verify() == []


def test_a_dispute_is_settled_whole_or_not_at_all(disputed: Books) -> None:
    made, good = decided(disputed)
    one_sided = replace(good, postings=postings([("vision", "-5.5")]))
    other = replace(made, amount=Decimal(6))
    for bad in ((made, one_sided), (other, good)):
        with pytest.raises(InvariantError):
            disputed.settle(1, DisputeNote(0, "", "credited", "agreed"), bad)
    assert (disputed.dispute(1).status, disputed.transfers(), len(disputed.runs())) == ("open", [], 1)
    assert disputed.verify() == []


def test_what_was_posted_since_it_was_decided_refuses_it(disputed: Books) -> None:
    early = decided(disputed)
    disputed.transfer(*decided(disputed, 0, run_id="credit-1"))
    with pytest.raises(BooksError, match="inputs-moved"):
        disputed.settle(1, DisputeNote(0, "", "credited", "agreed"), early)
    assert disputed.dispute(1).status == "open"


def test_of_several_who_settle_at_once_one_wins(disputed: Books, made_place: Place) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.disputes.writers"])
    answers: multiprocessing.Queue[str] = context.Queue()
    first = decided(disputed)
    children = [
        context.Process(target=settle, args=(made_place.url, made_place.warehouse, outcome, first, answers))
        for outcome in ("credited", "rejected", "credited")
    ]
    for child in children:
        child.start()
    said = sorted(answers_of(answers, children), key=lambda word: word != "dispute-settled")
    for child in children:
        child.join()
        child.close()
    answers.close()
    assert said[:2] == ["dispute-settled", "dispute-settled"]
    assert said[2] == disputed.dispute(1).status
    assert len(disputed.transfers()) == len(disputed.runs("credit")) == (said[2] == "credited")
    assert disputed.verify() == []


def test_a_process_that_never_answers_is_told_with_how_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    context = multiprocessing.get_context("forkserver")
    answers: multiprocessing.Queue[str] = context.Queue()
    children = [context.Process(target=answers.put, args=("here",)), context.Process(target=os._exit, args=(7,))]
    for child in children:
        child.start()
    for child in children:
        child.join()
    monkeypatch.setattr(processes, "PATIENCE_S", 1)
    with pytest.raises(
        AssertionError, match=r"1 of 2 processes answered, with \['here'\]: .* ended with 0, .* ended with 7"
    ):
        answers_of(answers, children)
    answers.close()


@pytest.mark.parametrize(
    ("table", "change", "code"),
    [
        ("dispute_notes", {"text": "all is well"}, "dispute-changed"),
        ("dispute_notes", {"who": "somebody"}, "dispute-changed"),
        ("dispute_notes", None, "dispute-changed"),
        ("disputes", {"evidence": "{}"}, "dispute-changed"),
        ("disputes", {"amount": Decimal(1)}, "dispute-changed"),
        ("disputes", None, "dispute-changed"),
        ("transfers", {"approver": "eve"}, "transfer-changed"),
        ("transfers", None, "transfer-changed"),
    ],
)
def test_a_change_is_refused_and_found(
    disputed: Books, table: str, change: dict[str, object] | None, code: str
) -> None:
    disputed.settle(1, DisputeNote(0, "", "credited", "agreed"), decided(disputed))
    kept = record.record.tables[table]
    deed = kept.delete() if change is None else kept.update().values(**change)
    with pytest.raises(Exception, match="append-only"), writing(disputed.engine) as connection:
        connection.execute(deed)
    assert disputed.verify() == []
    with writing(disputed.engine) as connection:
        on = f" ON {table}" if connection.dialect.name == "postgresql" else ""
        for name in ("update", "delete"):
            connection.exec_driver_sql(f"DROP TRIGGER {table}_no_{name}{on}")
        connection.execute(deed)
    assert code in {finding.code for finding in disputed.verify()}


def test_earlier_books_have_disputes_when_they_are_opened(place: Place) -> None:
    books = place.restore(EARLIER)
    assert books.open_dispute(DOUBT, "not ours").number == 1
    assert books.verify() == []
