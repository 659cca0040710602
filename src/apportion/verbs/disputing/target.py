"""What is disputed: a posting by its number or hash, a job or workload, or an owner's statement; and which rows of a month that is."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import ProjectError
from apportion.model.rows import POSTING_KEY, POSTINGS
from apportion.model.times import Period, parse_period
from apportion.reports.sums import total
from apportion.verbs.explaining.target import entries_named
from apportion.verbs.project import Project
from apportion.verbs.transfers import EVERY, Row, path_of, rows_of_owner, spread, table_of

POSTING, JOB, STATEMENT = "posting", "job", "statement"
KINDS = (STATEMENT, JOB, POSTING)
KEY = POSTING_KEY[1:]  # the month that a posting is about is told apart from where it was booked
CHARGE = ("bill", "component", "pool", "day", "reason", "team", "project", "user")
OF_USE = ("", "no owner")  # causes of the postings that charges are inside of


class Doubted(Protocol):
    """A target, or a dispute about it."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def key(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Target:
    """`month` is what it is about, `booked` where it stands; `explained` is what `explain` calls it."""

    kind: str
    name: str
    key: tuple[str, ...]
    month: Period
    booked: Period
    explained: str
    also: tuple[str, ...] = ()


def find_target(project: Project, what: str, period: Period) -> Target:
    kind, colon, name = what.partition(":")
    exact = bool(colon) and kind in KINDS
    found = [
        target
        for known in ((kind,) if exact else KINDS)
        for target in candidates(project, known, name if exact else what, period)
    ]
    if not found:
        raise ProjectError(
            "unknown-figure",
            f"{what!r} is no posting, job or owner of {period}",
            hint="give a posting's number or hash, a job, or TEAM, TEAM/PROJECT or TEAM/PROJECT/USER for a statement",
        )
    first = found[0]
    also = tuple(f"{other.kind}:{other.name}" for other in found[1:])
    return Target(first.kind, first.name, first.key, first.month, first.booked, first.explained, also)


def candidates(project: Project, kind: str, name: str, period: Period) -> Iterator[Target]:
    if kind == STATEMENT:
        if len(rows_of_owner(project.books.believed(str(period), EVERY), name)):
            yield Target(kind, name, (), period, period, f"team:{name.partition('/')[0]}")
    elif kind == JOB:
        workloads = workloads_named(project, name)
        if workloads and len(charges_of(project, workloads, period)):
            yield Target(kind, name, workloads, period, period, f"job:{name}")
    else:
        for row in entries_named(project, name, period):
            run = next(run for run in project.books.runs() if run.run_id == row["run_id"])
            month = parse_period(run.about or run.period)
            yield Target(
                kind, str(row["seq"]), tuple(str(row[part]) for part in KEY), month, period, f"posting:{row['seq']}"
            )


def workloads_named(project: Project, name: str) -> tuple[str, ...]:
    """Of a run all its attempts and tasks; of an attempt itself alone."""
    where = (pc.field("workload") == name) | (pc.field("run") == name)
    found = project.books.scan("workloads", columns=["workload", "run"], where=where).to_pylist()
    own = {row["workload"] for row in found if row["run"] == name}
    return tuple(sorted(own or {row["workload"] for row in found}))


def charges_of(project: Project, workloads: tuple[str, ...], period: Period) -> pa.Table:
    where = (pc.field("period") == str(period)) & pc.field("workload").isin(list(workloads))
    return project.books.scan("charges", columns=[*CHARGE, "amount"], where=where)


def rows_of(project: Project, target: Doubted, rows: pa.Table) -> pa.Table:
    """What stands of it now, among all that its month came to."""
    if target.kind == STATEMENT:
        return rows_of_owner(rows, target.name)
    if target.kind == POSTING:
        for name, value in zip(KEY, target.key, strict=True):
            column = pc.cast(rows[name], pa.string()) if name == "day" else rows[name]
            rows = rows.filter(pc.equal(column, value))
        return rows
    return table_of(list(job_rows(project, target, rows)))


def job_rows(project: Project, target: Doubted, rows: pa.Table) -> Iterator[Row]:
    """A job's charges as parts of its owner's postings, which must still hold them."""
    if not len(rows):
        return
    charges = charges_of(project, target.key, parse_period(rows["period"][0].as_py()))
    summed = (
        charges.group_by(list(CHARGE)).aggregate([("amount", "sum")]).sort_by([(name, "ascending") for name in CHARGE])
    )
    standing: dict[tuple[object, ...], list[Row]] = {}
    for row in rows.to_pylist():
        if row["cause"] in OF_USE:
            standing.setdefault(place_of(row), []).append(row)
    for charge in summed.to_pylist():
        amount, postings = charge["amount_sum"], standing.get(place_of(charge), [])
        if not amount:
            continue
        stands = total(row["amount"] for row in postings)
        if (stands < 0) != (amount < 0) or stands.copy_abs() < amount.copy_abs():
            raise ProjectError(
                "nothing-left",
                f"what job {target.name} was charged on {charge['day']} in pool {charge['pool']} no longer stands with {path_of(charge)}",
                hint="its posting was corrected or moved since; dispute what stands now",
            )
        sign = 1 if amount > 0 else -1
        for posting, part in spread(
            [{**row, "amount": signed(row["amount"], sign)} for row in postings], amount.copy_abs()
        ):
            yield {**{name: posting[name] for name in POSTINGS.names}, "amount": signed(part, sign)}


def signed(amount: Decimal, sign: int) -> Decimal:
    """Every digit of it: a product would be rounded."""
    return amount if sign > 0 else amount.copy_negate()


def place_of(row: Row) -> tuple[object, ...]:
    """Where a charge is looked for: it covers what was used within a reservation and beyond it, which are two postings."""
    return tuple("usage" if row[name] == "burst" else row[name] for name in CHARGE)


def owners_of(project: Project, target: Target) -> list[str]:
    """The teams that it is of; of a statement its owner. Nothing is said of what stands of it now."""
    if target.kind == STATEMENT:
        return [target.name]
    if target.kind == POSTING:
        return [target.key[KEY.index("team")]]
    return sorted(set(charges_of(project, target.key, target.month)["team"].to_pylist()))
