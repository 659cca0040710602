"""`/adjustments`: who pays for whom, once or by what was agreed for every month."""

import shlex
from collections.abc import Mapping
from dataclasses import replace

from apportion.books.shapes import Transfer
from apportion.model.rows import SYSTEM_OWNERS
from apportion.verbs.adjust import Wish, adjust
from apportion.verbs.adjustments import Adjustments, agreed_table, once_table
from apportion.verbs.adjustments import adjustments as listed
from apportion.verbs.agreement import policy_for
from apportion.web.ask import Ask
from apportion.web.page import Block, Form, Input, Link, Page, Rows
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed


def adjustments(ask: Ask) -> Page:
    every = listed(ask.project, ask.month, ask.viewer.teams)
    made = replace(every, once=tuple(one for one in every.once if is_seen(ask, one.transfer)))
    blocks: list[Block] = [once(ask, made), agreed(ask, made)]
    if ask.viewer.may(Deed.adjust):
        blocks.append(adjust_form(ask))
    teams = "".join(f" --{shlex.quote(one)}" for one in ask.viewer.where)  # team=NAME
    return Page(
        "adjustments",
        made.title,
        tuple(blocks),
        command=f"apportion report adjustments --period {ask.month}{teams}",
        crumbs=(Link("Disputes", ask.link("/disputes")),),
    )


def is_seen(ask: Ask, made: Transfer) -> bool:
    """Names have slashes: a path that could be of two teams is of neither alone."""
    return ask.sees_owner(made.owner) or ask.sees_owner(made.other)


def once(ask: Ask, made: Adjustments) -> Rows:
    links = {
        "amount": [ask.link("/ledger", run=one.run.run_id, period=one.run.period) for one in made.once],
        "dispute": [dispute_link(ask, one.transfer) for one in made.once],
    }
    table = once_table(made, ask.called)
    return Rows(table, table.heading, links=links, empty="Nobody paid for another yet.")


def dispute_link(ask: Ask, made: Transfer) -> str:
    return ask.link(f"/disputes/{made.dispute}") if made.dispute and ask.sees_owner(made.owner) else ""


def agreed(ask: Ask, made: Adjustments) -> Rows:
    """What the month's policy says, with who pays for it and until when."""
    table = agreed_table(made, ask.called)
    return Rows(table, table.heading, empty="The policy has no adjustment.")


def adjust_form(ask: Ask) -> Form:
    teams = tuple(sorted({*policy_for(ask.project, ask.month).teams} - {*SYSTEM_OWNERS}))
    return Form(
        "/adjustments",
        (
            Input("period", "Month", str(ask.month), needed=True),
            Input("team", "Who is spared", choices=teams),
            Input("project", "Of this project alone"),
            Input("sponsor", "Who pays", choices=teams),
            Input("amount", "Amount", needed=True, hint=f"in {ask.project.policy.currency}, such as 120.00, or the bill's currency where one is named"),
            Input("why", "Why", kind="words", needed=True),
            Input("approver", "Approved by"),
            Input("pool", "Of this pool alone"),
            Input("bill", "Of this bill alone"),
            Input("reference", "Reference", hint="a ticket, or whatever makes the same credit once more another one"),
        ),
        "Give the credit",
        "A one-off credit",
        says="A sponsor pays an amount of what a team owes; every bill stays what it was. What is to hold every month belongs in the policy.",
    )  # fmt: skip


def give(ask: Ask, form: Mapping[str, str]) -> str:
    given = {
        name: form.get(name, "").strip()
        for name in ("amount", "why", "approver", "pool", "bill", "reference", "sponsor")
    }
    owner = "/".join(part for part in (form.get("team", ""), form.get("project", "").strip()) if part)
    done = adjust(ask.project, form.get("period", ""), Wish(owner=owner, **given))
    return f"/ledger?period={done.booked}&run={done.transfer.run_id}"


ROUTES = (Route("/adjustments", adjustments),)
ACTIONS = (Action("/adjustments", give, Deed.adjust),)
