"""A month as a workbook for finance: who owes what, that it adds up to the bills, what changed, the rows to pivot, the rules, and where it is from."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from apportion import __version__
from apportion.books.moment import moment
from apportion.model.times import Period
from apportion.policy.aloud import read_aloud
from apportion.render.excel.workbook import Leaf, Workbook, check_size, render
from apportion.render.sheet import Sheet, Table, report_sheet
from apportion.reports.changes import Change, changes
from apportion.reports.equation import Equation, equations, whole_equations
from apportion.reports.flat import flat
from apportion.reports.idle import idle
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.showback import showback
from apportion.reports.sums import NAMES, SIDES, ZERO, less, section, share_of, total
from apportion.reports.words import shown
from apportion.verbs.agreement import basis_of, policy_of_version
from apportion.verbs.billed import billed
from apportion.verbs.files import put
from apportion.verbs.minor_units import read_posted
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.report import carriers, policies_posted, posted_periods, read_record
from apportion.verbs.steps import Step, silent

ADDS_UP = (
    Column("bill", "bill"),
    *(Column(side, NAMES.get(side, side), "money") for side in SIDES),
    Column("amount", "posted", "money"),
    Column("total", "the bill", "money"),
    Column("difference", "difference", "money"),
)
CHANGES = (
    Column("owner", "owner"),
    Column("before", "month before", "money"),
    Column("after", "this month", "money"),
    Column("change", "change", "money"),
    Column("share", "change", "share"),
    Column("why", "mostly"),
)
RULES = (Column("section", "section"), Column("rule", "what it says"), Column("line", "line", "count", quiet=True))
FACTS = (Column("what", "what"), Column("value", "is"))
DIGITS = (
    "Amounts are numbers of Excel, which keeps 15 digits: enough for reading and for sums to the cent. Excel rounds each shown figure by itself, so that "
    "a column may look a cent apart from its total; what stands behind it adds up. The column Exact amount of the sheet Data has every digit, as text."
)
TEXTS = "Names come from outside. Whatever they begin with, they are text here: none is a formula or a link."


@dataclass(frozen=True, slots=True)
class Exported:
    """`again` tells that the very same file was written before."""

    period: str
    path: Path
    sha256: str
    rows: int
    title: str
    again: bool


def export_excel(project: Project, period: Period | str, to: str | Path, step: Step = silent) -> Exported:
    """The same books give the same bytes. It is noted in the audit log once per content."""
    period, to = as_period(period), Path(to)
    made = workbook(project, period, step)
    step("writing the workbook", 0, 0)
    body = render(made)
    sha256 = hashlib.sha256(body).hexdigest()
    noted = False

    def note() -> None:
        nonlocal noted
        noted = project.books.note_once("export", f"workbook of {period}, sha256 {sha256}")

    put(to, body, note)
    return Exported(str(period), to, sha256, len(made.data), made.title, again=not noted)


def workbook(project: Project, period: Period, step: Step = silent) -> Workbook:
    """Of one moment. A month that does not add up to its bills is refused."""
    with moment():
        step(f"reading {period}", 0, 0)
        record = read_record(project, [period])
        data = flat(record.posted)
        check_size(len(data))
        agreed = policies_posted(project, [period])
        exact = equations(
            project.books.posted(str(period)), ((one.bill, one.currency, one.says) for one in billed(project, period))
        )
        sums = whole_equations(exact, record.posted)
        teams = showback(record)
        leaves = (
            Leaf("Summary", summary(teams, sums), drawn=True),
            Leaf("Teams", report_sheet(teams)),
            Leaf("Pools", report_sheet(showback(record, "pool"))),
            Leaf("Idle", report_sheet(idle(record, carriers(project, agreed, period)))),
            Leaf("Changes", changed(project, period, record)),
            Leaf("Policy", rules(project, agreed[str(period)])),
            Leaf("About", about(project, period, record)),
        )
        posted = max(run.posted_s for run in project.books.runs() if run.period == str(period))
    return Workbook(teams.title, leaves, data, "Policy", datetime.fromtimestamp(posted, UTC).replace(tzinfo=None))


def summary(teams: Report, sums: tuple[Equation, ...]) -> Sheet:
    """The sentence, that owners + _idle + _unallocated + _residual are each bill, and what each team owes."""
    return Sheet(teams.title, (*adding_up(sums), *owing(teams)), notes=(DIGITS, f"ledger head {teams.head}"))


def adding_up(sums: tuple[Equation, ...]) -> Iterator[Table]:
    for currency in sorted({one.currency for one in sums}):
        rows = [equation_row(one) for one in sums if one.currency == currency]
        made = section(currency, total(one.total for one in sums if one.currency == currency), ADDS_UP, rows)
        yield Table(
            ADDS_UP,
            made.rows,
            made.totals,
            currency,
            f"Owners + _idle + _unallocated + _residual = the bill, {currency}",
        )


def equation_row(one: Equation) -> dict[str, Cell]:
    sides = {side: getattr(one, side) for side in SIDES}
    posted = total(sides.values())
    return {"bill": one.bill, **sides, "amount": posted, "total": one.total, "difference": less(posted, one.total)}


def owing(teams: Report) -> Iterator[Table]:
    names = ("owner", "amount", "share")
    places = [[column.name for column in teams.columns].index(name) for name in names]
    for part in teams.sections:
        rows = tuple(tuple(row[i] for i in places) for row in part.rows)
        totals = tuple(part.totals[i] for i in places)
        yield Table(
            tuple(teams.columns[i] for i in places), rows, totals, part.currency, f"Who owes what, {part.currency}"
        )


def changed(project: Project, period: Period, record: Record) -> Sheet:
    """Beside the month before, where something is posted in it."""
    before = period.previous
    if str(before) not in posted_periods(project):
        return Sheet(f"Nothing is posted for {before}: there is nothing to compare {period} with.")
    made = changes(read_posted(project, before), record.posted)
    tables, sentences = [], []
    for currency in sorted({one.currency for one in made}):
        own = [one for one in made if one.currency == currency]
        found = section(currency, ZERO, CHANGES, [change_row(one) for one in own])
        moved = total(one.change for one in own)
        sentences.append(
            f"{period} comes to {shown(abs(moved), currency)} {'less' if moved < 0 else 'more'} than {before}."
        )
        tables.append(Table(CHANGES, found.rows, (*found.totals[:4], None, None), currency, f"By owner, {currency}"))
    return Sheet(" ".join(sentences), tuple(tables))


def change_row(one: Change) -> dict[str, Cell]:
    return {
        "owner": one.owner,
        "before": one.before,
        "after": one.after,
        "change": one.change,
        "share": share_of(one.change, one.before),
        "why": one.why,
    }


def rules(project: Project, version: str) -> Sheet:
    """The policy that the month was posted with, in sentences, each with its line."""
    policy = policy_of_version(project, version)
    rows: list[tuple[Cell, ...]] = []
    for part in read_aloud(policy):
        for clause in part.parts:
            rows.append((part.text, clause.text, clause.line or None))
            rows += [(part.text, f"    {one.text}", one.line or None) for one in clause.parts]
    title = f"The policy {policy.name}, in force from {policy.effective} on. Amounts are {basis_of(policy)}."
    return Sheet(title, (Table(RULES, tuple(rows)),), notes=(f"version {policy.version}",))


def about(project: Project, period: Period, record: Record) -> Sheet:
    runs = [run for run in project.books.runs() if run.period == str(period)]
    closed = project.books.closed_by(str(period)) is not None
    facts = {
        "project": project.settings.name,
        "month": str(period),
        "state": "closed: its figures stay" if closed else "open: its figures may still move",
        "last posted": datetime.fromtimestamp(runs[-1].posted_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "policy": ", ".join(record.policies),
        "ledger head": record.head,
        "made by": f"apportion {__version__}",
        "with": f"apportion export excel --period {period} --to FILE.xlsx",
        "checked with": f"apportion verify --head {record.head}",
        "users": "left out: a file cannot be taken back when a name is to be erased",
    }
    return Sheet("Where these figures are from.", (Table(FACTS, tuple(facts.items())),), notes=(DIGITS, TEXTS))
