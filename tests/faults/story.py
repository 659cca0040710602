"""What happens while faults are injected, in three stories.

`begin` makes books from nothing, takes a first delivery and posts a first run. `go_on` takes a delivery that replaces half a window
and posts a second run on it. `settle` closes the month with a statement, corrects it in the next by a late delivery, and credits a team.
Each step is acknowledged by a line in a file as soon as the books have returned. A story told again after a crash must end where it
would have ended without one.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

from apportion.books.open import Books, open_books
from apportion.books.shapes import CORRECTION, CREDIT, Close, Document
from apportion.engine.minor import minor_units
from apportion.errors import BooksError
from apportion.model.rows import BILL_DAYS
from apportion.model.times import Interval
from tests.books.rows import MONTH, charges, delivery, gpu_hours, postings, run, workloads

NOTHING_MORE = '{"children": [], "parts": [], "workloads": []}'  # of a statement
HALF = Interval(MONTH.start_s, MONTH.start_s + 900)


@dataclass(frozen=True)
class Stage:
    """A folder with its own books; `url` names a database elsewhere, else it is SQLite in the folder."""

    folder: Path
    url: str = ""

    def open(self, *, create: bool = False) -> Books:
        url = self.url or f"sqlite:///{self.folder}/books.db"
        return open_books(url, str(self.folder / "warehouse"), create=create)

    def acknowledge(self, word: str) -> None:
        try:
            handle = os.open(self.folder / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(handle, f"{word}\n".encode())
            os.close(handle)
        except OSError as error:
            raise UnheardError from error

    def acknowledged(self) -> list[str]:
        file = self.folder / "acknowledged"
        return file.read_text().split() if file.exists() else []


class UnheardError(Exception):
    """The books have done it, but the fault hit the acknowledgement."""


def begin(stage: Stage) -> None:
    books = stage.open(create=True)
    books.ingest(delivery(usage=gpu_hours(40), workloads=workloads([("job-0", "running", {"team": "vision"})])))
    stage.acknowledge("delivered")
    evidence = charges("2026-10", [("job-0", "100")])
    books.post(run(books, [("vision", "60"), ("speech", "40")], "100", charges=evidence))
    stage.acknowledge("posted")
    books.close()


def go_on(stage: Stage) -> None:
    books = stage.open(create=True)
    done = workloads([("job-0", "completed", {"team": "vision"}), ("job-99", "completed", {})])
    books.ingest(delivery(HALF, usage=gpu_hours(5), workloads=done))
    stage.acknowledge("delivered")
    evidence = charges("2026-10", [("job-0", "10"), ("job-99", "100")])
    books.post(run(books, [("vision", "10")], "110", run_id="run-2", plan_digest="plan-2", charges=evidence))
    stage.acknowledge("posted")
    books.close()


def settle(stage: Stage) -> None:
    books = stage.open(create=True)
    minor = minor_units(books.posted("2026-10"))
    invoice = Document("team", "vision", "USD", 1, "INV-0001", 6000, NOTHING_MORE)
    books.close_period(Close("2026-10", "v1", minor, {"over": "yes"}, books.head(), "agreed", (invoice,)))
    stage.acknowledge("closed")
    books.ingest(delivery(HALF, usage=gpu_hours(5)))
    stage.acknowledge("delivered")
    late = run(books, [], "2", run_id="run-c", plan_digest="plan-c", period="2026-11", kind=CORRECTION, about="2026-10")
    books.post(replace(late, postings=postings([("vision", "-5"), ("bio", "7")], "2026-11"), cause="restated"))
    stage.acknowledge("corrected")
    moved = postings([("bio", "-3"), ("speech", "3")], "2026-11")
    credit = run(books, [], "0", run_id="run-d", plan_digest="", period="2026-11", kind=CREDIT, inputs={})
    books.post(replace(credit, postings=moved, bill_days=BILL_DAYS.empty_table(), cause="agreed"))
    stage.acknowledge("credited")
    books.close()


STORIES: dict[str, Callable[[Stage], None]] = {"begin": begin, "go_on": go_on, "settle": settle}


@dataclass(frozen=True)
class State:
    """All that anybody could see of a story; tables by the digest of their rows."""

    tables: tuple[tuple[str, int, str], ...] = ()
    deliveries: int = 0
    owed: tuple[tuple[str, str, Decimal], ...] = ()
    charged: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    closed: tuple[tuple[str, str, str], ...] = ()
    head: str = ""


def look(stage: Stage, *, closely: bool = True) -> tuple[State, list[str]]:
    """What the books say and, looked at closely, what `verify` finds. Books that were never finished say nothing."""
    try:
        books = stage.open()
    except BooksError as error:
        if error.code == "no-books":
            return State(), []
        raise
    rows = books.posted()
    state = State(
        tables=tuple((name, version.rows, version.digest) for name, version in books.inputs().items() if version.rows),
        deliveries=len(books.deliveries()),
        owed=tuple(sorted(zip(*(rows[name].to_pylist() for name in ("period", "team", "amount")), strict=True))),
        charged=tuple(sorted(books.scan("charges", columns=["workload"])["workload"].to_pylist())),
        runs=tuple(stored.run_id for stored in books.runs()),
        closed=tuple(closes(books)),
        head=books.head(),
    )
    findings = [str(finding) for finding in books.verify(books.head())] if closely else []
    books.close()
    return state, findings


def closes(books: Books) -> Iterator[tuple[str, str, str]]:
    """Closed months, with their minor units and statements."""
    for period in books.closed_periods():
        found = books.closed(period)
        assert found is not None
        yield period, str(found.minor.to_pylist()), " ".join(books.statements(period, "team"))


@dataclass(frozen=True)
class Plot:
    """A story and the states there are: before it, and after each of its steps."""

    name: str
    states: tuple[State, ...]

    @property
    def steps(self) -> int:
        return len(self.states) - 1

    def judge(self, stage: Stage, *, thoroughly: bool = True) -> Iterator[str]:
        """What is wrong after a fault; nothing, if all is well. Then the story is told to its end."""
        acknowledged = len(stage.acknowledged())
        found, findings = look(stage)
        if found not in self.states:
            yield f"half done: {found}"
        elif self.states.index(found) < acknowledged:
            yield f"lost: {acknowledged} steps were acknowledged, and the books are at {self.states.index(found)}"
        yield from (f"verify after the fault: {finding}" for finding in findings)
        STORIES[self.name](stage)
        found, findings = look(stage, closely=thoroughly)
        if found != self.states[-1]:
            yield f"told again, it ended otherwise: {found}"
        yield from (f"verify at the end: {finding}" for finding in findings)


def write_plots(folder: Path) -> dict[str, Plot]:
    """Every story without faults, looked at after each step. All but the first go on from where that ended."""
    begun = folder / "begin"
    begun.mkdir()
    first = watched("begin", begun, State())
    plots = {"begin": first}
    for name in STORIES.keys() - plots.keys():
        shutil.copytree(begun, folder / name)
        plots[name] = watched(name, folder / name, first.states[-1])
    return plots


def watched(name: str, folder: Path, before: State) -> Plot:
    seen = [before]

    class Watched(Stage):
        def acknowledge(self, word: str) -> None:
            state, findings = look(self)
            assert (word, findings) == (word, [])
            assert state not in seen
            seen.append(state)

    STORIES[name](Watched(folder))
    return Plot(name, tuple(seen))
