"""`/drafts`: changes of the policy that somebody proposed. Finance and admins see all of them, a lead their own."""

from apportion.books.proposals import OPEN, Proposal
from apportion.errors import ApportionError, PolicyError
from apportion.model.times import instant_text
from apportion.policy.edit import NewOwner
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.draft import adopt, draft, drafts, drop, is_current, looked_at, owner_edit, policy_text, propose
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.effects import differing
from apportion.web.page import Block, Figure, Figures, Form, Input, Link, Page, Prose, Rows
from apportion.web.pages.whatif import whole_number
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

PLACES = {"at the end of the specific rules": None, "first": 0, "last": 1_000_000}
COLUMNS = ("number", "status", "when", "who", "why")


def sees_all(ask: Ask) -> bool:
    return ask.viewer.may(Deed.whole) and ask.viewer.teams is None


def all_drafts(ask: Ask) -> Page:
    found = [one for one in reversed(drafts(ask.project)) if sees_all(ask) or one.who == ask.viewer.name]
    rows = tuple((str(one.number), one.status, instant_text(one.at_s), one.who, one.why) for one in found)
    table = Table(tuple(Column(name, name) for name in COLUMNS), rows)
    links = {"number": [ask.link(at("/drafts", str(one.number))) for one in found]}
    waiting = sum(one.status == OPEN for one in found)
    title = f"{counted(waiting, 'draft')} of the policy {'waits' if waiting == 1 else 'wait'} for a decision."
    form = text_form(ask) if sees_all(ask) else rule_form(ask)
    return Page("drafts", title, (Rows(table, links=links, empty="No draft yet."), form), "apportion draft list")


def text_form(ask: Ask) -> Form:
    inputs = (
        Input("text", "The whole policy", policy_text(ask.project), "area", needed=True),
        Input("why", "Why", needed=True),
    )
    return Form(
        "/drafts/text",
        inputs,
        "Save as a draft",
        "Propose another text",
        says="It is checked before it is kept, and changes nothing until it is adopted.",
    )


def rule_form(ask: Ask) -> Form:
    """For a lead: work that is theirs and that no rule finds."""
    teams = tuple(sorted(ask.viewer.teams or ()))
    inputs = (
        Input("label", "Label", "slurm.account", needed=True, hint="Which label tells that it is yours."),
        Input("value", "Value", needed=True, hint="A name, or a pattern such as asr-*."),
        Input("team", "Team", teams[0] if teams else "", choices=teams),
        Input("project", "Project", hint="A name, or a label in braces such as {slurm.wckey}."),
        Input("why", "Why", needed=True),
    )
    return Form(
        "/drafts/owner",
        inputs,
        "Propose it",
        "Work that is yours and nobody counts as yours",
        says="Finance looks at it before it counts.",
    )


def one_draft(ask: Ask, number: str) -> Page:
    found = visible(ask, number)
    title = f"Draft {found.number} is {found.status}: {found.why.rstrip('.')}."
    blocks: list[Block] = [figures(found)]
    if sees_all(ask):
        blocks += whole(ask, found)
    blocks += decisions(ask, found)
    crumbs = (Link("Policy", ask.link("/policy")), Link("Drafts", ask.link("/drafts")))
    return Page("draft", title, tuple(blocks), f"apportion draft show {found.number}", crumbs=crumbs, fleeting=True)


def visible(ask: Ask, number: str) -> Proposal:
    wanted = whole_number(number)
    if wanted not in {one.number for one in drafts(ask.project)}:
        raise NotThereError("such draft")
    found = draft(ask.project, wanted)
    if not sees_all(ask) and found.who != ask.viewer.name:
        raise NotThereError("such draft")
    return found


def figures(found: Proposal) -> Figures:
    items = [Figure("proposed by", found.who, note=instant_text(found.at_s))]
    if found.status != OPEN:
        items.append(Figure(f"{found.status} by", found.ended_by, note=instant_text(found.ended_s)))
    return Figures(tuple(items))


def whole(ask: Ask, found: Proposal) -> list[Block]:
    """What it changes; what it does to whom is computed on the next page."""
    blocks: list[Block] = []
    if found.status == OPEN and not is_current(ask.project, found):
        blocks.append(
            Prose(
                ("The policy file was changed since this draft was drawn up: it cannot be adopted as it is.",),
                tone="warn",
            )
        )
    try:
        seen = looked_at(ask.project, found)
    except PolicyError as error:
        return [
            *blocks,
            Prose((f"{error.where}: {error.message}", error.hint), "It is no sound policy any more", tone="bad"),
        ]
    if seen["clauses"]:
        blocks.append(Prose(seen["clauses"], "What changes in the rules"))
    link = Link("Who gains and who loses", ask.link("/what-if", draft=str(found.number)))
    blocks.append(Prose(links=(link,)))
    return [*blocks, differing(seen["old"], found.text)] if seen["old"] else blocks


def decisions(ask: Ask, found: Proposal) -> list[Form]:
    if found.status != OPEN:
        return []
    path = at("/drafts", str(found.number))
    forms = [Form(f"{path}/drop", (Input("why", "Why"),), "Drop this draft")]
    if ask.viewer.may(Deed.adopt):
        says = "The policy file becomes this text. Nothing is posted: the next plan shows what it changes."
        forms.insert(0, Form(f"{path}/adopt", (), "Adopt it", "Decide", says=says))
    return forms


def save_text(ask: Ask, given: dict[str, str]) -> str:
    ask.require(Deed.whole)
    text = given.get("text", "").replace("\r\n", "\n")
    if "\r\n" in policy_text(ask.project):
        text = text.replace("\n", "\r\n")
    return f"/drafts/{propose(ask.project, text, given.get('why', '')).number}"


def save_owner(ask: Ask, given: dict[str, str]) -> str:
    """A rule that gives work to a team. Whoever does not see the policy is told nothing of it where it does not fit."""
    rule = rule_of(given)
    ask.require_team(rule.team)
    try:
        edited = owner_edit(ask.project, rule, PLACES.get(given.get("place", "")))
        made = propose(
            ask.project,
            edited.text,
            f"{given.get('why', '').strip()}: {rule.text}" if given.get("why", "").strip() else "",
        )
    except PolicyError as error:
        if sees_all(ask):
            raise
        raise ApportionError(
            "policy-value", "that rule cannot be written", hint="see the label, the value and the project"
        ) from error
    return f"/drafts/{made.number}"


def rule_of(given: dict[str, str]) -> NewOwner:
    names = ("label", "value", "team", "project", "user")
    label, value, team, project, user = (given.get(name, "").strip() for name in names)
    if not label or not value or not team:
        raise ApportionError(
            "policy-missing-key", "an owner rule needs a label, a value and a team", hint="fill them in"
        )
    return NewOwner(label, value, team, project, user)


def adopt_one(ask: Ask, given: dict[str, str], number: str) -> str:
    del given
    adopt(ask.project, visible(ask, number).number)
    return "/policy"


def drop_one(ask: Ask, given: dict[str, str], number: str) -> str:
    found = visible(ask, number)
    drop(ask.project, found.number, given.get("why", ""))
    return f"/drafts/{found.number}"


ROUTES = (Route("/drafts", all_drafts, Deed.propose), Route("/drafts/{number}", one_draft, Deed.propose))
ACTIONS = (
    Action("/drafts/text", save_text, Deed.propose),
    Action("/drafts/owner", save_owner, Deed.propose),
    Action("/drafts/{number}/adopt", adopt_one, Deed.adopt),
    Action("/drafts/{number}/drop", drop_one, Deed.propose),
)
