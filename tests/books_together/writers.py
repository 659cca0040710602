"""What the processes of the concurrency tests do. Imported by each of them."""

import traceback
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from apportion.books.open import open_books
from apportion.model.times import Interval
from tests.books.rows import MONTH, delivery, gpu_hours, run

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

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
