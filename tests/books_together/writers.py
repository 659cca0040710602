"""What the processes of the concurrency tests do. Imported by each of them."""

import hashlib
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import apportion
from apportion.books.open import Books, open_books
from apportion.books.shapes import CORRECTION, Close, Document
from apportion.errors import BooksError
from apportion.model.minor import minor_units
from apportion.model.times import Interval
from apportion.render.statement.batch import render_all
from apportion.verbs.adjust import Wish
from apportion.verbs.focus import export_focus
from apportion.verbs.journal import export_journal
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from apportion.verbs.steps import silent
from tests.books.rows import MONTH, delivery, gpu_hours, postings, run

if TYPE_CHECKING:
    from multiprocessing.queues import Queue

NOTHING_MORE = '{"owed": 6000, "mode": "chargeback", "children": [], "parts": [], "workloads": []}'  # of a statement
MARCH = "2025-03"
T = TypeVar("T")
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
            fields["expected_head"] = books.head()  # before what it rests on is read, as a plan does
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


def project_of(warehouse: str) -> Path:
    """Beside its books."""
    return Path(f"{warehouse}.project")


def until_unmoved(work: Callable[[], T]) -> T:
    """Again, when something was posted meanwhile."""
    while True:
        try:
            return work()
        except BooksError as error:
            if error.code != "inputs-moved":
                raise


def adjust(_: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """Credits of a dollar each, of a month that another closes: the months in which they were booked."""

    def work() -> Iterable[str]:
        project = apportion.open_project(project_of(warehouse))
        for i in range(count):
            wish = Wish("vision", "bio", "1.00", "agreed", reference=f"{number} {i}")
            yield until_unmoved(partial(apportion.adjust, project, MARCH, wish)).booked
        project.books.close()

    told("adjusted", number, work(), answers)


def close_month(_: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    def work() -> Iterable[bool]:
        project = apportion.open_project(project_of(warehouse))
        for _ in range(count):
            yield until_unmoved(lambda: apportion.close(project, MARCH, override="agreed").again)
        project.books.close()

    told("closed", number, work(), answers)


def export(_: str, warehouse: str, number: int, count: int, answers: "Queue[Said]") -> None:
    """Into the same folder as everybody else; whether this one's journal was noted."""

    def work() -> Iterable[bool]:
        project = apportion.open_project(project_of(warehouse))
        for _ in range(count):
            yield not export_everything(project, project.folder / "together")
        project.books.close()

    told("exported", number, work(), answers)


def export_everything(project: Project, folder: Path) -> bool:
    folder.mkdir(exist_ok=True)
    export_focus(project, MARCH, folder)
    render_all(statements(project, Wanted(MARCH, "team")), "csv", folder, silent)
    return export_journal(project, MARCH, folder / "journal.csv").again


def digests(folder: Path) -> dict[str, str]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
