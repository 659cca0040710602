"""One long table for spreadsheets and BI: a figure a row, with every digit. Of each section the rows of one measure and unit may be added.

`amount` adds up to what is owed in `summary`, in each `by ...` and in `children`, and to what is owed less what was owed before in `changes`.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass

from apportion.render.csv import cell_text
from apportion.reports.statement.shape import Line, Statement, money

COLUMNS = (
    "period",
    "level",
    "owner",
    "number",
    "section",
    "name",
    "sub_name",
    "measure",
    "unit",
    "value",
    "before",
    "note",
)


@dataclass(frozen=True, slots=True)
class Row:
    section: str
    name: str
    measure: str
    value: int | str | None  # minor units, or decimal text of another unit
    sub_name: str = ""
    unit: str = ""
    before: int | None = None
    note: str = ""


def render(statement: Statement) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    whose = (statement.period, statement.level, statement.owner, statement.number)
    for row in rows_of(statement):
        names = (*whose, row.section, row.name, row.sub_name, row.measure, row.unit or statement.currency)
        values = (number(row.value, statement.digits), number(row.before, statement.digits))
        writer.writerow([*map(cell_text, names), *values, cell_text(row.note)])
    return out.getvalue().encode()


def number(value: int | str | None, digits: int) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{money(value, digits):f}"


def rows_of(statement: Statement) -> Iterator[Row]:
    """Rows without a value (nothing measured) are left out."""
    yield Row("statement", "owed", "amount", statement.owed, before=statement.before)
    yield Row("statement", "charged", "charged", statement.charged)
    yield Row("statement", "carried", "carried", statement.carried)
    yield from (line_row("summary", line) for line in statement.summary)
    for change in statement.changes:
        yield Row("changes", change.driver, "amount", change.amount, sub_name=change.pool)
    for part in statement.parts:
        yield from (line_row(f"by {part.by}", line) for line in part.lines)
    yield from (line_row("children", line) for line in statement.children)
    yield from preview_rows(statement)
    yield from (row for row in (*workload_rows(statement), *usage_rows(statement)) if row.value is not None)
    yield from budget_rows(statement)
    for one in statement.adjustments:
        note = "; ".join(
            filter(None, (one.why, one.approver and f"approved by {one.approver}", one.until and f"until {one.until}"))
        )
        yield Row("adjustments", f"{one.side} {one.other}", "amount", one.amount, sub_name=one.pool, note=note)
    for move in statement.moves or ():
        note = "; ".join(filter(None, (move.why, move.approver and f"approved by {move.approver}")))
        yield Row("moves", f"{move.side} {move.other}", "amount", move.amount, sub_name=move.pool, note=note)
    for fix in statement.corrections:
        note = f"runs {' '.join(fix.runs)}"
        for measure in ("was", "now", "amount"):
            yield Row("corrections", fix.about, measure, getattr(fix, measure), sub_name=fix.cause, note=note)
    for unit, amount in statement.quantities:
        yield Row("quantities", unit, "quantity", amount, unit=unit)
    for found in statement.accepted or ():
        yield Row(
            "accepted findings",
            found.code,
            "rows",
            str(found.rows),
            sub_name=found.source or found.pool,
            unit="rows",
            note=found.text,
        )


def preview_rows(statement: Statement) -> Iterator[Row]:
    """By rules to come; `before` is what it is by those in force."""
    made = statement.preview
    if made is None:
        return
    note = f"{made.policy} {made.version}, until {made.until}"
    if made.owed is None:
        yield Row("preview", "owed", "owed", None, before=statement.owed, note=f"{note}: cannot be applied")
        return
    yield Row("preview", "owed", "owed", made.owed, before=statement.owed, note=note)
    yield Row("preview", "charged", "charged", made.charged, before=statement.charged, note=note)
    for change in made.changes:
        yield Row("preview changes", change.driver, "amount", change.amount, sub_name=change.pool)


def line_row(section: str, line: Line) -> Row:
    return Row(section, line.name, "amount", line.amount, before=line.before)


def workload_rows(statement: Statement) -> Iterator[Row]:
    for work in statement.workloads:
        owner = " / ".join(filter(None, (work.project, work.user)))
        name, hours = work.workload or work.name, f"{work.unit} h".strip()
        for measure in ("amount", "waste"):
            yield Row("workloads", name, measure, getattr(work, measure), sub_name=owner, note=work.name)
        for measure in ("held", "used"):
            yield Row("workloads", name, measure, getattr(work, measure) or None, owner, hours, note=work.name)


def usage_rows(statement: Statement) -> Iterator[Row]:
    """Amounts are of the pool, whatever units it has, and stand once."""
    for use in {use.pool: use for use in statement.usage}.values():
        for measure in ("amount", "waste", "other_hours"):
            yield Row("usage", use.pool, measure, getattr(use, measure))
    for use in statement.usage:
        for measure in ("held", "used", "unmeasured"):
            yield Row("usage", use.pool, measure, getattr(use, measure) or None, use.unit, f"{use.unit} h".strip())


def budget_rows(statement: Statement) -> Iterator[Row]:
    for budget in statement.budgets:
        for measure, value in (("agreed", budget.amount), ("spent", budget.spent), ("left", budget.left)):
            yield Row("budgets", f"per {budget.per}", measure, value, sub_name=budget.pool)
