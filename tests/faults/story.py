"""What happens while faults are injected, in two stories.

`begin` makes books from nothing, takes a first delivery and posts a first run. `go_on` takes a delivery that replaces half a window
and posts a second run on it. Each step is acknowledged by a line in a file as soon as the books have returned. A story told again
after a crash must end where it would have ended without one.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from apportion.books.open import Books, open_books
from apportion.errors import BooksError
from apportion.model.times import Interval
from tests.books.rows import MONTH, charges, delivery, gpu_hours, run, workloads

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


STORIES: dict[str, Callable[[Stage], None]] = {"begin": begin, "go_on": go_on}


@dataclass(frozen=True)
class State:
    """All that anybody could see of a story; tables by the digest of their rows."""

    tables: tuple[tuple[str, int, str], ...] = ()
    deliveries: int = 0
    owed: tuple[tuple[str, Decimal], ...] = ()
    charged: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


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
        owed=tuple(sorted(zip(rows["team"].to_pylist(), rows["amount"].to_pylist(), strict=True))),
        charged=tuple(sorted(books.scan("charges", columns=["workload"])["workload"].to_pylist())),
        runs=tuple(stored.run_id for stored in books.runs()),
    )
    findings = [str(finding) for finding in books.verify(books.head())] if closely else []
    books.close()
    return state, findings


@dataclass(frozen=True)
class Plot:
    """A story and the three states there are: nothing happened, delivered, delivered and posted."""

    name: str
    states: tuple[State, State, State]

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
        if found != self.states[2]:
            yield f"told again, it ended otherwise: {found}"
        yield from (f"verify at the end: {finding}" for finding in findings)


def write_plots(folder: Path) -> dict[str, Plot]:
    """Both stories without faults, looked at after each step."""
    stage, seen = Stage(folder), [State()]

    class Watched(Stage):
        def acknowledge(self, word: str) -> None:
            assert word == ("delivered", "posted")[(len(seen) - 1) % 2]
            state, findings = look(stage)
            assert findings == []
            seen.append(state)

    for story in STORIES.values():
        story(Watched(folder))
    nothing, delivered, posted, delivered_again, posted_again = seen
    return {
        "begin": Plot("begin", (nothing, delivered, posted)),
        "go_on": Plot("go_on", (posted, delivered_again, posted_again)),
    }
