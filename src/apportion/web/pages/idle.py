"""`/idle`: what stood idle and why, who carries it, what was held without use, when, and which runs wasted the most."""

import shlex
from collections import defaultdict
from decimal import Decimal

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.chart import heat, number
from apportion.render.sheet import Table, report_sheet
from apportion.reports.capacity import WEEK
from apportion.reports.report import Column, Report
from apportion.reports.sums import total
from apportion.reports.waste import OTHERS
from apportion.reports.words import shown
from apportion.verbs.waste import waste
from apportion.web.ask import Ask, at
from apportion.web.computing import all_pools, efficient, one_pool
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Figure, Figures, Page, Prose, Rows
from apportion.web.routes import Route
from apportion.web.tables import records

TIMES = "When it stood idle"
EFFICIENCY = "How much of it was useful: nobody wins by doing less"

MEANS = {
    "unsold": "nobody held it",
    "reserved": "reserved, and not run on",
    "held": "held, and not used",
    "down": "could not be used",
}


def idle(ask: Ask) -> Page:
    made = ask.report("idle")
    held, runs = ask.report("held", by="team"), wasted(ask)
    blocks: list[Block] = [figures(ask, made, held), *causes(ask, made), *when(ask)]
    blocks += [*by_owner(ask, held), *useful(ask), *by_run(ask, runs)]
    where = "".join(f" --where {shlex.quote(one)}" for one in ask.filters)
    asked = f"--period {ask.period}{where}"
    more = f"`apportion report held {asked}` and `apportion report waste {asked}` have what was held without use."
    return Page(
        "idle",
        made.title,
        tuple(blocks),
        command=f"apportion report idle {asked}",
        notes=(*report_sheet(made).notes, more),
    )


def wasted(ask: Ask) -> Report:
    key = ("waste", ask.period, ask.filters, ask.viewer.teams)
    return ask.desk.kept(key, lambda: waste(ask.project, ask.months, ask.filters, ask.record))


def figures(ask: Ask, made: Report, held: Report) -> Figures:
    """Idle by its cause, and what holding without use cost."""
    items: list[Figure] = []
    for place, section in enumerate(made.sections):
        items.append(Figure("idle cost", shown(section.bill, section.currency), ask.ledger("reason=idle")))
        sums: dict[str, list[Decimal]] = defaultdict(list)
        for row in records(made, place):
            if isinstance(row["amount"], Decimal):
                sums[str(row["cause"])].append(row["amount"])
        items += [
            Figure(
                cause or "other",
                shown(total(found), section.currency),
                ask.ledger("reason=idle", f"cause={cause}"),
                MEANS.get(cause, ""),
            )
            for cause, found in sorted(sums.items())
        ]
    items += [
        Figure(
            "held without use",
            shown(section.bill, section.currency),
            ask.link("/idle"),
            note="inside what was charged, or idle of cause held",
        )
        for section in held.sections
        if section.bill
    ]
    return Figures(tuple(items))


def causes(ask: Ask, made: Report) -> list[Block]:
    blocks: list[Block] = []
    for table in report_sheet(made).tables[: len(made.sections)]:
        pools = [str(row[0]) for row in table.rows]
        teams = [str(row[2]) for row in table.rows]
        links = {
            "pool": [ask.link(at("/pools", name), where=None) if name else "" for name in pools],
            "owner": ["" if team in SYSTEM_OWNERS else ask.link(at("/teams", team), where=None) for team in teams],
            "amount": [
                ask.ledger("reason=idle", f"pool={pool}", f"cause={row[1]}", f"team={team}")
                for pool, team, row in zip(pools, teams, table.rows, strict=True)
            ],
        }
        heading = "What stood idle, why, and who carries it"
        whole = ask.ledger("reason=idle")
        blocks.append(Rows(table, heading, links, "amount", empty="Nothing stood idle.", lead=whole))
    return blocks


def when(ask: Ask) -> list[Block]:
    """Over all pools that price what stands idle, at the price of its hour; for those who see all of it, in one month."""
    if ask.viewer.teams is not None or len(ask.months) != 1:
        return []
    wanted = {one.removeprefix("pool=") for one in ask.filters if one.startswith("pool=")}
    index = all_pools(ask)
    sums: dict[str, list[Decimal]] = defaultdict(list)
    named = dict.fromkeys(str(row["pool"]) for row in records(index) if row["capacity"])
    for name in named:
        for row in records(one_pool(ask, name, "week")) if not wanted or name in wanted else ():
            if isinstance(row["idle_cost"], Decimal):
                sums[str(row["hour"])].append(row["idle_cost"])
    if not any(total(found) for found in sums.values()):
        return []
    by_hour = {hour: total(found) for hour, found in sums.items()}
    return [heat_map(by_hour, index.sections[0].currency, ask.link("/pools"))]


def heat_map(sums: dict[str, Decimal], currency: str, lead: str) -> Chart:
    """Each pool's own page has its hours and its price."""
    order = sorted(sums, key=lambda hour: (WEEK.index(hour[:3]), hour))
    values = [
        {"day": hour[:3], "hour": hour[4:], "amount": number(sums[hour]), "shown": shown(sums[hour], currency)}
        for hour in order
    ]
    columns = (Column("hour", "hour of the week"), Column("amount", "idle cost", "money"))
    table = Table(columns, tuple((hour, sums[hour]) for hour in order), (None, total(sums.values())), currency, TIMES)
    says = f"Idle cost in {currency}, at the price of its hour, by hour and day of the week: the more the stronger."
    return Chart(TIMES, says, heat(values, WEEK, currency), Rows(table, lead=lead))


def by_owner(ask: Ask, held: Report) -> list[Block]:
    """What was measured of it."""
    blocks: list[Block] = []
    for table in report_sheet(held).tables:
        teams = [str(row[0]) for row in table.rows]
        links = {"owner": ["" if team in SYSTEM_OWNERS else ask.link(at("/teams", team), where=None) for team in teams]}
        links["waste"] = [ask.link("/idle", where=[*pools_asked(ask), f"team={team}"]) for team in teams]
        heading = f"Held and used, by team, in {table.currency}"
        blocks.append(Rows(table, heading, links, "waste", lead=ask.link("/idle")))
    return blocks or [Prose((held.title,), "Held and used")]


def useful(ask: Ask) -> list[Block]:
    """Shares alone: what the hours cost stands above, and `apportion report efficiency` has the rest. Of one month, and of all that is seen of it."""
    if len(ask.months) != 1 or ask.query.get("where"):
        return []
    blocks: list[Block] = []
    for table in report_sheet(efficient(ask)).tables:
        kept = [n for n, column in enumerate(table.columns) if column.kind != "money"]
        columns, rows = (
            tuple(table.columns[n] for n in kept),
            tuple(tuple(row[n] for n in kept) for row in table.rows),
        )
        links = {"team": [ask.link(at("/teams", str(row[0]))) for row in rows]}
        blocks.append(Rows(Table(columns, rows, (), table.currency), EFFICIENCY, links))
    return blocks


def pools_asked(ask: Ask) -> list[str]:
    return [one for one in ask.query.get("where", ()) if not one.startswith("team=")]


def by_run(ask: Ask, runs: Report) -> list[Block]:
    blocks: list[Block] = []
    for table in report_sheet(runs).tables:
        names = ["" if row[0] == OTHERS else str(row[0]) for row in table.rows]
        links = {"run": [ask.link(at("/runs", name), where=None) if name else "" for name in names]}
        links["waste"] = [ask.explained(f"job:{name}") if name else "" for name in names]
        heading = "Runs that held the most without using it"
        blocks.append(Rows(table, heading, links, "waste", lead=ask.link("/idle")))
    return blocks


ROUTES = (Route("/idle", idle, entry=Entry("Idle", "/idle", "i")),)
