"""Take in rows that somebody pushes, under the name of a source that is declared for it. The same push twice is one."""

import hashlib
import json
from dataclasses import asdict, dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.failures import spoken
from apportion.books.tables import span
from apportion.errors import Problem, ProjectError
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import Interval
from apportion.sources.clusters import state_cluster
from apportion.sources.pushed import KIND, Taken, Welcome, read_cluster, read_rows
from apportion.verbs.project import Project

LOCK = "push"  # from the claim of a key to its answer: who repeats a push meanwhile waits, and cannot bring old rows back over newer ones
LISTED = 100  # problems that an answer names; the books have all


@dataclass(frozen=True, slots=True)
class Push:
    """`window`: what the rows say all about, so that they replace it; without one they are added. `key` names the push, for who repeats it."""

    source: str
    table: str
    form: str
    body: bytes
    key: str
    strict: bool = False
    window: Interval | None = None

    @property
    def sha256(self) -> str:
        """Of all that makes two pushes the same."""
        window = self.window and [self.window.start_s, self.window.end_s]
        said = json.dumps([self.source, self.table, self.form, self.strict, window])
        return hashlib.sha256(said.encode() + b"\0" + self.body).hexdigest()


@dataclass(frozen=True, slots=True)
class Pushed:
    """`rows` were taken; `known` were in the books already; `refused` are listed as problems, the first of them here."""

    source: str
    table: str
    delivery: str
    rows: int
    known: int
    quarantined: int
    refused: int
    problems: tuple[Problem, ...] = field(default=())


class RefusedError(ProjectError):
    """Nothing was taken, and why."""

    def __init__(self, message: str, problems: tuple[Problem, ...]) -> None:
        super().__init__("push-refused", message, hint="mend the rows that are listed and push again")
        self.problems = problems[:LISTED]


def push(project: Project, who: str, given: Push) -> Pushed:
    """The delivery is made of the content alone, so that whoever was killed before the answer was kept changes nothing by pushing again."""
    source = project.source(given.source)
    if source.kind != KIND:
        raise ProjectError(
            "not-pushed",
            f"source {source.name!r} is of kind {source.kind!r}, which is read and not pushed",
            where=source.where,
            hint=f'declare one with kind = "{KIND}"',
        )
    cluster = read_cluster(source.settings)
    project.books.pushes.check(who, given.key, given.sha256)
    taken = read_rows(given.body, given.form, Welcome(source.name, given.table, given.window))
    refuse_nothing(taken.table, taken.problems, strict=given.strict)
    with spoken(), project.books.locks.hold([LOCK]):
        before = project.books.pushes.claim(who, given.key, given.sha256)
        if before:
            return revived(before)
        done = taken_in(project, given, taken, cluster)
        project.books.pushes.answered(who, given.key, json.dumps(asdict(done)))
    return done


def taken_in(project: Project, given: Push, taken: Taken, cluster: str) -> Pushed:
    made = delivery_of(given, taken)
    receipt = project.books.ingest(state_cluster(made, cluster))
    rows = receipt.rows[given.table]
    return Pushed(
        source=given.source,
        table=given.table,
        delivery=receipt.delivery_id,
        rows=rows,
        known=max(0, taken.table.num_rows - rows - receipt.quarantined),
        quarantined=receipt.quarantined,
        refused=len(taken.problems),
        problems=(*taken.doubts, *taken.problems)[:LISTED],
    )


def refuse_nothing(rows: pa.Table, problems: tuple[Problem, ...], *, strict: bool) -> None:
    if strict and problems:
        raise RefusedError(
            f"{len(problems)} of {len(problems) + len(rows)} rows cannot be taken, so none was", problems
        )
    if not len(rows):
        raise RefusedError("there is no row that can be taken", problems)


def delivery_of(given: Push, taken: Taken) -> Delivery:
    rows, problems = taken.table, (*taken.problems, *taken.doubts)
    amount = {"usage": "allocated", "workloads": "end_s"}.get(given.table, "amount")
    control = str(pc.sum(rows[amount].cast(pa.decimal128(38, 0))).as_py() or 0)
    digest = FileDigest(f"push {given.table}", hashlib.sha256(given.body).hexdigest(), rows.num_rows, control)
    window = given.window or Interval(*span(given.table, rows))
    return Delivery(
        given.source, window, {given.table: rows}, problems, (digest,), adds=given.window is None
    )  # fmt: skip


def revived(text: str) -> Pushed:
    given = json.loads(text)
    return Pushed(**{**given, "problems": tuple(Problem(**one) for one in given["problems"])})
