"""Months as a .hyper file for Tableau: the postings to pivot, who was charged, and the bills that it all adds up to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from apportion.books.moment import moment
from apportion.model.kinds import summed
from apportion.model.rows import MONEY, TEXT, table
from apportion.model.times import Period
from apportion.render.hyper import content_sha256, render
from apportion.reports.flat import flat
from apportion.reports.sums import less
from apportion.verbs.billed import billed
from apportion.verbs.files import put
from apportion.verbs.periods import as_period, label
from apportion.verbs.project import Project
from apportion.verbs.report import read_record
from apportion.verbs.steps import Step, silent

OWNER = ["period", "cost_centre", "department", "team", "project", "owner_kind", "currency"]
BILLS = table(
    ("period", TEXT), ("bill", TEXT), ("currency", TEXT), ("total", MONEY), ("posted", MONEY), ("difference", MONEY),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported:
    """`sha256` is that of the content. `again` tells that the same was written before."""

    period: str
    path: Path
    rows: Mapping[str, int]
    sha256: str
    again: bool


def export_tableau(project: Project, periods: str | list[Period], to: str | Path, step: Step = silent) -> Exported:
    """Months as a `.hyper` file that Tableau opens: postings, owners and bills with every digit."""
    months, to = [as_period(periods)] if isinstance(periods, str) else periods, Path(to)
    made = tables(project, months, step)
    step("writing the extract", 0, 0)
    sha256, noted = content_sha256(made), False

    def note() -> None:
        nonlocal noted
        noted = project.books.note_once("export", f"Tableau extract of {label(months)}, content sha256 {sha256}")

    put(to, render(made), note)
    return Exported(label(months), to, {name: len(rows) for name, rows in made.items()}, sha256, again=not noted)


def tables(project: Project, months: list[Period], step: Step = silent) -> dict[str, pa.Table]:
    """Of one moment. Users are left out: a file cannot be taken back when a name is to be erased."""
    with moment():
        step(f"reading {label(months)}", 0, 0)
        postings = flat(read_record(project, months).posted)
        owners = summed(postings, OWNER, ["amount"]).sort_by([(name, "ascending") for name in OWNER])
        rows = [
            (one.period, one.bill, one.currency, one.says, one.posted, less(one.says, one.posted))
            for month in months
            for one in billed(project, month)
        ]
    columns = zip(*rows, strict=True) if rows else [()] * len(BILLS)
    bills = pa.table([pa.array(column, kind.type) for column, kind in zip(columns, BILLS, strict=True)], schema=BILLS)
    return {"postings": postings, "owners": owners, "bills": bills}
