"""For reading in a terminal. Off a terminal the same text without colours, cuts or wraps."""

import io

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.figures import RIGHT, is_rounded, legible, readable, title_of, visible
from apportion.render.sheet import ENDLESS, Screen, Sheet, Table

ROUNDED = "Figures are rounded to minor units so that each column adds up; -o json and -o csv have every digit."


def render(sheet: Sheet, screen: Screen) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=screen.width,
        force_terminal=screen.colour,
        no_color=not screen.colour,
        color_system="standard" if screen.colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=screen.width >= ENDLESS,
    )
    if sheet.title:
        console.print(Text(legible(sheet.title), style="bold"))
    for table in sheet.tables:
        if table.heading:
            console.print(Text("\n" + legible(table.heading), style="bold"))
        if table.rows:
            console.print(grid(table))
    notes = [ROUNDED] if any(map(is_rounded, sheet.tables)) else []
    for note in (*sheet.notes, *notes):
        console.print(Text("\n".join(map(legible, note.split("\n"))), style="dim" if note in notes else ""))
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def grid(table: Table) -> Grid:
    rows, totals = readable(table)
    made = Grid(box=SIMPLE, pad_edge=False, show_edge=False, show_footer=bool(totals), header_style="bold")
    for place, i in enumerate(visible(table)):
        column = table.columns[i]
        footer = Text(totals[place] if totals else "")
        made.add_column(
            Text(title_of(column, table.currency)),
            footer,
            justify="right" if column.kind in RIGHT else "left",
            overflow="fold",
            no_wrap=column.kind in RIGHT,
        )
    for source, row in zip(table.rows, rows, strict=True):
        made.add_row(*map(Text, row), style="dim" if source[0] in SYSTEM_OWNERS else "")
    return made
