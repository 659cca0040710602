"""Several processes at once: nothing acknowledged is lost, nobody hears of a lock, readers see one state or the next."""

import multiprocessing
from collections import Counter
from collections.abc import Callable
from multiprocessing.context import ForkServerContext

import pytest

from tests.books.conftest import Place
from tests.books.rows import delivery, gpu_hours
from tests.books_together import writers
from tests.conftest import LONG

WRITERS, EACH = 8, 12 if LONG else 4
Job = tuple[Callable[..., None], int, int]  # what, which number, how often


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """A server that has imported everything once and forks from there."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.books_together.writers"])
    return context


def together(context: ForkServerContext, place: Place, jobs: list[Job]) -> list[writers.Said]:
    answers: multiprocessing.Queue[writers.Said] = context.Queue()
    children = [
        context.Process(target=what, args=(place.url, place.warehouse, number, count, answers))
        for what, number, count in jobs
    ]
    for child in children:
        child.start()
    said = [answers.get(timeout=170) for _ in jobs]
    for child in children:
        child.join()
        child.close()
    answers.close()
    assert [answer for answer in said if answer[0] == "error"] == []
    return said


def test_eight_writers_on_one_table_lose_nothing(made_place: Place, processes: ForkServerContext) -> None:
    writing: list[Job] = [(writers.deliver, number, EACH) for number in range(WRITERS)]
    said = together(processes, made_place, [*writing, (writers.read, 0, 20)])
    acknowledged = sum(sum(rows) for name, _, rows in said if name == "delivered")
    books = made_place.open(create=False)
    assert acknowledged == sum(row["rows"]["usage"] for row in books.deliveries()) == books.scan("usage").num_rows
    assert len(books.deliveries()) == WRITERS * EACH
    assert Counter(books.scan("usage")["start_s"].to_pylist()).most_common(1)[0][1] == 1
    assert books.verify() == []


def test_a_run_that_eight_submit_is_posted_once(made_place: Place, processes: ForkServerContext) -> None:
    said = together(processes, made_place, [(writers.submit, number, 5) for number in range(WRITERS)])
    assert [sum(posted[i] for _, _, posted in said) for i in range(5)] == [1] * 5
    books = made_place.open(create=False)
    assert len(books.runs()) == 5
    assert books.entries().num_rows == 15
    assert books.verify() == []


def test_two_writers_and_a_reader(made_place: Place, processes: ForkServerContext) -> None:
    together(processes, made_place, [(writers.deliver, 0, 6), (writers.submit, 1, 6), (writers.read, 2, 15)])
    books = made_place.open(create=False)
    assert (len(books.deliveries()), len(books.runs())) == (6, 6)
    assert books.verify() == []


def test_eight_who_make_the_same_books_make_them_once(place: Place, processes: ForkServerContext) -> None:
    together(processes, place, [(writers.create, number, 1) for number in range(WRITERS)])
    books = place.open(create=False)
    assert books.verify() == []
    assert books.ingest(delivery(usage=gpu_hours(2))).changed
