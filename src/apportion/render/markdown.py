"""Markdown for issues, wikis and mail: the title in bold, one pipe table per currency."""

import re

from apportion.render.figures import RIGHT, legible, readable, title_of, visible
from apportion.render.sheet import Screen, Sheet, Table
from apportion.render.table import rounding

SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~&$])")


def render(sheet: Sheet, screen: Screen) -> str:
    parts = [f"**{escaped(sheet.title)}**"] if sheet.title else []
    for table in sheet.tables:
        if table.heading:
            parts.append(f"**{escaped(table.heading)}**")
        if table.rows:
            parts.append(pipes(table))
    notes = [*sheet.notes, *rounding(sheet, screen)]
    parts.extend("  \n".join(map(escaped, note.split("\n"))) for note in notes)
    return "\n\n".join(parts) + "\n"


def pipes(table: Table) -> str:
    rows, totals = readable(table)
    shown = [table.columns[i] for i in visible(table)]
    lines = [
        _line([escaped(title_of(column, table.currency)) for column in shown]),
        _line(["---:" if column.kind in RIGHT else "---" for column in shown]),
        *(_line([escaped(cell) for cell in row]) for row in rows),
    ]
    if totals:
        lines.append(_line([f"**{escaped(cell)}**" if cell else "" for cell in totals]))
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Names come from outside and must not become markup or HTML."""
    return SPECIAL.sub(r"\\\1", legible(text))


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
