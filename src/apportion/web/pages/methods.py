"""`/methods`: the ways to share a cost, each with its formula, an example that is computed here and now, and the pools that use it."""

from apportion.engine.sharing import SplitError
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.methods import method, methods, used_by
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.page import Link, Page, Prose, Rows
from apportion.web.pages.policy import charged_pools
from apportion.web.routes import Route

AS_WRITTEN = ("Formula", "Holds", "Breaks", "Example")


def pools_using(ask: Ask) -> dict[str, tuple[str, ...]]:
    """Of those that the viewer may see."""
    used = used_by(ask.project.policy)
    if ask.viewer.teams is None:
        return used
    own = charged_pools(ask)
    return {name: some for name, pools in used.items() if (some := tuple(pool for pool in pools if pool in own))}


def all_methods(ask: Ask) -> Page:
    found, used = methods(), pools_using(ask)
    columns = (
        Column("name", "method"),
        Column("pools", "pools that use it", quiet=True),
        Column("choose", "choose it when"),
        Column("policy", "in a policy"),
    )
    rows = tuple((row["name"], ", ".join(used.get(row["name"], ())), row["choose"], row["policy"]) for row in found)
    links = {"name": [ask.link(at("/methods", row["name"])) for row in found]}
    title = f"There are {counted(len(found), 'way')} to share a cost; {len(used)} of them are in use here."
    return Page("methods", title, (Rows(Table(columns, rows), links=links),), "apportion methods")


def one_method(ask: Ask, name: str) -> Page:
    try:
        about = method(name)
    except SplitError:
        raise NotThereError("such method") from None
    pools = pools_using(ask).get(name, ())
    links = tuple(Link(pool, ask.link(at("/pools", pool))) for pool in pools)
    used = Prose(() if links else ("No pool that you see is shared by it.",), "Pools that use it", links=links)
    blocks = [
        Prose(heading=title, code=body) if title in AS_WRITTEN else Prose(tuple(body.split("\n")), title)
        for title, body in about.items()
    ]
    title = f"{name.replace('_', ' ').capitalize()}: {about['Choose it when']}."
    crumbs = (Link("Methods", ask.link("/methods")),)
    return Page("method", title, (*blocks, used), f"apportion methods {name}", crumbs=crumbs)


ROUTES = (Route("/methods", all_methods), Route("/methods/{name}", one_method))
