"""Days whose figures are not complete, because a source had not delivered all of them: marked wherever a report or a page has days."""

from collections.abc import Collection
from dataclasses import replace
from datetime import date

from apportion.reports.report import Column, Report
from apportion.reports.words import counted

INCOMPLETE = "incomplete"
STATE = Column("state", "state", quiet=True)


def marked(made: Report, days: Collection[date]) -> Report:
    """With a column that says it of each day, if it is about days; the note says of which."""
    if made.columns[0].name != "day":
        return made
    names = {str(day) for day in days}
    sections = tuple(
        replace(
            section,
            rows=tuple((*row, INCOMPLETE if str(row[0]) in names else "") for row in section.rows),
            totals=(*section.totals, "") if section.totals else (),
        )
        for section in made.sections
    )
    shown = [day for day in sorted(days) if any(str(row[0]) == str(day) for part in sections for row in part.rows)]
    notes = (f"{days_text(shown)} incomplete: a source had not delivered all when it was computed.",) if shown else ()
    return replace(
        made,
        columns=(*made.columns, STATE),
        sections=sections,
        notes=(*made.notes, *notes),
        more={**made.more, "incomplete_days": [str(day) for day in shown]},
    )


def days_text(days: Collection[date | str]) -> str:
    """`2026-10-30 and 2026-10-31 are`; many are told by the first and the last."""
    order = sorted({date.fromisoformat(str(day)) for day in days})
    if len(order) == 1:
        return f"{order[0]} is"
    if len(order) == 2:
        return f"{order[0]} and {order[1]} are"
    if (order[-1] - order[0]).days == len(order) - 1:
        return f"{order[0]} to {order[-1]} are"
    return f"{counted(len(order), 'day')} from {order[0]} to {order[-1]} are"
