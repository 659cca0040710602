"""`/pools`: what each pool cost and what stood idle of it. `/pools/{pool}`: what a unit cost over time, and what became of the capacity."""

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import groupby

from apportion.policy.document import Policy
from apportion.render.chart import SPENT, heat, number, price_steps, spent_days
from apportion.render.sheet import Table, report_sheet
from apportion.reports.capacity import PARTS
from apportion.reports.capacity import WEEK as DAYS
from apportion.reports.completeness import INCOMPLETE, STATE, days_text
from apportion.reports.groups import NOBODY
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import share_of
from apportion.reports.words import hours, percent, price_digits, shown
from apportion.verbs.explaining.clauses import block
from apportion.verbs.explaining.pools import how_shared
from apportion.verbs.pools import lines_behind
from apportion.web.ask import Ask, NotThereError, at
from apportion.web.completeness import States, states_of, told
from apportion.web.computing import all_pools, at_bench, one_pool, require_pool
from apportion.web.frame import Entry
from apportion.web.page import Block, Chart, Figure, Figures, Link, Page, Prose, Rows
from apportion.web.pages.overview import owners
from apportion.web.routes import Route
from apportion.web.tables import records
from apportion.web.viewer import Deed

PRICES, CAPACITY, TIMES = "What a unit cost", "What became of the capacity", "When it stands idle"
SAID = {part: title.removesuffix(" h") for part, title in PARTS.items()}


def pools(ask: Ask) -> Page:
    made = all_pools(ask)
    sheet = report_sheet(made)
    return Page(
        "pools",
        made.title,
        tuple(index(ask, table) for table in sheet.tables),
        command=f"apportion report pools --period {ask.month}",
        notes=sheet.notes,
    )


def index(ask: Ask, table: Table) -> Rows:
    names = ["" if row[0] == NOBODY else str(row[0]) for row in table.rows]
    idle = [ask.link("/idle", where=f"pool={name}") if name else "" for name in names]
    return Rows(
        table,
        f"Pools in {table.currency}",
        links={
            "pool": [ask.link(at("/pools", name), where=None) if name else "" for name in names],
            "amount": [ask.explained(f"pool:{name}") if name else "" for name in names],
            "price": [ask.link(at("/pools", name), where=None) if name else "" for name in names],
            "idle": idle,
        },
        bars="amount",
        sums={"idle": ask.link("/idle")},
        lead=ask.ledger() if ask.viewer.teams is None else ask.link("/pools"),
    )


def pool(ask: Ask, name: str) -> Page:
    require_pool(ask, name)
    policy = ask.desk.means.ground(ask.project, ask.month).policy
    if name not in policy.pools:
        raise NotThereError("such pool")
    made = one_pool(ask, name, "day")
    blocks: list[Block] = [figures(ask, made, name), *prices(ask, name), *capacity(ask, made), *week(ask, name)]
    blocks += [charged(ask, name), rule(ask, policy, name)]
    sheet = report_sheet(made)
    return Page(
        "pool",
        made.title,
        tuple(blocks),
        command=f"apportion report pool {name} --period {ask.month}",
        notes=sheet.notes,
        crumbs=(Link("Pools", ask.link("/pools")),),
    )


def figures(ask: Ask, made: Report, name: str) -> Figures:
    """What it shares, and of each unit how much was used and how much stood idle."""
    items = [
        Figure("shares", shown(section.bill, section.currency), ask.explained(f"pool:{name}"))
        for section in made.sections
    ]
    rows = records(made)
    for unit in dict.fromkeys(str(row["unit"]) for row in rows if row["unit"]):
        sums = {part: total(rows, unit, part) for part in ("capacity", *PARTS)}
        for part, said in SAID.items():
            if sums[part] and sums["capacity"]:
                share = percent(share_of(sums[part], sums["capacity"]))
                items.append(Figure(said, share, "", f"{hours_of(sums[part])} {unit}-hours"))
    return Figures(tuple(items))


def total(rows: list[dict[str, Cell]], unit: str, part: str) -> Decimal:
    return decimals(row[part] for row in rows if row["unit"] == unit)


def decimals(cells: Iterable[Cell]) -> Decimal:
    return sum((cell for cell in cells if isinstance(cell, Decimal)), Decimal(0))


def hours_of(amount: Decimal) -> str:
    return hours(Fraction(amount))


def prices(ask: Ask, name: str) -> list[Block]:
    """Hour by hour, in each currency; its table tells where the price changes."""
    made = one_pool(ask, name, "hour")
    per = next(column.title for column in made.columns if column.name == "price")
    blocks: list[Block] = []
    for place, section in enumerate(made.sections):
        priced = [(str(row["hour"]), row["price"]) for row in records(made, place) if isinstance(row["price"], Decimal)]
        if priced:
            blocks.append(price_chart(ask, name, dict(priced), (section.currency, per)))
    return blocks


def price_chart(ask: Ask, name: str, priced: dict[str, Cell], unit: tuple[str, str]) -> Chart:
    (currency, per), states = unit, states_of(ask)
    values = [
        {"at": at_, "price": number(price), "shown": f"{price_digits(price, currency)} {currency} {per}"}
        for at_, price in priced.items()
        if isinstance(price, Decimal)
    ]
    steps = tuple(step(dict(found), states) for _, found in groupby(priced.items(), key=lambda item: item[1]))
    columns = (Column("from", "from"), Column("price", f"{currency} {per}", "price"), STATE)
    table = Table(columns, steps, (), currency, PRICES)
    often = "It stayed the same throughout." if len(steps) == 1 else f"It changed {len(steps) - 1:,} times."
    spec = price_steps(values, f"{currency} {per}")
    unfinished = [day for at_ in priced if (day := at_[:10]) in states]
    if unfinished:
        often += f" It is not settled: {days_text(unfinished)} incomplete."
    return Chart(
        PRICES, f"The price {per} over the month. {often}", spec, Rows(table, lead=ask.explained(f"pool:{name}"))
    )


def step(priced: dict[str, Cell], states: States) -> tuple[Cell, ...]:
    """From when, the price, and whether a day of it is not complete."""
    first = next(iter(priced.items()))
    return (*first, INCOMPLETE if any(at_[:10] in states for at_ in priced) else "")


def capacity(ask: Ask, made: Report) -> list[Block]:
    """Day by day, a chart for each unit: hours of different units are never added."""
    rows = [row for row in records(made) if row["capacity"] is not None]
    order = list(SPENT)
    blocks: list[Block] = []
    for unit in dict.fromkeys(str(row["unit"]) for row in rows):
        own = [row for row in rows if row["unit"] == unit]
        values = [
            {
                "day": str(row["day"]),
                "owner": said,
                "amount": number(amount),
                "shown": f"{hours_of(amount)} {unit}-hours",
                "rank": order.index(said),
                "complete": not row["state"],
            }
            for row in own
            for part, said in SAID.items()
            if isinstance(amount := row[part], Decimal) and amount
        ]
        used = [said for said in order if any(value["owner"] == said for value in values)]
        spec = spent_days(values, used, f"{unit}-hours")
        says = f"Each day's {unit}-hours: {', '.join(used)}. Together they are all that there was."
        says += told(states_of(ask), [str(row["day"]) for row in own])
        blocks.append(Chart(CAPACITY, says, spec, Rows(days_table(made, own))))
    return blocks


def days_table(made: Report, rows: list[dict[str, Cell]]) -> Table:
    columns = tuple(column for column in made.columns if column.name not in ("unit", "price", "amount"))
    sums = [None if c == STATE else decimals(row[c.name] for row in rows) for c in columns[1:]]
    cells = tuple(tuple(row[column.name] for column in columns) for row in rows)
    return Table(columns, cells, (None, *sums), heading=CAPACITY)


def week(ask: Ask, name: str) -> list[Block]:
    """When it stands idle, if anything does."""
    rows = [row for row in records(one_pool(ask, name, "week")) if isinstance(row["unsold"], Decimal)]
    if len({row["unit"] for row in rows}) != 1 or not any(row["unsold"] for row in rows):
        return []
    unit = rows[0]["unit"]
    values = [
        {"day": day, "hour": hour, "amount": number(amount), "shown": f"{hours_of(amount)} {unit}-hours"}
        for row in rows
        for day, hour in [str(row["hour"]).split(" ")]
        if isinstance(amount := row["unsold"], Decimal)
    ]
    table = Table(
        (Column("hour", "hour of the week"), Column("unsold", f"unsold {unit}-hours", "quantity")),
        tuple((row["hour"], row["unsold"]) for row in rows),
        heading=TIMES,
    )
    says = f"Idle {unit}-hours of the month by hour and day of the week, the more the stronger."
    return [Chart(TIMES, says, heat(values, DAYS, f"{unit}-hours"), Rows(table))]


def charged(ask: Ask, name: str) -> Rows:
    """Of those whom the viewer may see."""
    own = replace(ask, query={**ask.query, "where": [f"pool={name}"]})
    sheet = report_sheet(own.report("showback", by="team"))
    made = owners(own, sheet.tables[0])
    return replace(
        made, heading="Who was charged from it" if ask.viewer.teams is None else "What your teams were charged"
    )


def rule(ask: Ask, policy: Policy, name: str) -> Prose:
    """As the policy says it, for those who may read that; to others how it is shared, which names nobody."""
    one, line = policy.pools[name], policy.line("pools", name)
    lines = at_bench(ask, ("lines", name), lambda means: lines_behind(means, ask.project, name, ask.month))
    links = [
        Link(f"The method {one.method.replace('_', ' ')}", ask.link(at("/methods", one.method), where=None)),
        Link("How its figure comes about", ask.explained(f"pool:{name}")),
    ]
    said = f"{how_shared(one).capitalize()}. Behind it: {lines}."
    if not ask.viewer.may(Deed.whole):
        causes = ", ".join(f"{cause}: {rule}" for cause, rule in one.idle.items())
        return Prose((said, f"Who carries what stands idle, by its cause: {causes}."), "Its rule", links=tuple(links))
    links.append(Link(f"Line {line} of the policy", f"{ask.link(at('/policy', policy.version), where=None)}#L{line}"))
    return Prose((said,), f"Its rule, {policy.file} line {line}", block(policy, "pools", name), tuple(links))


ROUTES = (
    Route("/pools", pools, entry=Entry("Pools", "/pools", "p")),
    Route("/pools/{pool}", pool),
)
