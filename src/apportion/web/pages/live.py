"""`/live`: what does the running month come to so far?"""

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.chart import colours, number, stacked_days
from apportion.render.sheet import Table, report_sheet
from apportion.reports.completeness import INCOMPLETE
from apportion.reports.live import BILLED, Estimate, by_day, live_report, price_text, projected
from apportion.reports.report import Column, Report
from apportion.reports.sums import total
from apportion.reports.words import shown
from apportion.web.ask import Ask, at
from apportion.web.completeness import stated
from apportion.web.estimates import estimate, state
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Figure, Figures, Page, Rows
from apportion.web.pages import anomalies
from apportion.web.pages.overview import team_order
from apportion.web.routes import Route
from apportion.web.tables import folded, in_order, spread

ASK_AGAIN_S = 60


def live(ask: Ask) -> Page:
    made = estimate(ask)
    by_team, by_pool = live_report(made), live_report(made, "pool")
    blocks: list[Block] = []
    for n, section in enumerate(by_team.sections):
        blocks += [
            strip(ask, made, section.currency),
            daily(ask, made, section.currency),
            teams(ask, report_sheet(by_team).tables[n]),
            pools(ask, made, by_pool, n),
        ]
    blocks += anomalies.told(ask)
    if len(made.sources) > 1:
        blocks.append(sources(made))
    flags = "".join(f" --where {one}" for one in ask.filters)
    return Page(
        "live",
        by_team.title,
        tuple(blocks),
        command=f"apportion report live{flags}",
        notes=by_team.notes,
        about={"state": state(ask), **by_team.more},
        timeless=True,
        refresh_s=ASK_AGAIN_S,
        fleeting=True,
    )


def strip(ask: Ask, made: Estimate, currency: str) -> Figures:
    rows = [row for row in made.rows.select(["currency", "basis", "amount"]).to_pylist() if row["currency"] == currency]
    so_far, billed = (total(row["amount"] for row in rows if only in ("", row["basis"])) for only in ("", BILLED))
    straight = projected(made, currency)
    here = ask.link("/live", period=None)
    return Figures((
        Figure("estimated so far", shown(so_far, currency), here, f"until {made.today}"),
        Figure("of it billed", shown(billed, currency), here, "the rest at the last settled prices"),
        Figure(
            f"projected for {made.period}",
            shown(straight, currency) if straight is not None else "not yet",
            here,
            f"a straight line over {made.complete_days} of {made.days} days",
        ),
        Figure(
            "complete to",
            str(made.complete_to or "no day yet"),
            ask.link("/health") if len(made.sources) > 1 else here,
            "later days are hatched",
        ),
    ))  # fmt: skip


def daily(ask: Ask, made: Estimate, currency: str) -> Chart:
    whole = by_day(made, currency)
    every = team_order(ask, {team for _, team in whole})  # a team keeps its colour whoever else is shown
    sums = folded(whole)
    order = in_order({team for _, team in sums}, every)
    last = str(made.complete_to or "")
    values = [
        {
            "day": day,
            "owner": team,
            "amount": number(amount),
            "shown": f"{shown(amount, currency)} estimated" + ("" if day <= last else ", incomplete"),
            "rank": order.index(team),
            "complete": day <= last,
        }
        for (day, team), amount in sums.items()
    ]
    says = f"Each day of {made.period} by team, estimated; what no team owes in grey, " + (
        f"days after {last} are incomplete and hatched." if last else "every day is incomplete and hatched."
    )
    spec = stacked_days(values, colours(every, order), order, currency)
    states = {day: INCOMPLETE for day, _ in sums if day > last}
    table = stated(spread(sums, "day", order, currency), states)
    of_team = {name: team_link(ask, name) for name in order if name in every}
    links = {name: [href] * len(table.rows) for name, href in of_team.items()}
    rows = Rows(table, links=links, sums=of_team, lead=ask.link("/live", period=None))
    return Chart("Day by day, estimated", says, spec, rows)


def teams(ask: Ask, table: Table) -> Rows:
    names = [str(row[0]) for row in table.rows]
    return Rows(
        table,
        "By team, estimated",
        links={
            "owner": ["" if name in SYSTEM_OWNERS else ask.link(at("/teams", name)) for name in names],
            "amount": (own := [team_link(ask, name) for name in names]),
            "billed": own,
            "projected": own,
        },
        bars="amount",
        lead=ask.link("/live", period=None),
    )


def team_link(ask: Ask, name: str) -> str:
    """What is estimated has no postings: its pools and their prices say where it comes from."""
    return ask.link("/live", period=None, where=[f"team={name}"])


def pools(ask: Ask, made: Estimate, report: Report, n: int) -> Rows:
    """With the prices, where they come from, and what has none."""
    section, prices = report.sections[n], {one.pool: one for one in made.pools}
    rows = []
    for name, *amounts in section.rows:
        one = prices.get(str(name))
        told = (one.basis, price_text(one, made.price_currency), one.month) if one else ("", "", "")
        rows.append((name, *amounts, *told))
    listed = {str(row[0]) for row in section.rows}
    rows += [
        (one.pool, None, None, None, one.basis, "", "") for one in made.pools if one.pool not in listed and one.note
    ]
    columns = (*report.columns, Column("basis", "basis"), Column("price", "price"), Column("of", "price of"))
    table = Table(columns, tuple(rows), (*section.totals, "", "", ""), section.currency)
    own = [ask.link("/live", period=None, where=[f"pool={row[0]}"]) if row[1] is not None else "" for row in rows]
    return Rows(
        table,
        "By pool, with the prices",
        links={
            "pool": [ask.link(at("/pools", str(row[0])), where=None) if str(row[0]) in prices else "" for row in rows],
            **dict.fromkeys(("amount", "billed", "projected"), own),
            "price": [
                ask.link(at("/pools", str(row[0])), where=None, period=str(row[6])) if row[6] else "" for row in rows
            ],
        },
        lead=ask.link("/live", period=None),
    )


def sources(made: Estimate) -> Rows:
    columns = (Column("source", "source"), Column("complete_to", "complete to"))
    rows = tuple((one.source, str(one.complete_to or "no day yet")) for one in made.sources)
    return Rows(Table(columns, rows), "How far the data reaches")


ROUTES = (Route("/live", live, entry=Entry("Live", "/live", "l"), state=state),)
