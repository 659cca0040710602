"""The open project as pages and API read it. An answer is kept as long as the books stand where they stood, and made once however many ask."""

import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa

from apportion.books.moment import Moment, moment
from apportion.books.open import Books
from apportion.books.recent import Recent
from apportion.errors import ApportionError
from apportion.model.times import Period
from apportion.reports.report import Record
from apportion.verbs.ground import Ground, Means, ground_of
from apportion.verbs.held import held_in
from apportion.verbs.periods import today
from apportion.verbs.preview import files_named
from apportion.verbs.project import Project, open_project
from apportion.verbs.report import read_record
from apportion.verbs.settings import FILE
from apportion.web.bench import Bench
from apportion.web.verifying import Verifying

KEPT = 512  # answers
FINISHED = 512  # whole pages, packed
LASTING = 32
STATES = 2  # of the books: as they stand, and as they stood for whoever began to ask before
MONTHS = 4  # of postings
Answer = TypeVar("Answer")


class Desk:
    """One in each server process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._project = open_project(folder)
        self._project.books.months.kept.most = MONTHS
        self._stamp = self.files()
        self.trouble: ApportionError | None = None  # why an edited file does not count
        with suppress(ApportionError):  # the same refusal is told to whoever asks for a page
            self._project.policy  # noqa: B018  # kept from now on
        self._standing: Recent[_Answers] = Recent(STATES)
        self._lasting: Recent[_Once[Any]] = Recent(LASTING)
        self._lock = threading.Lock()
        self.verifying = Verifying()
        self.bench = Bench()

    @property
    def means(self) -> Means:
        """For explanations: what the record says is kept as all answers are, what was computed is on the bench."""
        return Means(self._ground, self.bench.compute, self.record)

    def _ground(self, project: Project, period: Period) -> Ground:
        return self.kept(("ground", str(period)), lambda: ground_of(project, period))

    @property
    def project(self) -> Project:
        """Read anew when apportion.toml or the policy was edited; the books stay open. While they cannot be read, as it was before."""
        with self._lock:
            stamp = self.files()
            if stamp != self._stamp:
                self._stamp = stamp
                self._read_anew()
            return self._project

    def _read_anew(self) -> None:
        try:
            fresh = open_project(self.folder)
            fresh.policy  # noqa: B018  # refuses
        except ApportionError as error:
            self.trouble = error
        else:
            fresh.__dict__["books"] = self._project.books
            self._project, self.trouble = fresh, None

    @property
    def books(self) -> Books:
        return self._project.books

    def files(self) -> Hashable:
        """Settings, policy, and the rules to come that it names."""
        named = [self.folder / FILE, self.folder / self._project.settings.policy]
        with suppress(ApportionError):
            named += files_named(self._project)
        return tuple((file.stat().st_mtime_ns, file.stat().st_size) if file.exists() else None for file in named)

    def state(self) -> Hashable:
        """Another whenever something was recorded or edited, and every day: what is left of a month, or late, is told by the day."""
        return (self.books.state(), self.files(), today())

    def kept(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """What `make` gives, made once while nothing is recorded and no file is edited."""
        with moment() as now:
            once: _Once[Answer] = self._answers(now).kept.get(key, _Once)
            return once.get(make)

    def finished(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """The same for whole pages, which are many: they do not push out what they are made of."""
        with moment() as now:
            once: _Once[Answer] = self._answers(now).finished.get(key, _Once)
            return once.get(make)

    def _answers(self, now: Moment) -> "_Answers":
        """As the books stand at this moment, which others may be past already: both have their own."""
        return self._standing.get(now.known(self, self.state), _Answers)

    def lasting(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """The same for what takes long and depends on nothing but its key, whatever else is recorded meanwhile."""
        once: _Once[Answer] = self._lasting.get(key, _Once)
        return once.get(make)

    def record(self, project: Project, periods: list[Period], until_s: int | None = None) -> Record:
        """As `verbs/report.read_record` reads it."""
        key = ("record", tuple(map(str, periods)), until_s)
        return self.kept(key, lambda: read_record(project, periods, until_s, self.held_in))

    def held_in(self, project: Project, months: Sequence[str], snapshot: int | None = None) -> pa.Table:
        """As `verbs/held.held_in` reads it; charges that stand as they stood are read once."""
        at = project.books.snapshot("charges") if snapshot is None else snapshot
        return self.lasting(("held", at, *months), lambda: held_in(project, months, at))


class _Once(Generic[Answer]):
    """The first who asks makes it, the others wait for it. A failure is not kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: list[Answer] = []

    def get(self, make: Callable[[], Answer]) -> Answer:
        with self._lock:
            if not self._made:
                self._made.append(make())
            return self._made[0]


class _Answers:
    """While the books stand where they stand."""

    def __init__(self) -> None:
        self.kept: Recent[_Once[Any]] = Recent(KEPT)
        self.finished: Recent[_Once[Any]] = Recent(FINISHED)
