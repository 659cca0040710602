"""`/quotas`: how much may we still use, and how much did we mean to spend?"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from apportion.books.pledges import Pledge
from apportion.errors import ProjectError
from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.chart import bullets, number
from apportion.render.sheet import Table
from apportion.reports.budgets import Spending, budget_report
from apportion.reports.pledges import pledge_report
from apportion.reports.quotas import FINE, OVER, SOFT, WARNED, Limit, Used, quota_report
from apportion.reports.report import Report
from apportion.reports.words import counted, shown
from apportion.verbs.asked import today_of
from apportion.verbs.budget import budgets, set_budget
from apportion.verbs.quota import quotas
from apportion.verbs.reserve import stands
from apportion.web.ask import Ask, at
from apportion.web.forecasts import month_ends
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Form, Input, Link, Page, Prose, Rows, Tone
from apportion.web.routes import Action, Route
from apportion.web.tables import fronted
from apportion.web.viewer import Deed

FIRST = ("owner", "what", "limit", "used", "left", "share", "state", "runs_out")
FIGURES = ("used", "spent", "left", "projected")  # what follows from postings; a limit is given
TONES: Mapping[str, Tone] = {OVER: "bad", SOFT: "warn", WARNED: "warn", FINE: ""}


def quota_page(ask: Ask) -> Page:
    teams = ask.viewer.teams
    pledges = ask.project.books.pledges.all()
    over = tuple(one.number for one in pledges if one.is_expired(int(time.time())))  # these free themselves
    used = ask.desk.kept(("quotas", str(ask.month), teams, over), lambda: quotas(ask.project, ask.month, ask.record))
    spent = ask.desk.kept(
        ("budgets", str(ask.month), teams, today_of(ask.project)),
        lambda: budgets(ask.project, ask.month, ask.record, foresee=month_ends(ask)),
    )
    mine = [one for one in used if ask.viewer.sees(one.limit.team)]
    own = [one for one in spent if ask.viewer.sees(one.budget.team)]
    head = ask.project.books.head() if teams is None else ""
    limits, money = quota_report(mine, str(ask.month), head), budget_report(own, ask.month, head)
    blocks: list[Block] = []
    blocks += quota_blocks(ask, limits, mine) if mine else [Prose((limits.title,), "Quotas of the policy")]
    blocks += pledge_blocks(ask, pledges)
    blocks += budget_blocks(ask, money, own) if own else [Prose((money.title,), "Budgets")]
    ends = Link(
        "Where the month ends, and how likely a budget is exceeded", ask.link("/forecast", period=None, where=None)
    )
    blocks.append(Prose(heading="Go on", links=(ends,)))
    if ask.viewer.may(Deed.budget):
        blocks.append(budget_form(ask))
    exceeded = sum(one.state == OVER for one in mine) + sum(one.is_over for one in own)
    counts = f"{counted(len(mine), 'quota')} and {counted(len(own), 'budget')} for {ask.month}"
    return Page(
        "quotas",
        f"{counts}: {exceeded or 'none'} exceeded.",
        tuple(blocks),
        command=f"apportion quota --period {ask.month}",
        notes=(*limits.notes, *money.notes),
    )


def quota_blocks(ask: Ask, made: Report, found: Sequence[Used]) -> list[Block]:
    values = [
        {
            "name": name_of(one),
            "part": number(one.share * 100),
            "state": WARNED if one.state == SOFT else one.state,
            "shown": said(one),
        }
        for one in found
    ]
    marks = [{"name": name_of(one), "at": number(mark)} for one in found for mark in one.limit.warn]
    tables = [rows_of(ask, made, section.currency, found) for section in made.sections]
    says = "Each bar is what was used of a quota; thin marks are its warnings, the thick one is the quota itself."
    first, *others = tables
    return [Chart("Quotas of the policy", says, bullets(values, marks), first, folded=False), *others]


def name_of(one: Used) -> str:
    return f"{one.limit.owner}: {one.limit.what} per {one.limit.per}"


def said(one: Used) -> str:
    held = f", {number(one.moved.pending):,.1f} reserved" if one.moved.pending else ""
    return f"{number(one.used):,.1f} of {number(one.size):,.1f} {one.limit.unit}{held}"


def rows_of(ask: Ask, made: Report, unit: str, found: Sequence[Used]) -> Rows:
    rows = next(section.rows for section in made.sections if section.currency == unit)
    own = [one for one in found if one.limit.unit == unit]
    behind = [used_postings(ask, one.limit) for one in own]
    return Rows(
        fronted(Table(made.columns, rows, currency=unit), *FIRST),
        f"In {unit}",
        links={
            "owner": [ask.link(at("/teams", one.limit.team) if one.limit.team else "/teams") for one in own],
            **dict.fromkeys(FIGURES, behind),
        },
        tones=[TONES[one.state] for one in own],
    )


def used_postings(ask: Ask, limit: Limit) -> str:
    path = f"{limit.team}/{limit.project}" if limit.project else ""
    wanted = {"department": limit.department, "team": "" if path else limit.team, "project": path, "user": limit.user}
    where = [f"{name}={value}" for name, value in {**wanted, "pool": limit.pool}.items() if value]
    return ask.link("/ledger", where=where)


def postings(ask: Ask, owner: str) -> str:
    team, _, project = owner.partition("/")
    return ask.link("/ledger", where=[f"project={owner}" if project else f"team={team}"])


def pledge_blocks(ask: Ask, known: Sequence[Pledge]) -> list[Block]:
    """What is reserved and lent now, of the teams that they may see; the other side of a loan by its name alone where they may."""
    now_s = int(time.time())
    held = [one for one in known if stands(one, today_of(ask.project), now_s)]
    mine = [
        one for one in held if ask.sees_owner(one.begun.owner) or (one.begun.other and ask.sees_owner(one.begun.other))
    ]
    made = pledge_report([hidden(ask, one) for one in mine], "", "", now_s)
    return [
        Rows(Table(made.columns, section.rows, currency=section.currency), f"Reserved and lent, in {section.currency}")
        for section in made.sections
    ]


def hidden(ask: Ask, one: Pledge) -> Pledge:
    begun = one.begun
    if ask.sees_owner(begun.owner):
        return replace(one, begun=replace(begun, other=ask.called(begun.other) if begun.other else ""))
    return replace(one, who="", begun=replace(begun, team=ask.called(begun.owner), project="", why="", approver=""))


def budget_blocks(ask: Ask, made: Report, found: Sequence[Spending]) -> list[Block]:
    values = [budget_bar(one) for one in found]
    marks = [
        {"name": one.budget.owner, "at": number(one.projected * 100 / one.budget.amount)}
        for one in found
        if one.projected is not None
    ]
    tables = []
    for section in made.sections:
        own = [one for one in found if one.budget.currency == section.currency]
        behind = [postings(ask, one.budget.owner) for one in own]
        links = {"owner": [ask.link(at("/teams", one.budget.team)) for one in own]} | dict.fromkeys(FIGURES, behind)
        tones: list[Tone] = ["bad" if one.is_over else "warn" if one.will_be_over else "" for one in own]
        table = Table(made.columns, section.rows, currency=section.currency)
        tables.append(Rows(table, f"In {section.currency}", links=links, tones=tones))
    says = "Each bar is what was spent of a month's budget; a thin mark is where the month is forecast to end, the thick one is the budget."
    first, *others = tables
    return [Chart("Budgets", says, bullets(values, marks), first, folded=False), *others]


def budget_bar(one: Spending) -> dict[str, Any]:
    text = f"{shown(one.spent, one.budget.currency)} of {shown(one.budget.amount, one.budget.currency)}"
    state = OVER if one.is_over else WARNED if one.will_be_over else FINE
    return {"name": one.budget.owner, "part": number((one.share or 0) * 100), "state": state, "shown": text}


def budget_form(ask: Ask) -> Form:
    teams = tuple(sorted(own_teams(ask)))
    return Form(
        "/quotas/budget",
        (
            Input("team", "Team", choices=teams),
            Input("project", "Project", hint="where only one of the team's is meant"),
            Input("amount", f"Amount a month in {ask.project.policy.currency}", needed=True, hint="0 ends the budget"),
            Input("since", "From the month on", str(ask.month), needed=True),
            Input("why", "Why", kind="words"),
        ),
        "Set the budget",
        "Set a budget",
        says="It holds from its month on until another one begins. Nothing is enforced by it.",
    )


def own_teams(ask: Ask) -> set[str]:
    every = {*ask.project.policy.teams, *ask.project.books.teams()} - {*SYSTEM_OWNERS, ""}
    return {team for team in every if ask.viewer.sees(team)}


def set_one(ask: Ask, form: Mapping[str, str]) -> str:
    team, project = form.get("team", ""), form.get("project", "").strip()
    ask.require_team(team)
    if "/" in project:
        raise ProjectError("unknown-owner", f"{project!r} is no project", hint="write its name without the team's")
    owner = f"{team}/{project}" if project else team
    made = set_budget(ask.project, owner, form.get("amount", ""), form.get("since", ""), form.get("why", ""))
    newest = max(ask.known_months, default="")
    return f"/quotas?period={made.since}" if made.since in ask.known_months or made.since > newest else "/quotas"


ROUTES = (Route("/quotas", quota_page, entry=Entry("Quotas", "/quotas", "q")),)
ACTIONS = (Action("/quotas/budget", set_one, Deed.budget),)
