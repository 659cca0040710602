"""What happens while faults are injected, in stories.

`begin` makes books from nothing, takes a first delivery and posts a first run. `go_on` takes a delivery that replaces half a window
and posts a second run on it. `settle` closes the month with a statement, corrects it in the next by a late delivery, and credits a team.
In a project with a closed month, `decide` gives a one-off credit, opens a dispute and settles it, by the verbs, and `export` writes the month's
journal, FOCUS files and statements over former files.
Each step is acknowledged by a line in a file as soon as the books have returned. A story told again after a crash must end where it
would have ended without one.
"""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import apportion
from apportion.books.open import Books, open_books
from apportion.books.shapes import CORRECTION, CREDIT, OPEN, Close, Document
from apportion.errors import BooksError
from apportion.model.minor import minor_units
from apportion.model.rows import BILL_DAYS
from apportion.model.times import Interval
from apportion.render.statement.batch import render_all
from apportion.verbs.adjust import Wish
from apportion.verbs.dispute import Doubt, Settlement, open_dispute
from apportion.verbs.dispute import settle as settle_dispute
from apportion.verbs.focus import export_focus
from apportion.verbs.journal import export_journal
from apportion.verbs.statement import Wanted, statements
from apportion.verbs.steps import silent
from tests.books.rows import MONTH, charges, delivery, gpu_hours, postings, run, workloads
from tests.sequences.hands import SETTINGS, ByVerbs, new_project
from tests.sequences.model import Model

NOTHING_MORE = '{"owed": 6000, "mode": "chargeback", "children": [], "parts": [], "workloads": []}'  # of a statement
MARCH, APRIL = "2025-03", "2025-04"
HALF = Interval(MONTH.start_s, MONTH.start_s + 900)


@dataclass(frozen=True)
class Stage:
    """A folder with its own books; `url` names a database elsewhere, else it is SQLite in the folder."""

    folder: Path
    url: str = ""

    def open(self, *, create: bool = False) -> Books:
        url = self.url or f"sqlite:///{self.folder}/books.db"
        return open_books(url, str(self.folder / "warehouse"), create=create)

    @property
    def out(self) -> Path:
        """Where exports go."""
        return self.folder / "out"

    def files(self) -> dict[str, str]:
        """What was exported, by its digest; also what was left behind."""
        return {
            str(file.relative_to(self.out)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in sorted(self.out.rglob("*"))
            if file.is_file()
        }

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


def month_of_a_project(folder: Path) -> None:
    """March closed, April posted and open."""
    hand = ByVerbs(
        new_project(folder, settings=f'{SETTINGS}[books]\nurl = "sqlite:///books.db"\nwarehouse = "warehouse"\n')
    )
    for month, size in ((MARCH, "60.335"), (APRIL, "12.5")):
        hand.deliver(month, {"vision": Decimal(size), "speech": Decimal(40)})
        hand.apply(Model(), month)
    hand.close(MARCH)
    hand.books.close()


def decide(stage: Stage) -> None:
    project = apportion.open_project(stage.folder)
    apportion.adjust(project, MARCH, Wish("vision", "bio", "20.00", "agreed"))
    stage.acknowledge("adjusted")
    if not project.books.disputes():
        open_dispute(project, MARCH, Doubt("speech", "not ours"))
    stage.acknowledge("disputed")
    if project.books.dispute(1).status == OPEN:
        settle_dispute(project, 1, Settlement("credited", "seen", "bio", "7.00"))
    stage.acknowledge("settled")
    project.books.close()


def export(stage: Stage) -> None:
    project = apportion.open_project(stage.folder)
    export_journal(project, MARCH, stage.out / "journal.csv")
    stage.acknowledge("journal")
    export_focus(project, MARCH, stage.out)
    stage.acknowledge("focus")
    render_all(statements(project, Wanted(MARCH, "team")), "csv", stage.out, silent)
    stage.acknowledge("statements")
    project.books.close()


def former_exports(folder: Path) -> None:
    """The same names with other bytes."""
    export(Stage(folder))
    for file in Stage(folder).files():
        (folder / "out" / file).write_bytes(b"former\n")


Story = Callable[[Stage], None]
STORIES: dict[str, Story] = {"begin": begin, "go_on": go_on, "settle": settle, "decide": decide, "export": export}
OF_PROJECTS = ("decide", "export")


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
    disputes: tuple[tuple[int, str, int], ...] = ()
    exported: tuple[str, ...] = ()  # as the audit log has it
    files: tuple[tuple[str, str], ...] = ()

    @property
    def finished(self) -> "State":
        """Without what a killed export left behind."""
        return replace(self, files=tuple(file for file in self.files if not file[0].endswith(".part")))

    def is_between(self, before: "State", after: "State") -> bool:
        """The books are as before or after; of several files, some may be new, and then what the books say of them is."""
        mine, former, new = (replace(state, files=()) for state in (self, before, after))
        same_names = [name for name, _ in self.files] == [name for name, _ in before.files]
        known = {*before.files, *(after.files if mine == new else ())}
        return mine in (former, new) and same_names and {*self.files} <= known


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
        head=books.head() if books.runs() else "",  # books in which nothing is posted say what no books do
        disputes=tuple((one.number, one.status, len(one.notes)) for one in books.disputes()),
        exported=tuple(note.detail for note in books.audit() if note.what == "export"),
        files=tuple(stage.files().items()),
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

    def reached(self, found: State) -> int | None:
        """The last step that is wholly done."""
        if found in self.states:
            return self.states.index(found)
        pairs = enumerate(pairwise(self.states))
        return next((step for step, (before, after) in pairs if found.is_between(before, after)), None)

    def judge(self, stage: Stage, *, thoroughly: bool = True) -> Iterator[str]:
        """What is wrong after a fault; nothing, if all is well. Then the story is told to its end."""
        acknowledged = len(stage.acknowledged())
        found, findings = look(stage)
        reached = self.reached(found.finished)
        if reached is None:
            yield f"half done: {found}"
        elif reached < acknowledged:
            yield f"lost: {acknowledged} steps were acknowledged, and the books are at {reached}"
        yield from (f"verify after the fault: {finding}" for finding in findings)
        STORIES[self.name](stage)
        found, findings = look(stage, closely=thoroughly)
        if found != self.states[-1]:
            yield f"told again, it ended otherwise: {found}"
        yield from (f"verify at the end: {finding}" for finding in findings)


def write_plots(folder: Path, project: Path) -> dict[str, Plot]:
    """Every story without faults, looked at after each step. They go on from where the first ended, or in a copy of the project."""
    begun = folder / "begin"
    begun.mkdir()
    plots = {"begin": watched("begin", begun, State())}
    for name in STORIES.keys() - plots.keys():
        shutil.copytree(project if name in OF_PROJECTS else begun, folder / name)
        plots[name] = watched(name, folder / name, look(Stage(folder / name))[0])
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
