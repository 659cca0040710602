"""`/search?q=`: find a team, project, user, pool, run, posting, statement or dispute by its name."""

from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.search import MOST, Found, Hit, search
from apportion.web.ask import Ask, at
from apportion.web.page import Block, Form, Input, Page, Prose, Rows
from apportion.web.routes import Route
from apportion.web.work import known_names

COLUMNS = (
    Column("called", "name"),
    Column("kind", "what"),
    Column("about", "about", quiet=True),
    Column("match", "match"),
)
ROOMS = {
    "team": "/teams",
    "project": "/projects",
    "user": "/users",
    "pool": "/pools",
    "run": "/runs",
    "dispute": "/disputes",
}


def results(ask: Ask) -> Page:
    text = ask.one("q")
    found = ask.desk.kept(
        ("search", text, ask.viewer.teams), lambda: search(ask.project, known_names(ask), text, ask.viewer.teams)
    )
    form = Form(
        "/search", (Input("q", "Name, number or the beginning of a hash", text, "search"),), "Search", post=False
    )
    links = [href(ask, hit) for hit in found.hits]
    table = Table(COLUMNS, tuple((hit.called, hit.kind, hit.about, hit.rank) for hit in found.hits))
    blocks: list[Block] = [form]
    if found.asked:
        blocks.append(Rows(table, "Found", {"called": links}, empty="Nothing that you may see is called so."))
    more = [f"{counted(count, kind)}, the first {MOST} are shown" for kind, count in found.counts if count > MOST]
    if more:
        blocks.append(Prose((f"There are more: {'; '.join(more)}. Type more of the name.",), tone="quiet"))
    return Page(
        "search",
        title(found),
        tuple(blocks),
        about={"asked": found.asked, "counts": dict(found.counts), "links": links},
        goto=href(ask, found.only) if found.only else "",
    )


def title(found: Found) -> str:
    if not found.asked:
        return "What are you looking for?"
    count = sum(number for _, number in found.counts)
    return (
        f"{counted(count, 'thing')} {'matches' if count == 1 else 'match'} “{found.asked}”."
        if count
        else f"Nothing matches “{found.asked}”."
    )


def href(ask: Ask, hit: Hit) -> str:
    if hit.kind == "posting":
        return ask.link("/explain", what=f"posting:{hit.names[0]}", period=hit.names[1], where=None)
    if hit.kind == "statement":
        return at("/statements", *hit.names)
    return ask.link(at(ROOMS[hit.kind], *hit.names), where=None)


ROUTES = (Route("/search", results),)
