"""`/api/v1/what-ifs`: back-tests that are saved, and shared by their id."""

from fastapi import APIRouter

from apportion.books.audit import acting
from apportion.books.whatifs import SavedWhatif as Saved
from apportion.client.shapes import Listed
from apportion.client.whatifs import SavedAnswer, SavedTable, SavedWhatif, SaveWish
from apportion.model.times import months_between
from apportion.render.backtest import backtest_sheet
from apportion.render.sheet import Table, exact
from apportion.verbs.backtest import backtest
from apportion.verbs.saved import Wish, check_name, forget, label, moved_since, save, saved
from apportion.web.api.asked import Named, Reading, Whole, about
from apportion.web.api.drafts import wanted_of
from apportion.web.api.paging import Parted
from apportion.web.ask import Ask, NotAllowedError
from apportion.web.kept import found_by, may_forget, seen_sheet, sees_all
from apportion.web.viewer import Deed

router = APIRouter(tags=["policies"])


@router.get("/what-ifs", **about(Deed.whole))
def what_ifs(ask: Whole, part: Parted) -> Listed[SavedWhatif]:
    """All that are saved, oldest first."""
    return part.of((shape(ask, one) for one in saved(ask.project)), lambda one: [one.at_s, one.name])


@router.get("/what-ifs/{saved}", **about(Deed.read))
def saved_what_if(ask: Reading, saved: Named) -> SavedAnswer:
    """What it came to when it was saved, by its id; without all teams, of your own."""
    found = found_by(ask, saved)
    sheet = seen_sheet(ask, found)
    tables = [table_of(table) for table in sheet.tables]
    return SavedAnswer(**shape(ask, found).model_dump(), title=sheet.title, notes=list(sheet.notes), tables=tables)


@router.post("/what-ifs", status_code=201, **about(Deed.whole, 409))
def save_what_if(ask: Whole, wish: SaveWish) -> SavedWhatif:
    """Compute a back-test, and keep what it comes to under a name."""
    wanted, months = wanted_of(wish), months_between(f"{wish.first}..{wish.last}")
    check_name(ask.project, wish.name)
    sheet = backtest_sheet(backtest(ask.project, months, wanted))
    asked = Wish(tuple(map(str, months)), wanted.policies, tuple(wanted.prices))
    with acting(ask.viewer.name):
        return shape(ask, save(ask.project, wish.name, asked, sheet))


@router.post("/what-ifs/{saved}/end", **about(Deed.whole, 409))
def forget_what_if(ask: Whole, saved: Named) -> SavedWhatif:
    """It is saved no longer: for whoever saved it, and for admins."""
    found = found_by(ask, saved)
    if not may_forget(ask, found):
        raise NotAllowedError(Deed.admin)
    with acting(ask.viewer.name):
        return shape(ask, forget(ask.project, found.id))


def shape(ask: Ask, one: Saved) -> SavedWhatif:
    name, who = (one.name, one.who) if sees_all(ask) else ("", "")
    moved = moved_since(ask.project, one)
    return SavedWhatif(id=one.id, name=name, period=label(one.months), who=who, at_s=one.at_s, moved=moved)


def table_of(table: Table) -> SavedTable:
    names = [column.name for column in table.columns]
    rows = [
        {name: None if cell is None else exact(cell) for name, cell in zip(names, row, strict=True)}
        for row in table.rows
    ]
    return SavedTable(heading=table.heading, currency=table.currency, rows=rows)
