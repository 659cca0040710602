"""What the processes of the concurrency tests do. Imported by each of them."""

import traceback
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from apportion.books.open import Books, open_books
from apportion.books.shapes import CORRECTION, Close, Document
from apportion.engine.minor import minor_units
from apportion.errors import BooksError
from apportion.model.times import Interval
from tests.books.rows import MONTH, delivery, gpu_hours, postings, run

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

NOTHING_MORE = '{"children": [], "parts": [], "workloads": []}'  # of a statement
Said = tuple[str, int, list[Any]]


def told(name: str, number: int, work: Iterable[Any], answers: "Queue[Said]") -> None:
    try:
        answers.put((name, number, list(work)))
    except BaseException:  # noqa: BLE001 - whatever it was, the test must hear of it
        answers.put(("error", number, [traceback.format_exc()]))


def hour(number: int) -> Interval:
    return Interval(MONTH.start_s + number * 3600, MONTH.start_s + (number + 1) * 3600)


def deliver(url: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """Hours of one source: those of different writers lie side by side in the same table."""

    def work() -> Iterable[int]:
        books = open_books(url, warehouse)
        for i in range(count):
            window = hour(number * count + i)
            receipt = books.ingest(delivery(window, usage=gpu_hours(10, window.start_s)))
            assert receipt.changed
            yield receipt.rows["usage"]
        books.close()

    told("delivered", number, work(), answers)


def read(url: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """Every look is at one published state: what it says of itself and what its files hold agree, and it never shrinks."""

    def work() -> Iterable[int]:
        books = open_books(url, warehouse)
        seen = 0
        for _ in range(count):
            version = books.inputs()["usage"]
            assert books.scan("usage", version.snapshot_id).num_rows == version.rows >= seen
            seen = version.rows
            assert sum(books.entries()["amount"].to_pylist()) == 0
            yield seen
        books.close()

    told("read", number, work(), answers)


def submit(url: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """The same runs as everybody else submits."""

    def work() -> Iterable[bool]:
        books = open_books(url, warehouse)
        for i in range(count):
            fields = {"run_id": f"run-{i}", "plan_digest": f"plan-{i}", "period": f"20{i + 10}-01", "inputs": {}}
            yield books.post(run(books, [("vision", "60"), ("speech", "40")], "100", **fields)).posted
        books.close()

    told("submitted", number, work(), answers)


def create(url: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    def work() -> Iterable[int]:
        for _ in range(count):
            books = open_books(url, warehouse, create=True)
            yield len(books.inputs())
            books.close()

    told("created", number, work(), answers)


def close(url: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """Months as everybody else closes them, each with the next number of an invoice; what moved meanwhile is closed as it is now."""

    def closed(books: Books, period: str) -> str:
        while True:
            head, minor = books.head(), minor_units(books.posted(period))
            invoice = Document("team", "vision", "USD", books.last_number() + 1, period, 6000, NOTHING_MORE)
            try:
                return books.close_period(Close(period, "v1", minor, {}, head, "", (invoice,))).head
            except BooksError as error:
                if error.code != "inputs-moved":
                    raise

    def work() -> Iterable[str]:
        books = open_books(url, warehouse)
        for i in range(count):
            yield closed(books, f"20{i + 10}-01")
        books.close()

    told("closed", number, work(), answers)


def add(url: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """One more in each month, while others close it: posted, or refused because the month is closed."""

    def work() -> Iterable[str]:
        books = open_books(url, warehouse)
        for i in range(count):
            name = f"more-{number}-{i}"
            fields = {"run_id": name, "plan_digest": name, "period": f"20{i + 10}-01", "inputs": {}}
            try:
                posted = sum(books.posted(f"20{i + 10}-01")["amount"].to_pylist())
                books.post(run(books, [("bio", "1")], str(posted + 1), **fields))
                yield "posted"
            except BooksError as error:
                yield error.code
        books.close()

    told("added", number, work(), answers)


def correct(url: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """The same closed month is corrected by what is missing to a bill of 7, 70 and 700 and this writer's cents: by whoever comes first."""

    def work() -> Iterable[str]:
        books = open_books(url, warehouse)
        for i in range(count):
            head = books.head()
            missing = Decimal(f"{7 * 10**i}.0{number}") - sum(books.posted("2010-02")["amount"].to_pylist())
            fields = {
                "run_id": f"late-{number}-{i}",
                "plan_digest": str(i),
                "period": "2010-02",
                "inputs": {},
                "expected_head": head,
            }
            try:
                late = run(books, [], str(missing), **fields, kind=CORRECTION, about="2010-01", cause="restated")
                books.post(replace(late, postings=postings([("vision", str(missing))] if missing else [], "2010-02")))
                yield "posted"
            except BooksError as error:
                yield error.code
        books.close()

    told("corrected", number, work(), answers)
