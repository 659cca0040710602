"""Saved what-ifs as somebody may read them, for pages and API alike: who does not see all teams reads the rows of their own, and no other name."""

from dataclasses import replace

from apportion.books.whatifs import SavedWhatif
from apportion.errors import BooksError
from apportion.render.kept import unpacked
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.web.ask import Ask, NotThereError
from apportion.web.viewer import Deed

OWNER = "owner"
TELLING = (OWNER, "month", "pool")  # texts that tell of nobody else, in rows that are one's own
PLAIN = ("posted", "before", "after", "instead", "change", "swing", "swing_instead")


def seen_sheet(ask: Ask, found: SavedWhatif) -> Sheet:
    """What it came to then, as far as they may see it."""
    sheet = unpacked(found.result)
    return sheet if sees_all(ask) else discreet(ask, sheet)


def sees_all(ask: Ask) -> bool:
    return ask.viewer.may(Deed.whole) and ask.viewer.teams is None


def found_by(ask: Ask, which: str) -> SavedWhatif:
    """By its id alone: a name can be guessed."""
    try:
        found = ask.project.books.whatifs.one(which)
    except BooksError:
        raise NotThereError("such what-if") from None
    if found.id != which:
        raise NotThereError("such what-if")
    return found


def discreet(ask: Ask, sheet: Sheet) -> Sheet:
    """The rows of their own teams, without sums; policies are numbered, since people choose their names."""
    tables = [table for table in sheet.tables if OWNER in [column.name for column in table.columns]]
    return Sheet("", tuple(own_rows(ask, table) for table in tables))


def own_rows(ask: Ask, table: Table) -> Table:
    owner = next(place for place, column in enumerate(table.columns) if column.name == OWNER)
    places = [n for n, column in enumerate(table.columns) if column.kind != "text" or column.name in TELLING]
    rows = tuple(tuple(row[place] for place in places) for row in table.rows if ask.viewer.sees(str(row[owner])))
    columns = numbered([table.columns[place] for place in places])
    return replace(table, columns=columns, rows=rows, totals=())


def numbered(columns: list[Column]) -> tuple[Column, ...]:
    """`even_instead` becomes `policy_1_instead`."""
    names = [column.name.removesuffix("_instead") for column in columns if column.name.endswith("_instead")]
    tried = [name for name in dict.fromkeys(names) if not name.endswith("swing") and name not in PLAIN]
    made = []
    for column in columns:
        number = next((n for n, name in enumerate(tried, 1) if column.name.startswith(f"{name}_")), 0)
        if number and column.name not in (*PLAIN, *TELLING):
            name = column.name.replace(tried[number - 1], f"policy_{number}", 1)
            column = replace(column, name=name, title=column.title.replace(tried[number - 1], f"policy {number}"))  # noqa: PLW2901
        made.append(column)
    return tuple(made)


def may_forget(ask: Ask, found: SavedWhatif) -> bool:
    """Who saved it, or an admin."""
    return ask.viewer.may(Deed.admin) or (sees_all(ask) and found.who == ask.viewer.name)
