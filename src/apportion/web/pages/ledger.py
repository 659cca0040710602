"""`/ledger`: every entry behind a figure, and whether any was altered."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from apportion.books.browse import Sought
from apportion.model.times import instant_text
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted, shown
from apportion.verbs.ledger import (
    SIDE,
    Leaf,
    Only,
    Sum,
    ledger_csv,
    ledger_leaf,
    ledger_rows,
    ledger_sum,
    ledger_title,
    posting_table,
    sought,
)
from apportion.web.ask import Ask
from apportion.web.frame import Entry
from apportion.web.page import Block, Facet, Facets, Figure, Figures, Form, Link, Page, Prose, Rows
from apportion.web.routes import Action, Download, File, Route
from apportion.web.verifying import Verified
from apportion.web.viewer import NO_TEAM, Deed, Viewer

LONGEST = 16  # of a run's name
SHOWN = 12  # values of a facet
ALONE = ("kind", "run", "before")  # what only this page filters by


def ledger(ask: Ask) -> Page:
    wanted = wanted_of(ask)
    summed = ask.desk.kept(("ledger", wanted_key(wanted)), lambda: ledger_sum(ask.project, wanted))
    leaf = ledger_leaf(ask.project, wanted, ask.one("before"))
    blocks: list[Block] = [figures(summed, leaf), facets(ask, summed), table(ask, leaf), more(ask, leaf)]
    if ask.viewer.may(Deed.whole):
        blocks += whole_chain(ask)
    return Page(
        "ledger",
        ledger_title(ask.months, only_of(ask), summed),
        tuple(blocks),
        command=command(ask),
        notes=(SIDE, "CSV has all of these postings, not only this page."),
        about={"facets": summed.facets, "next": leaf.next, "count": summed.count},
        refresh_s=5 if ask.viewer.may(Deed.whole) and ask.desk.verifying.is_running else 0,
    )  # fmt: skip


def only_of(ask: Ask) -> Only:
    query = ask.query
    return Only(query.get("where", ()), query.get("kind", ()), query.get("run", ()), ask.one("as_of"))


def wanted_of(ask: Ask) -> Sought:
    """Own teams alone, whatever the URL says; of another's team there is nothing to find."""
    teams = None if ask.viewer.teams is None else tuple(sorted(ask.viewer.teams))
    return replace(sought(ask.project, ask.months, only_of(ask)), teams=teams)


def command(ask: Ask) -> str:
    """With the filter that their eyes have: of the teams that were named those that they see."""
    only = only_of(ask)
    flags = [("period", ask.period), *(("where", one) for one in within(ask.viewer, only.where))]
    flags += [*(("kind", one) for one in only.kinds), *(("run", one) for one in only.runs)]
    flags += [("as-of", only.as_of), ("before", ask.one("before"))]
    return "apportion ledger" + "".join(f" --{name} {shlex.quote(value)}" for name, value in flags if value)


def within(viewer: Viewer, where: Sequence[str]) -> list[str]:
    teams = [one for one in where if one.startswith("team=")]
    if viewer.teams is None:
        return [*where]
    seen = [one for one in teams if viewer.sees(one.removeprefix("team="))] if teams else viewer.where
    return [*(one for one in where if one not in teams), *(seen or (NO_TEAM,))]


def wanted_key(wanted: Sought) -> tuple[object, ...]:
    where = tuple((by, tuple(values)) for by, values in wanted.where.items())
    return (wanted.periods, wanted.teams, where, wanted.kinds, wanted.runs, wanted.until_s)


def figures(summed: Sum, leaf: Leaf) -> Figures:
    """Sums lead nowhere: this is where they come from."""
    items = [Figure("postings", f"{summed.count:,}", note="all that match; newest first below")]
    items += [
        Figure(f"sum in {currency}", shown(amount, currency), note="of these postings")
        for currency, amount in summed.amounts.items()
    ]
    if leaf.broken:
        said = Figure("links of this page", f"{len(leaf.broken)} broken", note=f"first: {leaf.broken[0]}", tone="bad")
    else:
        said = Figure("links of this page", f"{len(leaf.rows)} hold ✓", note="hashed again just now", tone="good")
    return Figures((*items, said))


def facets(ask: Ask, summed: Sum) -> Facets:
    groups = {name: facet(ask, name, values) for name, values in summed.facets.items() if values}
    others = {name: len(values) - SHOWN for name, values in summed.facets.items() if len(values) > SHOWN}
    return Facets(groups, more={name: count for name, count in others.items() if name != "day"})


def facet(ask: Ask, name: str, counts: Mapping[str, int]) -> list[Facet]:
    """Days in their order, all of them; of the others the most frequent."""
    some = sorted(counts.items()) if name == "day" else list(counts.items())[:SHOWN]
    where, kinds = list(ask.query.get("where", ())), list(ask.query.get("kind", ()))
    found = []
    for value, count in some:
        if name == "kind":
            chosen = value in kinds
            href = here(ask, kind=None if chosen else value)
        else:
            said = f"{name}={value}"
            chosen = said in where
            href = here(ask, where=[one for one in where if one != said] if chosen else [*where, said])
        found.append(Facet(value, count, href, chosen))
    return found


def here(ask: Ask, **changes: str | list[str] | None) -> str:
    """This page from its beginning, with what it filters by itself."""
    own = {name: list(ask.query[name]) for name in ALONE if name != "before" and ask.query.get(name)}
    return ask.link("/ledger", **{**own, **changes})


def table(ask: Ask, leaf: Leaf) -> Rows:
    rows = leaf.rows.to_pylist()
    return Rows(
        posting_table(leaf.rows, LONGEST),
        "Postings, newest first",
        links={
            "posting": (why := [ask.link("/explain", what=f"posting:{row['seq']}", period=row["period"], where=None) for row in rows]),
            "amount": why,
            "run": [ask.link("/ledger", run=row["run_id"]) for row in rows],
        },
        tones=["bad" if row["seq"] in leaf.broken else "" for row in rows],
        empty="Nothing is posted that fits.",
    )  # fmt: skip


def more(ask: Ask, leaf: Leaf) -> Prose:
    links = [Link("Older postings", here(ask, before=str(leaf.next)))] if leaf.next is not None else []
    links += [Link("From the newest on", here(ask))] if ask.one("before") else []
    return Prose(links=tuple(links))


def whole_chain(ask: Ask) -> list[Block]:
    chain, last = ask.project.books.browse.chain(), ask.desk.verifying.last
    items = (
        Figure("links in the chain", f"{chain.links:,}", note=counted(chain.runs, "run")),
        Figure("head", chain.head[:16] or "none", note="keep it elsewhere: a ledger that is cut off shows by it"),
        verified(last, chain.head, running=ask.desk.verifying.is_running),
    )
    blocks: list[Block] = [Figures(items)]
    if last and last.findings:
        columns = (Column("code", "code"), Column("where", "where"), Column("message", "what"))
        rows = tuple((one.code, one.where, one.message) for one in last.findings)
        blocks.append(Rows(Table(columns, rows), "What is not as it was recorded", tones=["bad"] * len(rows)))
    says = "Every link, bill, policy, plan, file and statement is looked at again; it goes on while you read."
    return [*blocks, Form("/ledger/verify", (), "Verify all of it", "The whole ledger", says=says)]


def verified(last: Verified | None, head: str, *, running: bool) -> Figure:
    if running:
        return Figure("verified", "running …", note="this page looks again by itself")
    if last is None:
        return Figure("verified", "not yet", note="since this server was started")
    when = f"{instant_text(last.at_s)} by {last.who}"
    if last.failed:
        return Figure("verified", "could not be told", note=f"{last.failed}; {when}", tone="bad")
    if last.findings:
        return Figure("verified", counted(len(last.findings), "finding"), note=when, tone="bad")
    since = "" if last.head == head else f"; {last.links:,} links then"
    return Figure("verified", "all holds ✓", note=when + since, tone="good")


def verify(ask: Ask, form: Mapping[str, str]) -> str:
    del form
    ask.desk.verifying.start(ask.project.books, ask.viewer.name)
    return "/ledger"


def all_rows(ask: Ask) -> File:
    parts = ledger_csv(ledger_rows(ask.project, wanted_of(ask)))
    return File("ledger.csv", "text/csv; charset=utf-8", (part.encode() for part in parts))


ROUTES = (Route("/ledger", ledger, entry=Entry("Ledger", "/ledger", "g")),)
ACTIONS = (Action("/ledger/verify", verify, Deed.whole),)
DOWNLOADS = (Download("/ledger.csv", all_rows),)
