"""`/disputes`: who doubts which figure, what was said, and how it ended."""

import json
import time
from collections.abc import Mapping

from apportion.books.shapes import ALL, CREDITED, OPEN, RECLASSED, REJECTED, Dispute
from apportion.errors import ProjectError
from apportion.model.times import DAY_S, instant_text
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted, shown
from apportion.verbs.dispute import Doubt, Settlement, disputes, open_dispute, settle
from apportion.verbs.dispute import say as add
from apportion.web.ask import Ask, at
from apportion.web.doubts import seen_dispute, seen_figure
from apportion.web.frame import Entry
from apportion.web.page import Block, Branch, Figure, Figures, Form, Input, Link, Page, Rows, Tone, Tree
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

OUTCOMES = (REJECTED, CREDITED, RECLASSED)
STATUSES = (OPEN, *OUTCOMES)
COLUMNS = (
    Column("number", "number"),
    Column("status", "status"),
    Column("age", "days", "count"),
    Column("amount", "amount", "count"),
    Column("owner", "owner"),
    Column("what", "what"),
    Column("period", "month"),
    Column("why", "why"),
)


def listing(ask: Ask) -> Page:
    """Of all months: whoever waits for an answer should not have to look for the month."""
    status = ask.one("status")
    if status not in ("", *STATUSES):
        raise ProjectError("unknown-status", f"no dispute is {status!r}", hint=f"write {', '.join(STATUSES)}")
    every = seen(ask)
    found = [one for one in every if status in ("", one.status)]
    waiting = sum(one.status == OPEN for one in found)
    said = f"{counted(len(found), 'dispute')}, {waiting} open." if found else "No figure is disputed."
    blocks: list[Block] = [choices(ask, every), table(ask, found)]
    if ask.viewer.may(Deed.dispute):
        blocks.append(doubt_form(ask.period if ask.known_months else "", "", chosen=True))
    flag = f" --status {status}" if status else ""
    return Page("disputes", said, tuple(blocks), command=f"apportion dispute list{flag}", timeless=True)


def seen(ask: Ask) -> list[Dispute]:
    """Those about the viewer's teams: open ones first, the oldest of them on top."""
    found = [one for one in disputes(ask.project) if ask.sees_owner(one.owner)]
    return sorted(found, key=lambda one: (one.status != OPEN, one.number if one.status == OPEN else -one.number))


def team_of(one: Dispute) -> str:
    return one.owner.partition("/")[0]


def choices(ask: Ask, every: list[Dispute]) -> Figures:
    """How many there are of each status; a click shows them alone."""
    items = [Figure("all", f"{len(every):,}", ask.link("/disputes", status=None))]
    for status in STATUSES:
        count = sum(one.status == status for one in every)
        items.append(Figure(status, f"{count:,}", ask.link("/disputes", status=status), tone=tone(status, count)))
    return Figures((*items, Figure("credits", "adjustments", ask.link("/adjustments"), "one-off and agreed ones")))


def tone(status: str, count: int) -> Tone:
    return "warn" if status == OPEN and count else ""


def table(ask: Ask, found: list[Dispute]) -> Rows:
    rows = tuple(
        (
            str(one.number), one.status, age_days(one), shown(one.amount, one.currency), one.owner, f"{one.kind} {one.name}", one.period,
            one.notes[0].text,
        )
        for one in found
    )  # fmt: skip
    return Rows(
        Table(COLUMNS, rows),
        links={
            "number": [ask.link(f"/disputes/{one.number}") for one in found],
            "amount": [figure_link(ask, one) for one in found],
            "owner": [ask.link(at("/teams", team_of(one)), period=one.period) for one in found],
        },
        empty="None of this kind.",
    )


def age_days(one: Dispute) -> int:
    """Since it was opened: until it was settled, or now."""
    until_s = int(time.time()) if one.status == OPEN else one.notes[-1].at_s
    return (until_s - one.notes[0].at_s) // DAY_S


def figure_link(ask: Ask, one: Dispute) -> str:
    """What is doubted, explained as it stands now."""
    what = {"statement": team_of(one), "job": f"job:{one.name}"}.get(one.kind, f"posting:{one.name}")
    return ask.link("/explain", what=what, period=one.period, where=None)


def dispute(ask: Ask, number: str) -> Page:
    one = seen_dispute(ask, number)
    what = f"{shown(one.amount, one.currency)} of {one.kind} {one.name} in {one.period}"
    blocks: list[Block] = [figures(ask, one), thread(ask, one)]
    if one.status == OPEN and ask.viewer.may(Deed.dispute):
        blocks.append(say_form(one))
    if one.status == OPEN and ask.viewer.may(Deed.settle):
        blocks.append(settle_form(one))
    blocks.append(evidence(one))
    return Page(
        "dispute",
        f"Dispute {one.number} is {one.status}: {what}, owed by {one.owner}.",
        tuple(blocks),
        command=f"apportion dispute show {one.number}",
        crumbs=(Link("Disputes", ask.link("/disputes")),),
        about={"dispute": one},
        timeless=True,
    )


def figures(ask: Ask, one: Dispute) -> Figures:
    days = counted(age_days(one), "day")
    return Figures(
        (
            Figure("status", one.status, note=f"{'for' if one.status == OPEN else 'after'} {days}", tone=tone(one.status, 1)),
            Figure("disputed", shown(one.amount, one.currency), figure_link(ask, one), "a part of it" if one.part else "all of it"),
            Figure("owed by", one.owner, ask.link(at("/teams", team_of(one)), period=one.period)),
            Figure("month", one.period, ask.link(at("/statements", one.period, team_of(one)), period=None)),
        )
    )  # fmt: skip


def thread(ask: Ask, one: Dispute) -> Rows:
    columns = (
        Column("when", "when"), Column("who", "who"), Column("status", "status"), Column("text", "said"),
        Column("run", "posted", quiet=True),
    )  # fmt: skip
    rows = tuple((instant_text(note.at_s), note.who, note.status, note.text, note.run_id or None) for note in one.notes)
    runs = [ask.link("/ledger", run=note.run_id, period=booked(ask, note.run_id)) if note.run_id else "" for note in one.notes]  # fmt: skip
    return Rows(Table(columns, rows), "What was said", links={"run": runs})


def booked(ask: Ask, run_id: str) -> str:
    """The month that holds what was posted, which is a later one where the disputed month was closed."""
    return next(run.period for run in ask.project.books.runs() if run.run_id == run_id)


def evidence(one: Dispute) -> Tree:
    said = json.loads(one.evidence)
    return Tree(
        (Branch(said["title"], steps=tuple(map(branch, said["steps"]))),), "As it was explained when it was opened"
    )


def branch(node: Mapping[str, object]) -> Branch:
    steps = node["steps"]
    return Branch(str(node["text"]), steps=tuple(map(branch, steps)) if isinstance(steps, list) else ())


def doubt_form(period: str, what: str, *, chosen: bool = False) -> Form:
    """`chosen`: the month is asked for, too."""
    return Form(
        "/disputes",
        (
            Input("period", "Month", period, "text" if chosen else "hidden", needed=chosen),
            Input("what", "What", what, hint="a team or TEAM/PROJECT for its statement, a job, or a posting by its number", needed=True),
            Input("amount", "Amount", hint="only where a part of it is doubted"),
            Input("why", "Why", kind="words", needed=True),
        ),
        "Open a dispute",
        "Is a figure wrong?",
        says="What is explained now is kept with it. Finance settles it; whatever is posted then balances, and nothing is edited.",
    )  # fmt: skip


def say_form(one: Dispute) -> Form:
    return Form(
        f"/disputes/{one.number}/say",
        (Input("text", "Your words", kind="words", needed=True),),
        "Add",
        "Say something to it",
    )


def settle_form(one: Dispute) -> Form:
    return Form(
        f"/disputes/{one.number}/settle",
        (
            Input("outcome", "It is", choices=OUTCOMES),
            Input("why", "Because", kind="words", needed=True),
            Input("other", "Who pays, or whose it is", hint="a sponsor where it is credited, the owner where it is reclassed"),
            Input("amount", "Amount", hint="of a credit; all of it unless given"),
            Input("approver", "Approved by"),
        ),
        "Settle",
        "Settle it",
        says="Once. What is posted for it is booked in the disputed month while that is open, else in the next open one.",
    )  # fmt: skip


def open_one(ask: Ask, form: Mapping[str, str]) -> str:
    period = form.get("period", "")
    what = seen_figure(ask, period, form.get("what", "").strip())
    done = open_dispute(ask.project, period, Doubt(what, form.get("why", ""), form.get("amount", "").strip()))
    return f"/disputes/{done.dispute.number}"


def say(ask: Ask, form: Mapping[str, str], number: str) -> str:
    one = seen_dispute(ask, number)
    add(ask.project, one.number, form.get("text", ""))
    return f"/disputes/{one.number}"


def settle_one(ask: Ask, form: Mapping[str, str], number: str) -> str:
    one = seen_dispute(ask, number)
    outcome = form.get("outcome", "")
    if outcome not in OUTCOMES:
        raise ProjectError(
            "unclear-settlement", "a dispute is rejected, credited or reclassed", hint="choose one of them"
        )
    end = Settlement(
        outcome,
        form.get("why", ""),
        form.get("other", "").strip(),
        form.get("amount", "").strip() or ALL,
        form.get("approver", "").strip(),
    )
    settle(ask.project, one.number, end)
    return f"/disputes/{one.number}"


ROUTES = (
    Route("/disputes", listing, entry=Entry("Disputes", "/disputes", "d")),
    Route("/disputes/{number}", dispute),
)
ACTIONS = (
    Action("/disputes", open_one, Deed.dispute),
    Action("/disputes/{number}/say", say, Deed.dispute),
    Action("/disputes/{number}/settle", settle_one, Deed.settle),
)
