"""`/projects/{team}/{project}`, `/users/{user}` and `/me`: what did this work cost?"""

from dataclasses import replace

import pyarrow.compute as pc

from apportion.render.chart import COLOURS, colours
from apportion.web.accounts import (
    Owned,
    about,
    costliest,
    growth,
    owned,
    quantities,
    showback_command,
    some,
    spent_by,
    strip,
)
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.page import Block, Link, Page, Prose
from apportion.web.pages.overview import team_order
from apportion.web.pages.teams import budget_figures, budget_of
from apportion.web.routes import Route
from apportion.web.work import known_owners


def project(ask: Ask, team: str, name: str) -> Page:
    known = known_owners(ask)
    if not name or not pc.any(pc.and_(pc.equal(known["team"], team), pc.equal(known["project"], name))).as_py():
        raise NotThereError("such project")
    mine = owned(ask, {"team": team, "project": name})
    blocks: list[Block] = []
    colour = colours(team_order(ask, {team}))[team]
    for made in mine.money:
        budget = budget_of(mine, made.currency, {"team": team, "project": name})
        blocks += some(
            strip(mine, made, mine.ledger(), budget_figures(ask, budget)),
            growth(mine, made, colour, budget.budget.amount if budget else None),
            spent_by(mine, made.currency, "pool", "By pool"),
            spent_by(mine, made.currency, "user", "By user"),
            spent_by(mine, made.currency, "reason", "By reason"),
            costliest(mine, made.currency),
        )
    crumbs = (Link("Teams", ask.link("/teams", where=None)), Link(team, ask.link(at("/teams", team), where=None)))
    called = f"{team}/{name}"
    return shown_page(mine, "project", mine.title(f"{called} owes", f"{called} owes nothing"), blocks, crumbs)


def user(ask: Ask, name: str) -> Page:
    """Of all teams that the viewer may see. One's own name is always there."""
    known = known_owners(ask)
    if not name or (name != ask.viewer.name and not pc.any(pc.equal(known["user"], name)).as_py()):
        raise NotThereError("such user")
    mine = owned(ask, {"user": name})
    blocks: list[Block] = []
    for made in mine.money:
        blocks += some(
            strip(mine, made, mine.ledger()),
            growth(mine, made, COLOURS[0]),
            spent_by(mine, made.currency, "team", "By team"),
            spent_by(mine, made.currency, "project", "By project"),
            spent_by(mine, made.currency, "pool", "By pool"),
            costliest(mine, made.currency),
        )
    title = mine.title(f"The work of {name} comes to", f"Nothing is posted for the work of {name}")
    return shown_page(mine, "user", title, blocks, ())


def shown_page(mine: Owned, kind: str, title: str, blocks: list[Block], crumbs: tuple[Link, ...]) -> Page:
    blocks += quantities(mine)
    blocks.append(Prose(heading="Go on", links=(Link("The postings behind it", mine.ledger()),)))
    return Page(kind, title, tuple(blocks), showback_command(mine, "pool"), crumbs=crumbs, about=about(mine))


def me(ask: Ask) -> Page:
    return replace(user(ask, ask.viewer.name), goto=ask.link(at("/users", ask.viewer.name)))


ROUTES = (
    Route("/projects/{team}/{project}", project),
    Route("/users/{user}", user),
    Route("/me", me),
)
