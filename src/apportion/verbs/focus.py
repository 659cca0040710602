"""Export what was booked in a month as FOCUS charges: the split, what it is split from, and the billing period, with their metadata."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.booked import BOOKED
from apportion.books.shapes import PLAN, StoredRun
from apportion.engine.placed import placed_lines
from apportion.errors import BooksError, require_equal
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.money import total_of
from apportion.model.result import Result
from apportion.model.rows import MONEY
from apportion.model.times import Period
from apportion.render.focus.beside import billing_period, metadata
from apportion.render.focus.charges import Issue, Split, money_of, split
from apportion.render.focus.columns import KEY, PERIODS, SCHEMA, VERSIONS, in_version
from apportion.render.focus.lines import by_line
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.sheets import read_columns, sheet
from apportion.verbs.steps import Step, silent
from apportion.verbs.together import Together, together
from apportion.verbs.world import Pins, bill_lines, exchange_rates

CHARGES, ORIGINS, PERIOD, METADATA = "cost_and_usage", "origin_charges", "billing_period", "metadata.json"
Sums = dict[tuple[str, ...], Decimal]
SUMMED = ("bill", "pool", "component", "day")
NOTHING = Split(SCHEMA.empty_table(), SCHEMA.empty_table())


@dataclass(frozen=True, slots=True)
class Form:
    """How it is written. `per_line` splits the vendors' lines instead of charges of our own."""

    format: str = "parquet"
    version: str = VERSIONS[0]
    per_line: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Exported(Result):
    period: str
    closed: bool
    folder: Path
    files: tuple[str, ...]
    rows: int
    origins: int
    totals: Mapping[str, Decimal]
    head: str


@dataclass(slots=True)
class Tally:
    """What was booked, by bill, pool, component and day, and how much was made of it."""

    booked: Sums = field(default_factory=dict)
    totals: Sums = field(default_factory=dict)
    origins: int = 0
    rows: int = 0

    def add(self, booked: pa.Table, made: Split) -> None:
        """`booked` without day is of lines that have days of their own."""
        merge(self.booked, sums(booked, SUMMED))
        merge(self.totals, sums(booked, ("currency",)))
        self.origins += len(made.origins)
        self.rows += len(made.rows)


def export_focus(
    project: Project, period: Period | str, folder: Path, form: Form | None = None, step: Step = silent
) -> Exported:
    """Write a month as FOCUS into `folder`/PERIOD. A file is there whole or as it was before; the books do not change."""
    period, form = as_period(period), form or Form()
    runs = [run for run in project.books.runs() if run.period == str(period)]
    if not runs:
        raise BooksError(
            "nothing-posted", f"nothing is posted in {period}", hint=f"apportion plan --period {period}, then apply"
        )
    head, closed = project.books.head(str(period)), project.books.closed_by(str(period)) is not None
    issue = issue_of(project, period, runs)
    with together(folder / str(period)) as files:
        tally = write_charges(charges(project, issue, form, step), form, files)
        step("checking", 0, 0)
        check(files, form, tally)
        with sheet(files, PERIOD, form.format, PERIODS) as written:
            written.write(billing_period(issue, [run.posted_s for run in runs], closed=closed))
        if project.books.head(str(period)) != head:
            raise BooksError("inputs-moved", f"something was posted in {period} meanwhile", hint="export it again")
        told = {name: {"SHA256": files.sha256(name)} for name in files.files}
        with files.file(METADATA) as file:
            text = json.dumps(metadata(issue, form.version, head, told), indent=1, ensure_ascii=False)
            file.write(f"{text}\n".encode())
    totals = {currency: amount for (currency,), amount in sorted(tally.totals.items())}
    return Exported(
        str(period), closed, folder / str(period), tuple(files.files), tally.rows, tally.origins, totals, head
    )


def issue_of(project: Project, period: Period, runs: Sequence[StoredRun]) -> Issue:
    """By the policies that the month was posted with; its plan's counts before those of months that are corrected in it."""
    ordered = sorted(runs, key=lambda run: run.kind == PLAN)
    policies = [policy_of_version(project, version) for version in dict.fromkeys(run.policy_version for run in ordered)]
    policy = policy_of_version(project, ordered[-1].policy_version)
    methods = {name: pool.method for one in [*policies, policy] for name, pool in one.pools.items()}
    return Issue(period, ZoneInfo(policy.time_zone), policy.statements.issuer or policy.name, policy.name, methods)


def charges(project: Project, issue: Issue, form: Form, step: Step) -> Iterator[tuple[pa.Table, Split]]:
    """What was booked, and what it is as charges: a day at a time, or first the lines that stand for what was planned of their bills."""
    lines = lines_of(project, issue.period) if form.per_line else None
    held: list[pa.Table] = []
    for done, day in enumerate(project.books.booked(str(issue.period))):
        step("writing days", done, 0)
        money = money_of(day)
        if lines is not None:
            mine = pc.and_(pc.equal(money["kind"], PLAN), pc.is_in(money["bill"], pc.unique(lines["bill"])))
            held.append(without_day(money.filter(mine)))
            money = money.filter(pc.invert(mine))
        yield money, split(money, issue)
    if lines is not None and held:
        step("splitting lines", 0, 0)
        booked = without_day(pa.concat_tables(held))
        yield booked, NOTHING
        yield from ((booked.slice(0, 0), made) for made in by_line(lines, booked, issue))


def without_day(booked: pa.Table) -> pa.Table:
    """Added up over days: a line has a charge period of its own."""
    keys = [name for name in BOOKED.names if name not in ("day", "amount")]
    sums = booked.group_by(keys).aggregate([("amount", "sum")]).rename_columns([*keys, "amount"])
    sums = sums.sort_by([(name, "ascending") for name in keys])
    return sums.append_column("day", pa.nulls(len(sums), pa.date32())).select(BOOKED.names)


def lines_of(project: Project, period: Period) -> pa.Table | None:
    """The lines that the month's plan was made of, placed by its policy. A converted bill is no vendor's any more, and stays a charge of ours."""
    planned = [run for run in project.books.runs(PLAN) if run.period == str(period)]
    if not planned:
        return None
    policy, pins = policy_of_version(project, planned[-1].policy_version), Pins(planned[-1].inputs)
    lines = bill_lines(project, period, pins)
    placed = placed_lines(lines, policy, period, exchange_rates(project, period, policy, pins, lines))
    as_billed = pc.equal(placed["posted_currency"], placed["BillingCurrency"])
    return placed.filter(pc.and_(as_billed, pc.is_in(placed["posted_currency"], pa.array(MINOR_DIGITS))))


def write_charges(parts: Iterator[tuple[pa.Table, Split]], form: Form, files: Together) -> Tally:
    tally = Tally()
    schema = in_version(SCHEMA.empty_table(), form.version).schema
    with sheet(files, CHARGES, form.format, schema) as rows, sheet(files, ORIGINS, form.format, schema) as origins:
        for booked, made in parts:
            rows.write(in_version(made.rows, form.version))
            origins.write(in_version(made.origins, form.version))
            tally.add(booked, made)
    return tally


def check(files: Together, form: Form, tally: Tally) -> None:
    """Both files, as read back, come to what was booked, digit for digit; else nothing is published. A line's pools stand in its parts alone."""
    for name, keys in ((CHARGES, SUMMED), (ORIGINS, ("bill", "component") if form.per_line else SUMMED)):
        file, found, booked = f"{name}.{form.format}", Sums(), Sums()
        for block in read_columns(files.files[file], form.format, [*(KEY[one] for one in keys), "EffectiveCost"]):
            merge(found, sums(block.rename_columns([*keys, "amount"]), keys))
        for key, amount in tally.booked.items():
            merge(booked, {tuple(part for one, part in zip(SUMMED, key, strict=True) if one in keys): amount})
        for key in sorted({*found, *booked}):
            what = f"EffectiveCost of {', '.join(filter(None, key))} in {file}"
            require_equal(what, booked.get(key, Decimal(0)), found.get(key, Decimal(0)))


def sums(rows: pa.Table, keys: Sequence[str]) -> Sums:
    columns = {name: pc.fill_null(pc.cast(rows[name], pa.string()), "") for name in keys}
    summed = pa.table({**columns, "amount": pc.cast(rows["amount"], MONEY)}).group_by(list(keys))
    found = summed.aggregate([("amount", "sum")])
    return dict(
        zip(zip(*(found[key].to_pylist() for key in keys), strict=True), found["amount_sum"].to_pylist(), strict=True)
    )


def merge(into: Sums, more: Sums) -> None:
    for key, amount in more.items():
        into[key] = total_of([into.get(key, Decimal(0)), amount])
