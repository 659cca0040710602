"""`/`: what did we spend, on whom, and does it add up?"""

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from apportion.errors import ApportionError
from apportion.model.minor import rounding_of
from apportion.model.rows import REASONS, SYSTEM_OWNERS
from apportion.render.chart import colours, number, stacked_days
from apportion.render.sheet import Table, report_sheet
from apportion.reports.groups import chosen
from apportion.reports.report import Report, Section
from apportion.reports.sums import SIDES, grouped, less, side_of, total
from apportion.reports.words import apart, counted, shown
from apportion.verbs.billed import Billed
from apportion.verbs.report import read_filters
from apportion.web.ask import Ask, at
from apportion.web.bills import said
from apportion.web.completeness import stated, states_of, told
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Figure, Figures, Link, Page, Prose, Rows
from apportion.web.routes import Route
from apportion.web.tables import folded, fronted, in_order, spread
from apportion.web.viewer import Deed

if TYPE_CHECKING:
    from collections.abc import Sequence

SAID = {"owners": "teams", "idle": "_idle", "unallocated": "_unallocated", "residual": "rounding"}


def overview(ask: Ask) -> Page:
    made = ask.report("showback", by="team")
    sheet = report_sheet(made)
    blocks: list[Block] = []
    for section, table in zip(made.sections, sheet.tables, strict=False):
        blocks += [strip(ask, made, section), daily(ask, section.currency), owners(ask, table)]
    running = Link("The running month so far, estimated", ask.link("/live", period=None, where=None))
    ends = Link("Where the month ends", ask.link("/forecast", period=None, where=None))
    blocks.append(Prose(heading="Go on", links=(running, ends, Link("Idle and waste", ask.link("/idle")))))
    return Page(
        "overview",
        made.title,
        tuple(blocks),
        command=f"apportion report showback --period {ask.period}",
        notes=sheet.notes,
    )


def strip(ask: Ask, made: Report, section: Section) -> Figures:
    """The bill and its parts. A check mark says that what is posted is what the bills say."""
    place = [column.name for column in made.columns].index("amount")
    amounts = {str(row[0]): row[place] for row in section.rows}
    sides: dict[str, list[Decimal]] = {side: [] for side in SIDES}
    for owner, amount in amounts.items():
        if isinstance(amount, Decimal):
            sides[side_of(owner)].append(amount)
    parts = {side: total(found) for side, found in sides.items() if found}
    items = [bill(ask, section.currency, total(parts.values()))]
    items += [
        Figure(
            SAID[side],
            shown(amount, section.currency),
            ask.explained(f"_{side}") if f"_{side}" in SYSTEM_OWNERS else ask.link("/teams"),
        )
        for side, amount in parts.items()
    ]
    return Figures(tuple(items))


def bill(ask: Ask, currency: str, posted: Decimal) -> Figure:
    """Of a part nothing is said: no bill says what it comes to, and who sees only some teams learns nothing of the whole."""
    mine = ask.viewer.teams is not None
    label = "your teams" if mine else "of the bill" if ask.filters else "bill"
    figure = Figure(label, shown(posted, currency), ask.link("/ledger"))
    if mine or ask.filters or not ask.viewer.may(Deed.whole):
        return figure
    try:
        found = [one for one in said(ask) if one.currency == currency]
    except ApportionError as error:
        found, note = [], f"the bills cannot be read: {error.message}"
    else:
        note = differs(found, currency)
    if not note:
        return replace(figure, note="= what the bills say ✓", tone="good")
    month = next((one.period for one in found if one.difference), str(ask.months[-1]))
    return replace(figure, href=ask.link("/health", period=month), note=note, tone="bad")


def differs(found: list[Billed], currency: str) -> str:
    """Empty where every bill is posted as it says itself, to the last digit: what is too much of one does not make up for another."""
    posted, says = total(one.posted for one in found), total(one.says for one in found)
    if posted != says:
        return f"the bills say {shown(says, currency)}: {apart(less(posted, says), currency)}"
    wrong = sum(bool(one.difference) for one in found)
    return f"{counted(wrong, 'bill')} not posted as they say" if wrong else ""


def daily(ask: Ask, currency: str) -> Chart:
    posted = chosen(ask.record(ask.project, ask.months, ask.until_s).posted, read_filters(ask.filters))
    whole = {
        (str(day), team): amount
        for (day, team, unit), amount in grouped(posted, ("day", "team", "currency")).items()
        if unit == currency
    }
    undated = grouped(rounding_of(posted), ("team", "currency")).items()
    sums = dict(folded({**whole, **{("", team): amount for (team, unit), amount in undated if unit == currency}}))
    rounding = {team: sums.pop((day, team)) for day, team in [*sums] if not day}
    every = team_order(ask, {team for _, team in whole})
    order = in_order({team for _, team in sums}, every)
    states = states_of(ask)
    values = [
        {
            "day": day,
            "owner": team,
            "amount": number(amount),
            "shown": shown(amount, currency) + (", incomplete" if day in states else ""),
            "rank": order.index(team),
            "complete": day not in states,
        }
        for (day, team), amount in sums.items()
    ]
    table = stated(spread(sums, "day", order, currency, rounding), states)
    says = f"Each day of {ask.period} by team, what no team owes in grey." + told(states, [day for day, _ in sums])
    days, named = [str(row[0]) for row in table.rows], [name for name in order if name in every]
    links = {name: [ask.ledger(f"team={name}", f"day={day}") for day in days] for name in named}
    links |= {name: [ask.ledger(f"day={day}") for day in days] for name in ("day", "amount")}
    rows = Rows(table, links=links, sums={name: ask.ledger(f"team={name}") for name in named}, lead=ask.ledger())
    return Chart("Day by day", says, stacked_days(values, colours(every, order), order, currency), rows)


def team_order(ask: Ask, present: set[str]) -> list[str]:
    """As the policy names them, so that a team keeps its colour; the system's own owners last."""
    declared = [team for team in ask.project.policy.teams if ask.viewer.sees(team)]
    others = sorted(present - set(declared) - set(SYSTEM_OWNERS))
    return [*declared, *others, *(owner for owner in SYSTEM_OWNERS if owner in present)]


def owners(ask: Ask, table: Table) -> Rows:
    """A filter leaves a part of what a team owes: that leads to its postings, all of it to its explanation."""
    names: Sequence[str] = [str(row[0]) for row in table.rows]
    part = bool(ask.query.get("where"))
    links = {
        "owner": ["" if name in SYSTEM_OWNERS else ask.link(at("/teams", name)) for name in names],
        "amount": [ask.ledger(f"team={name}") if part else ask.explained(name) for name in names],
        **{reason: [ask.ledger(f"team={name}", f"reason={reason}") for name in names] for reason in REASONS},
    }
    sums = {reason: ask.ledger(f"reason={reason}") for reason in REASONS}
    return Rows(
        fronted(table, "owner", "amount", "share"), "Who owes what", links, "amount", sums=sums, lead=ask.ledger()
    )


ROUTES = (
    Route("/", overview, entry=Entry("Overview", "/", "o")),
    Route("/overview", overview),
)
