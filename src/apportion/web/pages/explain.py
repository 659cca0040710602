"""`/explain?what=`: the way from a figure to the bill, drawn, as a tree and in sentences, computed again from cost lines and usage."""

import shlex
from collections.abc import Mapping
from decimal import Decimal

from apportion.render.chart import number, stacked_parts
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.sums import total
from apportion.reports.words import shown
from apportion.verbs.explain import Explanation
from apportion.verbs.explaining.prose import aloud
from apportion.verbs.explaining.story import Node
from apportion.web.ask import Ask, at
from apportion.web.computing import explained
from apportion.web.page import Block, Branch, Chart, Figure, Figures, Form, Input, Link, Page, Prose, Rows, Tree
from apportion.web.routes import Route
from apportion.web.viewer import Deed

Parts = list[tuple[str, str, str, Decimal]]  # pool, reason, currency, amount


def explain(ask: Ask) -> Page:
    what = ask.one("what")
    if not what:
        return Page("explain", "Which figure shall be explained?", (form(ask, ""),))
    found = explained(ask, what)
    sentences = tuple(aloud(found.steps))
    steps = Tree(tuple(branch(ask, found, node) for node in found.steps), "From the figure to the bill", 1)
    blocks: list[Block] = [figures(ask, found), *charts(ask, found), steps]
    blocks += [Prose(sentences, "The same in sentences", numbered=True), form(ask, what)]
    also = (f"{what} is also {', '.join(found.also)}: ask for that by its full name.",) if found.also else ()
    return Page(
        "explain",
        found.title,
        tuple(blocks),
        command=f"apportion explain {shlex.quote(what)} --period {ask.month}",
        notes=(*also, f"Policy {found.policy}, {found.basis}.", f"Ledger head {found.head}."),
        about={"sentences": sentences},
        crumbs=crumbs(ask, found),
    )


def form(ask: Ask, what: str) -> Form:
    hint = "a team, pool:NAME, job:ID, or posting:NUMBER as the ledger shows it"
    inputs = (
        Input("what", "What", what, hint=hint, needed=True),
        Input("period", "Month", str(ask.month), kind="month"),
    )
    return Form("/explain", inputs, "Explain", "Another figure" if what else "", post=False)


def crumbs(ask: Ask, found: Explanation) -> tuple[Link, ...]:
    rooms = {"team": ("Teams", "/teams"), "pool": ("Pools", "/pools")}
    if found.kind not in rooms or found.name.startswith("_"):
        return ()
    text, room = rooms[found.kind]
    return Link(text, ask.link(room)), Link(found.name, ask.link(at(room, found.name)))


def figures(ask: Ask, found: Explanation) -> Figures:
    """As planned, as posted, and before rounding."""
    items: list[Figure] = []
    where = {"team": f"team={found.name}", "pool": f"pool={found.name}"}.get(found.kind)
    for one in found.figures:
        matches = one.posted == one.planned
        note = "the same as posted ✓" if matches else "not posted yet" if one.posted is None else "not what is posted"
        href = ask.link("/ledger", where=where) if where else ""
        items.append(Figure("figure", shown(one.amount, one.currency), href, note, "good" if matches else ""))
        items.append(Figure("exactly", f"{one.exact.rstrip('0').rstrip('.')} {one.currency}", "", "before rounding"))
    return Figures(tuple(items))


def parts_of(nodes: tuple[Node, ...]) -> Parts:
    """Pool by pool, by reason where the steps tell it; late lines count to their pools."""
    found: Parts = []
    for node in nodes:
        pool, amount, reasons = node.facts.get("pool"), node.facts.get("amount"), node.facts.get("reasons")
        currency = str(node.facts.get("currency", ""))
        if isinstance(reasons, Mapping):
            found += [(str(pool) or "no pool", str(reason), currency, part) for reason, part in reasons.items()]
        elif pool is not None and isinstance(amount, Decimal):
            found.append((str(pool) or "no pool", "usage", currency, amount))
        elif "month" in node.facts:
            found += parts_of(node.steps)
    return found


def charts(ask: Ask, found: Explanation) -> list[Block]:
    parts = parts_of(found.steps)
    return [parts_chart(ask, parts, currency) for currency in dict.fromkeys(part[2] for part in parts)]


def parts_chart(ask: Ask, parts: Parts, currency: str) -> Chart:
    keys = dict.fromkeys((pool, reason) for pool, reason, known, _ in parts if known == currency)
    sums = {key: total(part[3] for part in parts if part[:3] == (*key, currency)) for key in keys}
    order = list(dict.fromkeys(pool for pool, _ in keys))
    values = [
        {"pool": pool, "reason": reason, "amount": number(amount), "shown": shown(amount, currency)}
        for (pool, reason), amount in sums.items()
    ]
    columns = (Column("pool", "pool"), Column("reason", "reason"), Column("amount", "amount", "money"))
    rows = tuple((*key, amount) for key, amount in sums.items())
    table = Table(columns, rows, (None, None, total(sums.values())), currency, "Its parts")
    pools = ["" if pool == "no pool" else ask.link(at("/pools", pool), where=None) for pool, _ in keys]
    return Chart(
        "Its parts",
        f"By pool and reason, in {currency}.",
        stacked_parts(values, order, currency),
        Rows(table, links={"pool": pools, "amount": pools}),
    )


def branch(ask: Ask, found: Explanation, node: Node) -> Branch:
    return Branch(node.text, href_of(ask, node), tuple(branch(ask, found, step) for step in node.steps))


def href_of(ask: Ask, node: Node) -> str:
    """To what a step is about, by its facts."""
    facts = node.facts
    if facts.get("pool"):
        return ask.link(at("/pools", str(facts["pool"])), where=None)
    if facts.get("workload") and "resource" in facts:
        return ask.link(at("/runs", str(facts["workload"])), where=None)
    if "file" in facts and ask.viewer.may(Deed.whole):
        policy = ask.desk.means.ground(ask.project, ask.month).policy
        return f"{ask.link(at('/policy', policy.version), where=None)}#L{facts['line']}"
    if facts.get("dispute"):
        return ask.link(at("/disputes", str(facts["dispute"])), where=None)
    return ""


ROUTES = (Route("/explain", explain),)
