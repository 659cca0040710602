"""`/what-if/saved`: what-ifs that were kept. Whoever has the link sees what it says of teams that are theirs; finance and admins see all of it."""

from dataclasses import replace

from apportion.books.whatifs import SavedWhatif
from apportion.errors import BooksError
from apportion.render.kept import unpacked
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.verbs.saved import forget, label, list_sheet, moved_since, saved, standing, turned, wish_of
from apportion.web.ask import Ask, NotAllowedError, NotThereError, at
from apportion.web.backtests import OWNER, sheet_blocks
from apportion.web.page import Block, Form, Input, Link, Page, Prose, Rows
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

TELLING = (OWNER, "month", "pool")  # texts that tell of nobody else, in rows that are one's own
PLAIN = ("posted", "before", "after", "instead", "change", "swing", "swing_instead")


def listing(ask: Ask) -> Page:
    found = saved(ask.project)
    sheet = list_sheet(found)
    links = {"name": [ask.link(at("/what-if/saved", one.id)) for one in found]}
    rows = Rows(sheet.tables[0], links=links, empty="Nothing is saved yet: What-if has a form for it.")
    crumbs = (Link("What-if", ask.link("/what-if")),)
    return Page("saved", sheet.title, (rows,), "apportion whatif --saved", crumbs=crumbs, timeless=True, fleeting=True)


def one_saved(ask: Ask, which: str) -> Page:
    """For who may not see all teams there is no name, no clause and no row but those of their own teams."""
    found, crumbs = found_by(ask, which), tuple[Link, ...]()
    sheet = unpacked(found.result)
    if sees_all(ask):
        title, told = f"{found.name}: {sheet.title}", (*standing(ask.project, found), *sheet.notes)
        crumbs = (Link("What-if", ask.link("/what-if")), Link("Saved", ask.link("/what-if/saved")))
    else:
        sheet = discreet(ask, sheet)
        title = f"What if, asked for {label(found.months)}: what your teams would owe."
        told = tuple(filter(None, [moved_since(ask.project, found)]))
    blocks: list[Block] = [*([Prose(told)] if told else []), *sheet_blocks(ask, sheet), *forms(ask, found)]
    command = f"apportion whatif --saved {found.id}"
    return Page("saved-what-if", title, tuple(blocks), command, crumbs=crumbs, timeless=True, fleeting=True)


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


def forms(ask: Ask, found: SavedWhatif) -> list[Form]:
    path = at("/what-if/saved", found.id)
    made = []
    if sees_all(ask) and ask.viewer.may(Deed.propose) and len(wish_of(found).policies) == 1:
        why = Input("why", "Why", needed=True, hint="For those who decide on it.")
        says = "The policy stays as it is until somebody adopts the draft."
        made.append(Form(f"{path}/draft", (why,), "Turn it into a draft", "Propose it", says=says))
    if may_forget(ask, found):
        made.append(Form(f"{path}/forget", (), "Forget it", says="Its link leads nowhere then."))
    return made


def may_forget(ask: Ask, found: SavedWhatif) -> bool:
    """Who saved it, or an admin."""
    return ask.viewer.may(Deed.admin) or (sees_all(ask) and found.who == ask.viewer.name)


def draft_of(ask: Ask, given: dict[str, str], which: str) -> str:
    ask.require(Deed.whole)
    return f"/drafts/{turned(ask.project, wish_of(found_by(ask, which)), given.get('why', '')).number}"


def forget_one(ask: Ask, given: dict[str, str], which: str) -> str:
    del given
    found = found_by(ask, which)
    if not may_forget(ask, found):
        raise NotAllowedError(Deed.admin)
    forget(ask.project, found.id)
    return "/what-if/saved"


ROUTES = (Route("/what-if/saved", listing, Deed.whole), Route("/what-if/saved/{saved}", one_saved))
ACTIONS = (
    Action("/what-if/saved/{saved}/draft", draft_of, Deed.propose),
    Action("/what-if/saved/{saved}/forget", forget_one, Deed.whole),
)
