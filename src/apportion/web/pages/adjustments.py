"""`/adjustments`: who pays for whom, once or by what was agreed for every month."""

from collections.abc import Mapping

from apportion.model.rows import SYSTEM_OWNERS
from apportion.policy.rules import Adjustment
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted, shown
from apportion.verbs.adjust import Wish, adjust
from apportion.verbs.agreement import policy_for
from apportion.web.ask import Ask
from apportion.web.page import Block, Form, Input, Link, Page, Rows
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

ANOTHER = "another team"
KINDS = ("percent", "smooth", "cap", "floor", "grant")


def adjustments(ask: Ask) -> Page:
    made, agreed = once(ask), standing(ask)
    blocks: list[Block] = [made, agreed]
    if ask.viewer.may(Deed.adjust):
        blocks.append(adjust_form(ask))
    one_off, rules = (
        counted(len(made.table.rows), "one-off credit or move", "one-off credits and moves"),
        len(agreed.table.rows),
    )
    return Page(
        "adjustments",
        f"{one_off}, and {counted(rules, 'adjustment')} of the policy for {ask.month}.",
        tuple(blocks),
        command="apportion report corrections" if not ask.viewer.may(Deed.adjust) else "apportion adjust --help",
        crumbs=(Link("Disputes", ask.link("/disputes")),),
    )  # fmt: skip


def sees(ask: Ask, path: str) -> bool:
    return ask.viewer.sees(path.partition("/")[0])


def called(ask: Ask, path: str) -> str:
    """Who is on the other side is theirs to know only where they may see that team."""
    return path if sees(ask, path) else ANOTHER


def once(ask: Ask) -> Rows:
    """Of all months, the newest first."""
    runs = {run.run_id: run for run in ask.project.books.runs()}
    found = [one for one in reversed(ask.project.books.transfers()) if sees(ask, one.owner) or sees(ask, one.other)]
    names = ("booked", "kind", "amount", "owner", "other", "why", "approver", "reference", "dispute")
    titles = {"owner": "who is spared", "other": "who pays", "approver": "approved by"}
    columns = tuple(
        Column(name, titles.get(name, name), "count" if name == "amount" else "text", quiet=name in ("approver", "reference", "dispute"))
        for name in names
    )  # fmt: skip
    rows = tuple(
        (
            runs[one.run_id].period, runs[one.run_id].kind, shown(one.amount, one.currency), called(ask, one.owner), called(ask, one.other),
            one.why, one.approver or None, one.reference or None, str(one.dispute) if one.dispute else None,
        )
        for one in found
    )  # fmt: skip
    links = {
        "amount": [ask.link("/ledger", run=one.run_id, period=runs[one.run_id].period) for one in found],
        "dispute": [ask.link(f"/disputes/{one.dispute}") if one.dispute and sees(ask, one.owner) else "" for one in found],
    }  # fmt: skip
    return Rows(Table(columns, rows), "Decided once", links=links, empty="Nobody paid for another yet.")


def standing(ask: Ask) -> Rows:
    """What the month's policy says, with who pays for it and until when."""
    columns = (
        Column("team", "team"), Column("what", "what"), Column("pool", "pool"), Column("sponsor", "who pays"),
        Column("from", "from", quiet=True), Column("until", "until"), Column("why", "why"), Column("approver", "approved by", quiet=True),
    )  # fmt: skip
    rules = [rule for rule in policy_for(ask.project, ask.month).adjustments if concerns(ask, rule)]
    rows = tuple(
        (
            called(ask, rule.team) if rule.team else "what its labels say", what_of(rule), rule.pool or "all pools", called(ask, rule.sponsor),
            str(rule.from_ or "") or None, str(rule.until or "no end"), rule.why, rule.approver or None,
        )
        for rule in rules
    )  # fmt: skip
    return Rows(Table(columns, rows), "Agreed in the policy", empty="The policy has no adjustment.")


def concerns(ask: Ask, rule: Adjustment) -> bool:
    return ask.viewer.sees(rule.sponsor) or (rule.team is not None and ask.viewer.sees(rule.team))


def what_of(rule: Adjustment) -> str:
    """`percent -10`."""
    given = ((name, getattr(rule, name)) for name in KINDS)
    return ", ".join(f"{name} {value}" for name, value in given if value is not None)


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
