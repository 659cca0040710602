"""Several processes at once: nothing acknowledged is lost, nobody hears of a lock, readers see one state or the next."""

import json
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from multiprocessing.context import ForkServerContext

import pytest

from tests.books.conftest import Place
from tests.books.rows import delivery, gpu_hours, run
from tests.books_together import writers
from tests.conftest import LONG
from tests.processes import answers_of
from tests.sequences.hands import SETTINGS, ByVerbs, new_project
from tests.sequences.model import Model

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
    said = answers_of(answers, children)
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
    assert [note.what for note in books.audit()] == ["create"]
    assert books.verify() == []
    assert books.ingest(delivery(usage=gpu_hours(2))).changed


def posted_months(place: Place, count: int) -> None:
    books = place.open(create=False)
    for i in range(count):
        fields = {"run_id": f"run-{i}", "plan_digest": f"plan-{i}", "period": f"20{i + 10}-01", "inputs": {}}
        books.post(run(books, [("vision", "60"), ("speech", "40")], "100", **fields))


def test_months_that_four_close_are_closed_once(made_place: Place, processes: ForkServerContext) -> None:
    """Whoever comes second hears what the first did; invoices are numbered without a gap."""
    posted_months(made_place, 4)
    said = together(processes, made_place, [(writers.close, number, 4) for number in range(4)])
    assert len({tuple(heads) for _, _, heads in said}) == 1
    books = made_place.open(create=False)
    assert books.closed_periods() == [f"20{i + 10}-01" for i in range(4)]
    assert [len(books.statements(period, "team")) for period in books.closed_periods()] == [1] * 4
    assert books.last_number() == len(books.runs("close")) == 4
    assert books.verify(books.head()) == []


def test_what_is_posted_while_a_month_is_closed_is_in_it_or_refused(
    made_place: Place, processes: ForkServerContext
) -> None:
    posted_months(made_place, 4)
    jobs: list[Job] = [(writers.close, 0, 4), *((writers.add, number, 4) for number in range(1, 4))]
    said = together(processes, made_place, jobs)
    answers = Counter(answer for name, _, some in said if name == "added" for answer in some)
    assert set(answers) <= {"posted", "period-closed", "inputs-moved"}
    books = made_place.open(create=False)
    closed = [books.closed(period) for period in books.closed_periods()]
    in_minor = sum(sum(each.minor["amount"].to_pylist()) for each in closed if each)
    assert len(closed) == 4
    assert in_minor == 100 * (4 * 100 + answers["posted"]) == 100 * sum(books.posted()["amount"].to_pylist())
    assert books.verify(books.head()) == []


def test_a_month_that_four_correct_at_once_is_corrected_once(made_place: Place, processes: ForkServerContext) -> None:
    """A correction is of what was believed: one that was made before another was posted is refused."""
    posted_months(made_place, 1)
    together(processes, made_place, [(writers.close, 0, 1)])
    said = together(processes, made_place, [(writers.correct, number, 3) for number in range(4)])
    answers = Counter(answer for _, _, some in said for answer in some)
    assert set(answers) <= {"posted", "inputs-moved"}
    books = made_place.open(create=False)
    late = [run for run in books.runs("correction") if run.entries]
    assert sum(books.posted("2010-02")["amount"].to_pylist()) in {
        Decimal(f"{7 * 10**i}.0{number}") for i in range(3) for number in range(4)
    }
    assert 1 <= len(late) <= answers["posted"]
    assert books.verify(books.head()) == []


@pytest.fixture
def hand(made_place: Place) -> Iterator[ByVerbs]:
    """Vision owes 60.335 and speech 40 of March."""
    books = f"[books]\nurl = {json.dumps(made_place.url)}\nwarehouse = {json.dumps(made_place.warehouse)}\n"
    hand = ByVerbs(new_project(writers.project_of(made_place.warehouse), settings=SETTINGS + books))
    hand.deliver(writers.MARCH, {"vision": Decimal("60.335"), "speech": Decimal(40)})
    hand.apply(Model(), writers.MARCH)
    yield hand
    hand.books.close()


def test_credits_while_their_month_is_closed_are_in_it_or_in_the_next(
    hand: ByVerbs, made_place: Place, processes: ForkServerContext
) -> None:
    books = hand.books
    jobs: list[Job] = [(writers.close_month, 0, 1), *((writers.adjust, number, 3) for number in (1, 2))]
    said = together(processes, made_place, jobs)
    booked = Counter(month for name, _, months in said if name == "adjusted" for month in months)
    assert booked.total() == len(books.transfers()) == 6
    assert set(booked) <= {writers.MARCH, "2025-04"}
    closed = books.closed(writers.MARCH)
    assert closed is not None
    spared = {row["team"]: 0 for row in closed.minor.to_pylist()} | {"bio": 0}
    for row in closed.minor.to_pylist():
        spared[row["team"]] += row["amount"]
    assert spared == {"vision": 6034 - 100 * booked[writers.MARCH], "speech": 4000, "bio": 100 * booked[writers.MARCH]}
    late = [row["amount"] for row in books.posted("2025-04").to_pylist() if row["team"] == "bio"]
    assert sum(late) == booked["2025-04"]
    assert books.verify(books.head()) == []


def test_four_who_export_at_once_write_what_one_would(
    hand: ByVerbs, made_place: Place, processes: ForkServerContext
) -> None:
    hand.close(writers.MARCH)
    said = together(processes, made_place, [(writers.export, number, 2) for number in range(4)])
    assert sum(noted for _, _, some in said for noted in some) == 1
    project = hand.project
    assert writers.export_everything(project, project.folder / "alone")
    found = writers.digests(project.folder / "together")
    assert found == writers.digests(project.folder / "alone")
    assert {"journal.csv", "2025-03/metadata.json", "2025-03-team-vision-USD.csv"} < found.keys()
    assert [note.what for note in hand.books.audit()].count("export") == 1
    assert hand.books.verify(hand.books.head()) == []
