"""`/teams` and `/teams/{team}`: am I on budget, and what moved?"""

from collections.abc import Mapping
from decimal import Decimal

from apportion.errors import ProjectError
from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.chart import colours, number, waterfall
from apportion.render.sheet import Table, report_sheet
from apportion.reports.account import Account, standings
from apportion.reports.bridge import bridge_notes, bridges
from apportion.reports.budgets import Spending
from apportion.reports.report import Column, Report
from apportion.reports.statement.shape import DRIVERS, money
from apportion.reports.words import percent, rounded, shown
from apportion.verbs.asked import today_of
from apportion.verbs.budget import budgets
from apportion.verbs.moved import Moved, teams_moved
from apportion.verbs.report import carriers, policies_posted
from apportion.web.accounts import (
    Owned,
    Step,
    about,
    costliest,
    earlier,
    growth,
    own_record,
    owned,
    quantities,
    showback_command,
    some,
    spent_by,
    strip,
)
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.forecasts import forecast, month_ends
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Figure, Link, Page, Prose, Rows, Tone
from apportion.web.pages.overview import team_order
from apportion.web.routes import Route
from apportion.web.work import known_owners

MOVED = {
    "volume": "volume: units used",
    "price": "price of a unit",
    "mix": "mix: other hours and classes",
    "direct": "own bills",
    "idle": "idle cost",
    "policy": "policy",
    "overhead": "overhead",
    "adjustments": "credits, adjustments",
    "late": "late lines",
    "corrections": "corrections",
    "reclasses": "moved between owners",
    "other": "other",
}


def teams(ask: Ask) -> Page:
    """All that the viewer may see, with those of theirs that owe nothing."""
    month = ask.month
    made = standings(own_record(ask, month, {}), earlier(ask, month.previous, {}))
    sheet = report_sheet(made)
    blocks: list[Block] = [standing_rows(ask, table) for table in sheet.tables]
    silent = sorted(team for team in declared(ask) if team not in owing(made))
    if silent:
        links = tuple(Link(team, ask.link(at("/teams", team), where=None)) for team in silent)
        blocks.append(Prose((f"Nothing is posted for them in {month}:",), "Teams that owe nothing", links=links))
    command = f"apportion report showback --by team --period {ask.period}"
    carried = {key: text for key, text in bridges_of(ask).items() if ask.viewer.sees(key[0])}
    notes = (*sheet.notes, *bridge_notes(carried))
    return Page("teams", made.title, tuple(blocks), command, notes=notes, about={"period": str(month)})


def bridges_of(ask: Ask) -> Mapping[tuple[str, str], str]:
    """What teams carry beside what they owe, of what nobody narrowed down."""
    if ask.query.get("where"):
        return {}
    months, until = [ask.month], ask.until_s
    agreed = policies_posted(ask.project, months, until)
    return bridges(ask.desk.record(ask.project, months, until).posted, carriers(ask.project, agreed, ask.month))


def owing(made: Report) -> set[str]:
    return {str(row[0]) for section in made.sections for row in section.rows}


def declared(ask: Ask) -> set[str]:
    """Teams of the policy, and those that the viewer was given."""
    return {team for team in ask.project.policy.teams if ask.viewer.sees(team)} | set(ask.viewer.teams or ())


def standing_rows(ask: Ask, table: Table) -> Rows:
    names = [str(row[0]) for row in table.rows]
    pages = [ask.link(at("/teams", name), where=None) for name in names]
    part, before = bool(ask.query.get("where")), str(ask.month.previous)
    links = {
        "owner": pages,
        "amount": [ask.ledger(f"team={name}") if part else ask.explained(f"team:{name}") for name in names],
        "before": [ask.link("/ledger", period=before, where=[*where_of(ask), f"team={name}"]) for name in names],
        "change": pages,
        "waste": [ask.link("/idle", where=[f"team={name}"]) for name in names],
    }
    then = ask.link("/teams", period=before)
    sums = {"before": then, "change": then, "waste": ask.link("/idle")}
    return Rows(table, "", links, bars="amount", sums=sums, lead=ask.link("/"))


def where_of(ask: Ask) -> list[str]:
    """The page's own filters, but for teams."""
    return [one for one in ask.query.get("where", ()) if not one.startswith("team=")]


def team(ask: Ask, name: str) -> Page:
    ask.require_team(name)
    if name in SYSTEM_OWNERS or name not in {*known_owners(ask)["team"].to_pylist(), *declared(ask)}:
        raise NotThereError("such team")
    mine = owned(ask, {"team": name})
    blocks: list[Block] = []
    for made in mine.money:
        blocks += of_currency(mine, made, name)
    blocks += [*quantities(mine), onward(ask, name)]
    return Page(
        "team",
        mine.title(f"{name} owes", f"{name} owes nothing"),
        tuple(blocks),
        showback_command(mine, "pool"),
        crumbs=(Link("Teams", ask.link("/teams", where=None)),),
        about=about(mine),
    )


def of_currency(mine: Owned, made: Account, name: str) -> list[Block]:
    ask, said = mine.ask, stated(mine, made.currency, name)
    budget = budget_of(mine, made.currency, {"team": name, "project": ""})
    more = [*budget_figures(ask, budget), *statement_figures(ask, made, said)]
    colour = colours(team_order(ask, {name}))[name]
    return some(
        strip(mine, made, ask.explained(f"team:{name}"), more),
        growth(mine, made, colour, budget.budget.amount if budget else None, to_come(mine, made.currency, name)),
        waterfall_of(ask, said),
        spent_by(mine, made.currency, "pool", "By pool"),
        spent_by(mine, made.currency, "project", "By project"),
        spent_by(mine, made.currency, "user", "By user"),
        spent_by(mine, made.currency, "reason", "By reason"),
        costliest(mine, made.currency),
    )


def to_come(mine: Owned, currency: str, name: str) -> list[Step]:
    """The days of the month that are not known yet, where it is the one that runs and nobody narrowed it down or looks back at it."""
    ask = mine.ask
    if ask.month.last_day < today_of(ask.project) or ask.query.get("where") or ask.one("as_of"):
        return []
    try:
        made = forecast(ask, (name,))
    except ProjectError:  # the extra is not installed, or no day is known: the page says what is posted
        return []
    own = [one for one in made.groups if one.outlook.currency == currency and made.known.month == ask.month]
    days = (step for one in own for step in one.steps)
    return [(day, amount, low, high) for day, amount, low, high in days if low is not None and high is not None]


def budget_of(mine: Owned, currency: str, keys: dict[str, str]) -> Spending | None:
    """The budget that holds in the month, of what nobody narrowed down or looks back at."""
    ask = mine.ask
    if ask.query.get("where") or ask.one("as_of"):
        return None
    found = budgets(ask.project, ask.month, ask.record, foresee=month_ends(ask))
    return next(
        (
            one
            for one in found
            if {"team": one.budget.team, "project": one.budget.project} == keys and one.budget.currency == currency
        ),
        None,
    )


def budget_figures(ask: Ask, found: Spending | None) -> list[Figure]:
    if found is None:
        return []
    unit = found.budget.currency
    note = f"{percent(found.share)} of {shown(found.budget.amount, unit)}"
    note += f"; by its forecast {shown(found.projected, unit)}" if found.projected is not None else ""
    tone: Tone = "bad" if found.is_over else "warn" if found.will_be_over else "good"
    left = "over budget by" if found.is_over else "left of the budget"
    return [Figure(left, shown(abs(found.left), unit), ask.link("/quotas", where=None), note, tone)]


def stated(mine: Owned, currency: str, name: str) -> Moved | None:
    """What the team's statement says of the month and the one before."""
    if mine.ask.query.get("where"):
        return None
    return next((one for one in all_moved(mine.ask) if (one.owner, one.currency) == (name, currency)), None)


def all_moved(ask: Ask) -> list[Moved]:
    """Made for all teams at once, and kept."""
    desk, until = ask.desk, ask.until_s
    return desk.kept(("moved", str(ask.month), until), lambda: teams_moved(ask.project, ask.month, until, desk.held_in))


def statement_figures(ask: Ask, made: Account, said: Moved | None) -> list[Figure]:
    """Where the statement says something else: it also holds what the team carries for others."""
    if said is None or money(said.owed, said.digits) == rounded(made.owed, made.currency):
        return []
    amount = money(said.owed, said.digits)
    note = bridges_of(ask).get((said.owner, said.currency), "as it is billed: rounded together with all statements")
    return [Figure("on its statement", shown(amount, said.currency), statement_link(ask, said.owner), note)]


def statement_link(ask: Ask, owner: str) -> str:
    return ask.link(at("/statements", str(ask.month), owner), period=None, where=None)


def waterfall_of(ask: Ask, said: Moved | None) -> Chart | None:
    """From the month before to this one, driver by driver, as the statement has it; None where there is nothing to compare."""
    if said is None or said.before is None:
        return None
    unit, digits = said.currency, said.digits
    sums = {name: sum(one.amount for one in said.changes if one.driver == name) for name in DRIVERS}
    steps = [
        (str(ask.month.previous), said.before),
        *((MOVED[name], amount) for name, amount in sums.items() if amount),
        (str(ask.month), said.owed),
    ]
    drawn = [
        (name, number(money(amount, digits)), signed(money(amount, digits), unit, place not in (0, len(steps) - 1)))
        for place, (name, amount) in enumerate(steps)
    ]
    columns = (
        Column("driver", "what moved it"),
        Column("pool", "pool", quiet=True),
        Column("amount", "amount", "money"),
    )
    rows = tuple((MOVED[one.driver], one.pool, money(one.amount, digits)) for one in said.changes)
    change = money(said.owed - said.before, digits)
    return Chart(
        "What moved since the month before",
        f"From {shown(money(said.before, digits), unit)} the month before to {shown(money(said.owed, digits), unit)}, as the statement of {ask.month} says.",
        waterfall(drawn, (0, len(drawn) - 1), unit, [MOVED["idle"]]),
        Rows(
            Table(columns, rows, (None, None, change), unit),
            empty="Nothing moved.",
            lead=statement_link(ask, said.owner),
        ),
    )


def signed(amount: Decimal, currency: str, is_step: bool) -> str:
    return f"{'+' if is_step and amount > 0 else ''}{shown(amount, currency)}"


def onward(ask: Ask, name: str) -> Prose:
    links = (
        Link("Why this amount", ask.explained(f"team:{name}")),
        Link("Its statement", statement_link(ask, name)),
        Link("Its postings", ask.link("/ledger", where=[f"team={name}"])),
        Link("The running month", ask.link("/live", period=None, where=[f"team={name}"])),
        Link("Where it ends", ask.link("/forecast", period=None, where=[f"team={name}"])),
        Link("Quotas", ask.link("/quotas", where=None)),
        Link("Disputes", ask.link("/disputes", where=None)),
    )
    return Prose(heading="Go on", links=links)


ROUTES = (
    Route("/teams", teams, entry=Entry("Teams", "/teams", "t")),
    Route("/teams/{team}", team),
)
