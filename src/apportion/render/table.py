"""For reading in a terminal. Off a terminal the same text without colours, cuts or wraps."""

import io
from dataclasses import replace
from itertools import islice

from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.figures import RIGHT, is_rounded, legible, readable, title_of, visible
from apportion.render.sheet import ENDLESS, Screen, Sheet, Table

ROUNDED = "Figures are rounded to minor units so that each column adds up; {} every digit."

BETWEEN = 3  # blanks between columns
FOLD = 24  # words may be folded to this width


def rounding(sheet: Sheet, screen: Screen) -> list[str]:
    """Said below figures that are rounded, with where every digit is."""
    return [ROUNDED.format(screen.exact)] if any(map(is_rounded, sheet.tables)) else []


def render(sheet: Sheet, screen: Screen) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=screen.width,
        force_terminal=screen.colour,
        force_jupyter=False,  # text is text there, too
        no_color=not screen.colour,
        color_system="standard" if screen.colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=screen.width >= ENDLESS,
    )
    left_out: dict[str, None] = {}
    if sheet.title:
        console.print(Text(legible(sheet.title), style="bold"))
    for table in sheet.tables:
        if table.heading:
            console.print(Text("\n" + legible(table.heading), style="bold"))
        if table.rows:
            whole = only(table, [place for place in visible(table) if not table.columns[place].long])
            fitting = narrowed(whole, screen.width)
            left_out |= dict.fromkeys(column.title for column in whole.columns if column not in fitting.columns)
            console.print(grid(fitting, screen.rows))
            console.print(more(len(table.rows), screen.rows), end="")
            for line in sentences_below(table, screen.rows):
                console.print(Text(legible(line)))
    notes = rounding(sheet, screen)
    notes += [f"Too narrow here for {', '.join(left_out)}; -o csv and -o json have all columns."] if left_out else []
    for note in (*sheet.notes, *notes):
        console.print(Text("\n".join(map(legible, note.split("\n"))), style="dim" if note in notes else ""))
    return "\n".join(line.rstrip() for line in out.getvalue().split("\n"))


def sentences_below(table: Table, most: int | None) -> list[str]:
    """What a row's `long` columns say: the first after the row's name, each other on a line with its title."""
    places = [place for place in visible(table) if table.columns[place].long]
    lines: list[str] = []
    for row in table.rows[:most] if places else ():
        first, *others = (place for place in places if row[place])
        lines.append(f"  {row[0]}: {row[first]}")
        lines += [f"    {table.columns[place].title}: {row[place]}" for place in others]
    return lines


def narrowed(table: Table, width: int) -> Table:
    """Without quiet columns that do not fit, words before figures and the last ones first: words fold, a figure is never cut."""
    while natural_width(table) > width:
        quiet = [i for i, column in enumerate(table.columns) if column.quiet]
        if not quiet:
            break
        drop = max(quiet, key=lambda i: (table.columns[i].kind not in RIGHT, i))
        table = only(table, [i for i in range(len(table.columns)) if i != drop])
    return table


def only(table: Table, places: list[int]) -> Table:
    columns = tuple(table.columns[i] for i in places)
    rows = tuple(tuple(row[i] for i in places) for row in table.rows)
    return replace(
        table, columns=columns, rows=rows, totals=tuple(table.totals[i] for i in places) if table.totals else ()
    )


def natural_width(table: Table) -> int:
    """What the table needs, with its longer words folded."""
    rows, totals = readable(table)
    titles = [title_of(column, table.currency) for column in table.columns]
    lines = [titles, *rows, *([totals] if totals else [])]
    widths = [max(map(cell_len, cells)) for cells in zip(*lines, strict=True)]
    needed = (
        width if column.kind in RIGHT else min(width, FOLD) for column, width in zip(table.columns, widths, strict=True)
    )
    return sum(needed) + BETWEEN * (len(titles) - 1)


def more(rows: int, most: int | None) -> str:
    return "" if most is None or rows <= most else f"… {rows - most:,} more\n"


def grid(table: Table, most: int | None = None) -> Grid:
    """Its first rows, rounded with all of them."""
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
            min_width=max(cell_len(cells[place]) for cells in (*rows, totals or [""] * len(table.columns)))
            if column.kind in RIGHT
            else None,
        )
    for source, row in islice(zip(table.rows, rows, strict=True), most):
        made.add_row(*map(Text, row), style="dim" if source[0] in SYSTEM_OWNERS else "")
    return made
