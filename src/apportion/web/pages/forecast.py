"""`/forecast`: where does the month end, and how sure is that?"""

from collections.abc import Sequence

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.chart import banded, colours, number
from apportion.render.sheet import Table, report_sheet
from apportion.reports.forecast.made import Forecast, Group
from apportion.reports.forecast.report import backtest_report, cases, forecast_report
from apportion.reports.report import Column, Report
from apportion.reports.words import counted, percent, shown
from apportion.web.ask import Ask, at
from apportion.web.forecasts import backtest, forecast, teams_asked
from apportion.web.page import Block, Chart, Figure, Figures, Page, Rows, Tone
from apportion.web.pages.overview import team_order
from apportion.web.routes import Route

MONEY = ("spent", "amount", "low_80", "high_80", "low_50", "high_50", "low_95", "high_95", "budget")
LIKELY = 0.5
STEPS = (
    Column("day", "day"),
    Column("amount", "by its end", "money"),
    Column("low_80", "80 % from", "money"),
    Column("high_80", "80 % to", "money"),
)


def page(ask: Ask) -> Page:
    teams = teams_asked(ask)
    made, pools, tried = forecast(ask, teams), forecast(ask, teams, "pool"), backtest(ask, teams)
    by_team, by_pool = forecast_report(made), forecast_report(pools)
    blocks: list[Block] = []
    for n, whole in enumerate(made.wholes):
        currency = whole.outlook.currency
        own = [one for one in made.groups if one.outlook.currency == currency]
        one = own[0] if len(own) == 1 else whole
        blocks += [
            strip(ask, made, one),
            drawn(ask, made, one),
            by_owner(ask, by_team, n),
            in_pools(ask, by_pool, n),
        ]
    blocks += tried_rows(backtest_report(tried))
    names = teams or tuple(sorted(ask.viewer.teams or ()))
    return Page(
        "forecast",
        by_team.title,
        tuple(blocks),
        command=" ".join(["apportion forecast", *names]),
        notes=(*by_team.notes, *backtest_report(tried).notes),
        about={"period": by_team.period, **by_team.more},
        timeless=True,
        fleeting=True,
    )


def strip(ask: Ask, made: Forecast, one: Group) -> Figures:
    said, known, here = one.outlook, made.known, ask.link("/forecast", period=None)
    at_80, unit = said.range(80), said.currency
    items = [
        Figure(
            f"by the end of {known.month}",
            shown(said.amount, unit),
            here,
            "" if known.is_over else f"80 %: {shown(at_80.low, unit)} to {shown(at_80.high, unit)}",
        ),
        Figure("spent so far", shown(said.spent, unit), ask.link("/live", period=None), f"through {known.through}"),
    ]
    if one.budget and one.over is not None:
        tone: Tone = "bad" if said.spent > one.budget else "warn" if one.over > LIKELY else "good"
        note = f"exceeded {cases(one.over)}"
        items.append(Figure("budget", shown(one.budget, unit), ask.link("/quotas", period=None), note, tone))
    if one.score is not None and one.score.error is not None:
        note = f"on {counted(one.score.months, 'month')}; {percent(one.score.same_as_last)} for 'same as last month'"
        items.append(Figure("error before", percent(one.score.error), here, note))
    return Figures(tuple(items))


def drawn(ask: Ask, made: Forecast, one: Group) -> Chart:
    """What the month came to day by day, and from there the band that it ends in."""
    unit, name = one.outlook.currency, one.outlook.name
    colour = colours(team_order(ask, {name})).get(name, colours([""])[""])
    values = [
        {
            "day": f"{day:%d}",
            "amount": number(amount),
            "low": number(amount if low is None else low),
            "high": number(amount if high is None else high),
            "known": low is None,
            "shown": shown(amount, unit)
            + ("" if low is None or high is None else f" ({shown(low, unit)} to {shown(high, unit)})"),
        }
        for day, amount, low, high in one.steps
    ]
    lines = tuple((f"{day:%d}", amount, low, high) for day, amount, low, high in one.steps)
    says = f"What {made.known.month} comes to by the end of each day: known through {made.known.through}, then foreseen, with the 80 % around it."
    if one.budget:
        says += f" The line across is the budget of {shown(one.budget, unit)}."
    spec = banded(values, colour, unit, number(one.budget) if one.budget else None)
    rows = Rows(Table(STEPS, lines, (), unit), lead=ask.link("/forecast", period=None))
    return Chart("How the month goes on", says, spec, rows)


def by_owner(ask: Ask, made: Report, n: int) -> Rows:
    """What is foreseen rests on no posting: the team's own page of forecasts says where it comes from."""
    table = report_sheet(made).tables[n]
    names = [str(row[0]) for row in table.rows]
    own = [
        ask.link("/forecast", period=None, where=[f"team={name}"]) if theirs(ask, name) else here(ask) for name in names
    ]
    teams = ["" if name in SYSTEM_OWNERS else ask.link(at("/teams", name), where=None, period=None) for name in names]
    return Rows(table, "By team", {"owner": teams, **dict.fromkeys(MONEY, own)}, "amount", lead=here(ask))


def theirs(ask: Ask, name: str) -> bool:
    return name not in SYSTEM_OWNERS and ask.viewer.sees(name)


def here(ask: Ask) -> str:
    return ask.link("/forecast", period=None)


def in_pools(ask: Ask, made: Report, n: int) -> Rows:
    table = report_sheet(made).tables[n]
    known = set(ask.project.policy.pools)
    pools = [
        ask.link(at("/pools", str(row[0])), where=None, period=None) if row[0] in known else "" for row in table.rows
    ]
    return Rows(table, "By pool", {"pool": pools}, "amount", lead=here(ask))


def tried_rows(made: Report) -> Sequence[Block]:
    tables = report_sheet(made).tables
    return [Rows(table, made.title.removesuffix(".")) for table in tables]


ROUTES = (Route("/forecast", page),)
