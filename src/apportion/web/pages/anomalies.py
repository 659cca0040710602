"""`/anomalies`: what is not as usual, what did it mean, and does somebody know why?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from apportion.model.times import instant_text
from apportion.render.sheet import Table, report_sheet
from apportion.reports.anomaly.found import Anomaly
from apportion.reports.anomaly.report import anomaly_report, cause_report, folded
from apportion.reports.report import Column
from apportion.web.anomalies import acknowledge_as, anomalies, find, may_acknowledge
from apportion.web.ask import Ask, at
from apportion.web.frame import Entry
from apportion.web.page import Block, Form, Input, Page, Rows, Tone
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

HERE = "/anomalies"


def anomaly_page(ask: Ask) -> Page:
    """All that are theirs to see; with `id`, one with its causes."""
    found = anomalies(ask)
    if ask.one("id"):
        return one_page(ask, find(found, ask.one("id")))
    made = anomaly_report(found)
    news = [one for one in found if not one.acknowledged]
    blocks: list[Block] = list(blocks_of(ask, news))
    known = [one for one in found if one.acknowledged]
    if known:
        blocks.append(known_rows(ask, known))
    blocks += forms(ask, found)
    return Page(
        "anomalies", made.title, tuple(blocks), command="apportion anomalies list", notes=tuple(one.sentence for one in news), timeless=True, fleeting=True,
    )  # fmt: skip


def blocks_of(ask: Ask, found: Sequence[Anomaly]) -> list[Rows]:
    """A table a currency, each row leading to its causes and its money."""
    order = {one.id: one for one in found}
    tables = []
    for table in report_sheet(anomaly_report(found)).tables:
        own = [order[str(row[0])] for row in table.rows]
        links = {
            "id": [page_of(ask, one) for one in own],
            "owner": [owner_link(ask, one) for one in own],
            "amount": [page_of(ask, one) for one in own],
        }
        tones: list[Tone] = ["quiet" if one.is_over else "warn" for one in own]
        lead = ask.link(HERE, period=None)
        tables.append(Rows(replace(table, totals=()), "Not as usual", links=links, tones=tones, lead=lead))
    return tables


def page_of(ask: Ask, one: Anomaly) -> str:
    return ask.link(HERE, period=None, where=None, id=one.id)


def owner_link(ask: Ask, one: Anomaly) -> str:
    return ask.link(at("/pools" if one.is_of_pool else "/teams", one.owner), where=None, period=month_of(ask, one))


def month_of(ask: Ask, one: Anomaly) -> str | None:
    month = f"{one.until:%Y-%m}"
    return month if month in ask.known_months else None


def one_page(ask: Ask, one: Anomaly) -> Page:
    made = cause_report(one)
    behind = money_link(ask, one)
    blocks: list[Block] = [
        Rows(table, "Why: causes that add up", links={"amount": [behind] * len(table.rows)}, lead=behind, bars="amount")
        for table in report_sheet(made).tables
    ]
    blocks += leading(ask, one)
    blocks += forms(ask, [one])
    notes = (folded(one),) if one.acknowledged else ()
    return Page(
        "anomaly", made.title, tuple(blocks), command=f"apportion anomalies show {one.id}", notes=notes, timeless=True, fleeting=True,
    )  # fmt: skip


def leading(ask: Ask, one: Anomaly) -> list[Rows]:
    if not one.leaders:
        return []
    columns = (
        Column("what", "what"),
        Column("name", "name"),
        Column("above", "difference to before", "money"),
        Column("command", "read on"),
    )
    rows = tuple((lead.what, lead.name, lead.above, lead.command) for lead in one.leaders)
    month = month_of(ask, one)
    of = {"pool": "/pools", "user": "/users", "run": "/runs"}
    names = [
        ask.link(at("/projects", one.owner, lead.name) if lead.what == "project" else at(of[lead.what], lead.name), where=None, period=month)
        if month else "" for lead in one.leaders
    ]  # fmt: skip
    table = Table(columns, rows, currency=one.currency)
    return [Rows(table, "What most of it is in", links={"name": names}, lead=money_link(ask, one))]


def money_link(ask: Ask, one: Anomaly) -> str:
    """The days behind it: postings, or of the running month the estimate."""
    where = [f"pool={one.owner}"] if one.is_of_pool else [f"team={one.owner}"]
    month = month_of(ask, one)
    return ask.link("/ledger", period=month, where=where) if month else ask.link("/live", period=None, where=where)


def known_rows(ask: Ask, known: Sequence[Anomaly]) -> Rows:
    columns = tuple(Column(name, name) for name in ("id", "kind", "owner", "began", "by", "when", "until", "why"))
    rows = tuple(
        (
            one.id,
            one.kind,
            one.owner,
            str(one.began),
            word.who,
            instant_text(word.at_s),
            word.until or "it is over",
            word.why,
        )
        for one in known
        if (word := one.acknowledged)
    )
    links = {"id": [page_of(ask, one) for one in known]}
    return Rows(Table(columns, rows), "Acknowledged", links=links, tones=["quiet" for _ in rows])


def forms(ask: Ask, found: Sequence[Anomaly]) -> list[Block]:
    """For those who may say something of it; what is about a pool is for those who see all teams."""
    own = [one for one in found if not one.acknowledged and may_acknowledge(ask, one)]
    if not own:
        return []
    named = tuple(f"{one.id}: {one.kind} of {one.owner}" for one in own)
    return [
        Form(
            HERE,
            (
                Input("id", "Which", named[0], choices=named),
                Input("why", "Why it is so", kind="words", needed=True),
                Input(
                    "until",
                    "Tell of it again after",
                    kind="date",
                    hint="a day; without one nothing is told while it lasts",
                ),
            ),
            "Acknowledge it",
            "Acknowledge one",
            says="Nothing is told of it any more. Who, when and why stand in the audit log.",
        )
    ]


def acknowledge_one(ask: Ask, form: Mapping[str, str]) -> Page | str:
    name, _, _ = form.get("id", "").partition(":")
    acknowledge_as(ask, name, form.get("why", ""), form.get("until", ""))
    return HERE


def told(ask: Ask) -> list[Block]:
    """For other pages: those that nobody acknowledged, or nothing."""
    found = [one for one in anomalies(ask) if not one.acknowledged]
    return [*blocks_of(ask, found)] if found else []


ROUTES = (Route(HERE, anomaly_page, entry=Entry("Anomalies", HERE, "n")),)
ACTIONS = (Action(HERE, acknowledge_one, Deed.dispute),)
