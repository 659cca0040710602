"""`/review`: what changed in a month, what stands out, and which rules no longer fit; each with a chart and, where one is safe, a draft to save."""

from dataclasses import replace

from apportion.model.rows import UNALLOCATED
from apportion.render.review import evidence, index, spec
from apportion.render.sheet import Table
from apportion.reports.review.finding import Pattern
from apportion.reports.review.profile import COLUMNS as PROFILE
from apportion.reports.review.review import Drafted, Review
from apportion.verbs.draft import policy_text
from apportion.verbs.review import review_by, save_found
from apportion.web.ask import Ask, at
from apportion.web.computing import at_bench
from apportion.web.effects import differing
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Form, Input, Page, Prose, Rows
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

HELD = "How the pools were held"
SAYS = "Who would owe what is computed before it is kept. The policy stays as it is until somebody adopts the draft."


def review(ask: Ask) -> Page:
    made = reviewed(ask)
    blocks: list[Block] = [overview(ask, made)] if made.found else []
    for place, one in enumerate(made.found, 1):
        blocks += told(ask, place, one)
    pools = {"pool": [ask.link(at("/pools", str(row[0])), where=None) for row in made.profiles]}
    blocks.append(Rows(Table(PROFILE, made.profiles, heading=HELD), HELD, pools, empty="No pool was held."))
    notes = (*made.notes, f"ledger head {made.head}")
    return Page("review", made.title, tuple(blocks), f"apportion review --period {ask.month}", notes)


def reviewed(ask: Ask) -> Review:
    return at_bench(ask, ("review",), lambda means: review_by(means, ask.project, ask.month))


def overview(ask: Ask, made: Review) -> Rows:
    """Without what to do, which stands below."""
    table = index(made.found)
    shown = [place for place, column in enumerate(table.columns) if column.name != "do"]
    columns = tuple(table.columns[place] for place in shown)
    rows = tuple(tuple(row[place] for place in shown) for row in table.rows)
    return Rows(Table(columns, rows), "Findings", {"amount": [lead(ask, one.finding) for one in made.found]})


def lead(ask: Ask, found: Pattern) -> str:
    """To the postings that its amount is the sum of; else to where such money is told."""
    if found.where:
        return ask.ledger(*found.where)
    if found.kind == "weight":
        return ask.explained(f"pool:{found.about[0]}")
    return ask.explained(UNALLOCATED) if found.kind == "unmapped" else ask.link("/teams")


def told(ask: Ask, place: int, one: Drafted) -> list[Block]:
    found = one.finding
    rows = Rows(evidence(found), links=links(ask, found), lead="" if found.where else lead(ask, found))
    blocks: list[Block] = [Chart(f"{place}. {found.key}", found.sentence, spec(found), rows)]
    if found.do and not lacks_team(found):
        blocks.append(Prose((f"{found.do[0].upper()}{found.do[1:]}.",)))
    if one.diff:
        blocks.append(differing(policy_text(ask.project), one.text, f"Draft of {found.key}"))
    if ask.viewer.may(Deed.propose) and (one.diff or lacks_team(found)):
        blocks.append(form(ask, one))
    return blocks


def links(ask: Ask, found: Pattern) -> dict[str, list[str]]:
    """Owners lead to their own postings."""
    names = [str(row[0]) for row in found.rows]
    if found.kind == "dominant":
        return {"amount": [ask.ledger(f"pool={found.about[0]}", f"team={name}") for name in names]}
    return {}


def lacks_team(found: Pattern) -> bool:
    return bool(found.edit and found.edit.owner and not found.edit.owner[2])


def form(ask: Ask, one: Drafted) -> Form:
    hidden = (Input("key", "", one.finding.key, "hidden"), Input("period", "", ask.period, "hidden"))
    teams = ("", *sorted(ask.project.policy.teams))
    asked = (Input("team", "Team", choices=teams, needed=True, hint="Whose it is."),) if lacks_team(one.finding) else ()
    return Form("/review/draft", (*hidden, *asked), "Save as a draft", f"Propose {one.finding.key}", says=SAYS)


def save(ask: Ask, given: dict[str, str]) -> str:
    ask.require(Deed.whole)
    own = replace(ask, query={**ask.query, "period": [given.get("period", "")]})
    saved = save_found(ask.project, reviewed(own), given.get("key", ""), given.get("team", ""))
    return f"/drafts/{saved.draft.number}"


ROUTES = (Route("/review", review, Deed.whole, Entry("Review", "/review", "r", Deed.whole)),)
ACTIONS = (Action("/review/draft", save, Deed.propose),)
