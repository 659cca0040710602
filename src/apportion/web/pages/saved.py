"""`/what-if/saved`: what-ifs that were kept. Whoever has the link sees what it says of teams that are theirs; finance and admins see all of it."""

from apportion.books.whatifs import SavedWhatif
from apportion.verbs.saved import forget, label, list_sheet, moved_since, saved, standing, turned, wish_of
from apportion.web.ask import Ask, NotAllowedError, at
from apportion.web.backtests import sheet_blocks
from apportion.web.kept import found_by, may_forget, seen_sheet, sees_all
from apportion.web.page import Block, Form, Input, Link, Page, Prose, Rows
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed


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
    sheet = seen_sheet(ask, found)
    if sees_all(ask):
        title, told = f"{found.name}: {sheet.title}", (*standing(ask.project, found), *sheet.notes)
        crumbs = (Link("What-if", ask.link("/what-if")), Link("Saved", ask.link("/what-if/saved")))
    else:
        title = f"What if, asked for {label(found.months)}: what your teams would owe."
        told = tuple(filter(None, [moved_since(ask.project, found)]))
    blocks: list[Block] = [*([Prose(told)] if told else []), *sheet_blocks(ask, sheet), *forms(ask, found)]
    command = f"apportion whatif --saved {found.id}"
    return Page("saved-what-if", title, tuple(blocks), command, crumbs=crumbs, timeless=True, fleeting=True)


def forms(ask: Ask, found: SavedWhatif) -> list[Form]:
    path = at("/what-if/saved", found.id)
    made = []
    if sees_all(ask) and ask.viewer.may(Deed.propose) and len(wish_of(found).policies) == 1:
        why = Input("why", "Why", needed=True, hint="For those who decide on it.")
        says = "The policy stays as it is until somebody adopts the draft."
        made.append(Form(f"{path}/draft", (why,), "Turn it into a draft", "Propose it", says=says))
    if may_forget(ask, found):
        made.append(Form(f"{path}/forget", (), "Forget it", "Forget it", says="Its link leads nowhere afterwards."))
    return made


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
