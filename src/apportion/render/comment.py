"""A sheet as a comment on a pull request: its sentence, who gains and who loses, and the rest to unfold.

It begins with a mark, by which whoever posts it finds the one before and changes that instead of adding another. Names come from outside: they are
neither markup nor do they call anybody. No comment is longer than GitHub takes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from html import escape

from apportion.render.markdown import escaped, pipes
from apportion.render.sheet import Screen, Sheet, Table
from apportion.render.table import rounding
from apportion.reports.report import Cell
from apportion.reports.sums import total
from apportion.reports.words import counted

MARK = "<!-- apportion-whatif -->"
MOST = 65_536  # bytes: GitHub counts characters, of which there are never more
SPARE = 1_000  # for the sentence that says what was left out
ROWS = 40  # that are seen without unfolding
UNSEEN = "&#8203;"
CALLS = {"@": f"@{UNSEEN}", "\\#": f"\\#{UNSEEN}", "://": f":{UNSEEN}//", "www.": f"www{UNSEEN}."}


def comment(sheet: Sheet) -> str:
    """Tables without a heading are seen; each heading begins a part to unfold, and so do the notes after the first."""
    seen, parts = apart(sheet.tables)
    first, *notes = sheet.notes or ("",)
    head = [MARK, f"### {said(sheet.title)}", *map(figures, seen), *([said(first)] if first else [])]
    more = [unfolded(title, (quiet(pipes(table)) for table in tables)) for title, tables in (*long(seen), *parts)]
    lines = [*notes, *rounding(sheet, Screen())]
    if lines:
        more.insert(0, unfolded("What changes in the policy, and how to read the figures", [listed(lines)]))
    return fitting(head, more)


def fitting(head: Iterable[str], more: Iterable[str]) -> str:
    """As many parts as there is room for, each whole; what is left out is said."""
    kept: list[str] = []
    left = 0
    for part in head:
        kept.append(part if room(kept, part) else "The table is too long for a comment: `-o csv` has it.")
    for part in more:
        if room(kept, part):
            kept.append(part)
        else:
            left += 1
    if left:
        kept.append(f"{counted(left, 'part')} did not fit into a comment: the command itself shows all.")
    return "\n\n".join(kept) + "\n"


def room(kept: Iterable[str], part: str) -> bool:
    return sum(len(one.encode()) + 2 for one in (*kept, part)) <= MOST - SPARE


def apart(tables: Iterable[Table]) -> tuple[list[Table], list[tuple[str, list[Table]]]]:
    """A table without a heading goes on with the one before, in another currency."""
    seen: list[Table] = []
    parts: list[tuple[str, list[Table]]] = []
    for table in tables:
        if not table.rows:
            continue
        if table.heading:
            parts.append((table.heading, [table]))
        else:
            (parts[-1][1] if parts else seen).append(table)
    return seen, parts


def long(seen: Iterable[Table]) -> Iterator[tuple[str, list[Table]]]:
    """All rows of those of which only some are seen."""
    cut = [table for table in seen if len(moved(table)) > ROWS]
    if cut:
        yield "All who would owe another amount", [replace(table, rows=tuple(moved(table))) for table in cut]


def figures(table: Table) -> str:
    """Who gains and who loses; all others are one row, so that columns still add up."""
    rows = moved(table)[:ROWS]
    others = [row for row in table.rows if row not in rows]
    summed = (together(table, others),) if others else ()
    return quiet(pipes(replace(table, rows=(*rows, *summed))))


def moved(table: Table) -> list[tuple[Cell, ...]]:
    places = [n for n, column in enumerate(table.columns) if column.name.endswith("change")]
    return [row for row in table.rows if not places or any(row[n] for n in places)]


def together(table: Table, rows: list[tuple[Cell, ...]]) -> tuple[Cell, ...]:
    sums: list[Cell] = [
        total(cell for row in rows if isinstance(cell := row[n], Decimal)) if column.kind == "money" else None
        for n, column in enumerate(table.columns)
    ]
    return (counted(len(rows), "other"), *sums[1:])


def unfolded(title: str, blocks: Iterable[str]) -> str:
    """GitHub reads Markdown inside only after an empty line."""
    return "\n\n".join((f"<details><summary>{escape(title)}</summary>", *blocks, "</details>"))


def listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {'<br>'.join(map(said, line.split(chr(10))))}" for line in lines)


def said(text: str) -> str:
    return quiet(escaped(text))


def quiet(markdown: str) -> str:
    """Calling nobody: GitHub looks for people, issues and addresses after it has read the Markdown, where an escape no longer shows."""
    for call, instead in CALLS.items():
        markdown = markdown.replace(call, instead)
    return markdown
