"""What is kept in memory of the books is what they say: the same runs the same rows, and another reading as soon as something moved."""

from apportion.books.open import Books
from apportion.books.recent import Recent
from apportion.books.shapes import PLAN
from tests.books.rows import delivery, gpu_hours, run

MONTH = "2026-10"


def test_no_more_are_kept_than_told() -> None:
    made: list[str] = []

    def get(recent: Recent[str], key: str) -> str:
        def read() -> str:
            made.append(key)
            return key

        return recent.get(key, read)

    two: Recent[str] = Recent(2)
    assert [get(two, key) for key in "abacab"] == list("abacab")
    assert made == list("abcb")  # a was asked for again before c, so b had to go
    made.clear()
    none: Recent[str] = Recent(0)
    assert [get(none, key) for key in "aa"] == made == ["a", "a"]


def test_postings_are_read_once_until_the_ledger_moves(books: Books) -> None:
    books.months.kept.most = 4
    books.post(run(books, [("vision", "10")], "10"))
    first = books.posted(MONTH)
    assert books.posted(MONTH) is first
    assert books.posted(MONTH, kinds=[PLAN]) is first  # the same runs
    assert not len(books.posted(MONTH, as_of_s=0))
    books.ingest(delivery(usage=gpu_hours(1)))
    assert books.posted(MONTH) is first  # nothing of it is posted
    books.post(run(books, [("vision", "1")], "11", run_id="second"))
    now = books.posted(MONTH)
    assert now["team"].to_pylist() == ["vision"]
    assert [str(amount) for amount in now["amount"].to_pylist()] == ["11.000000000000000000"]


def test_what_was_posted_since_is_added_to_what_was_read(books: Books) -> None:
    """As if all were read anew, whatever was posted: more to one, somebody new, another until nothing is left."""
    books.months.kept.most = 4
    books.post(run(books, [("vision", "10"), ("speech", "5")], "15"))
    books.posted(MONTH)
    moved = [("vision", "2"), ("new", "3"), ("speech", "-5")], [("vision", "-1")]
    for n, (rows, bill) in enumerate(zip(moved, ("15", "14"), strict=True)):
        books.post(run(books, rows, bill, run_id=f"more {n}"))
        kept, then = books.posted(MONTH), books.months.kept
        books.months.kept = Recent(0)
        assert kept.equals(books.posted(MONTH))
        books.months.kept = then


def test_unless_somebody_serves_postings_are_read_each_time(books: Books) -> None:
    books.post(run(books, [("vision", "10")], "10"))
    assert books.posted(MONTH) is not books.posted(MONTH)


def test_files_are_those_of_the_snapshot(books: Books) -> None:
    books.ingest(delivery(usage=gpu_hours(1)))
    before, files = books.inputs()["usage"].snapshot_id, books.files("usage")
    files.clear()  # whoever asks may do so
    books.ingest(delivery(usage=gpu_hours(3)))
    assert (len(books.scan("usage", before)), len(books.scan("usage"))) == (1, 3)
