"""`/runs/{run}`: what did my run cost, and why?"""

from contextlib import suppress
from decimal import Decimal

from apportion.errors import ProjectError
from apportion.model.times import parse_period
from apportion.render.chart import number, waterfall
from apportion.render.cost import attempt_tables, cost_sheet, cost_value
from apportion.render.sheet import Table
from apportion.reports.cost import Cost
from apportion.reports.held import COLUMNS
from apportion.reports.job import JobLine
from apportion.reports.report import Cell, Column
from apportion.reports.sums import less, total
from apportion.reports.words import counted, shown
from apportion.verbs.owning import Owning, owning
from apportion.web.ask import Ask, at
from apportion.web.costs import seen_cost
from apportion.web.page import Block, Chart, Figure, Figures, Link, Page, Prose, Rows, Tone
from apportion.web.routes import Route
from apportion.web.viewer import Deed

STEPS = {
    "used": "use",
    "unused": "held, not used",
    "idle": "share of idle cost",
    "overhead": "overhead",
    "credits": "credits",
    "adjustments": "adjustments",
}


def run(ask: Ask, name: str) -> Page:
    """Where one of its owners is not theirs to see, it is not there."""
    found = seen_cost(ask, name)
    blocks: list[Block] = []
    for line in found.totals:
        blocks += [strip(ask, found, line), parts(line, explained(ask, found))]
    blocks += [*attempts(ask, found), *held(ask, found), whose(ask, found)]
    sheet = cost_sheet(found)
    return Page(
        "run",
        sheet.title,
        tuple(blocks),
        f"apportion cost {found.run}",
        notes=tuple("\n".join(sheet.notes).split("\n")),
        about=cost_value(found),
    )


def explained(ask: Ask, found: Cost) -> str:
    """In the last month that has figures of it."""
    months = [share.period for share in found.shares if share.basis] or [share.period for share in found.shares]
    return ask.link("/explain", what=f"job:{found.run}", period=months[-1] if months else None, where=None)


def strip(ask: Ask, found: Cost, line: JobLine) -> Figures:
    unit, why = line.currency, explained(ask, found)
    others = total([line.credits, line.adjustments]).copy_negate()
    tone: Tone = "good" if found.status == "final" else "warn"
    items = [
        Figure("cost", shown(line.owed, unit), why, found.status, tone),
        Figure("its own use", shown(line.direct, unit), why, "charged for what it held or used"),
    ]
    if line.waste is not None:
        items.append(Figure("waste", shown(line.waste, unit), why, "paid for holding without use"))
    if others:
        items.append(Figure("others paid", shown(others, unit), why, "credits and adjustments"))
    if line.unshared_idle:
        note = "more, if idle that nobody is charged for were shared by use"
        items.append(Figure("not charged", shown(line.unshared_idle, unit), ask.link("/idle", where=None), note))
    return Figures(tuple(items))


def parts(line: JobLine, why: str) -> Chart:
    """From its own use to what it cost. Of the use, what was held without use stands apart, as far as it lies inside the charge."""
    unused = (
        min(line.waste, line.direct) if line.waste is not None and line.waste > 0 and line.direct > 0 else Decimal(0)
    )
    amounts = {
        "used": less(line.direct, unused),
        "unused": unused,
        **{name: getattr(line, name) for name in ("idle", "overhead", "credits", "adjustments")},
    }
    steps = [(STEPS[name], amount) for name, amount in amounts.items() if amount or name == "used"]
    drawn = [(name, number(amount), shown(amount, line.currency)) for name, amount in (*steps, ("cost", line.owed))]
    columns = (Column("part", "part"), Column("amount", "amount", "money"))
    table = Table(columns, tuple(steps), (None, line.owed), line.currency)
    says = f"How {shown(line.owed, line.currency)} comes about: its own use, its share of idle cost and overhead, less what others paid."
    spec = waterfall(drawn, (0, len(drawn) - 1), line.currency, [STEPS["idle"]])
    return Chart("Why this much", says, spec, Rows(table, lead=why))


def attempts(ask: Ask, found: Cost) -> list[Block]:
    why = explained(ask, found)
    return [Rows(table, "Attempts and tasks", bars="owed", lead=why) for table in attempt_tables(found)]


def held(ask: Ask, found: Cost) -> list[Block]:
    """What it held, and what it used of that."""
    by_currency: dict[str, list[tuple[Cell, ...]]] = {}
    for currency, views in found.views:
        cells = views.cells()
        by_currency.setdefault(currency, []).append(tuple(cells[column.name] for column in COLUMNS))
    why = explained(ask, found)
    return [
        Rows(Table(COLUMNS, tuple(rows), (), currency), "Held and used", links={"held": [why] * len(rows)}, lead=why)
        for currency, rows in by_currency.items()
    ]


def whose(ask: Ask, found: Cost) -> Prose:
    """Its owners, and by which rule it is theirs."""
    links = [Link("Every step of the calculation", explained(ask, found))]
    links += [Link(team, ask.link(at("/teams", team), where=None)) for team in found.teams if ask.viewer.sees(team)]
    return Prose(tuple(rule_sentences(ask, found)), "Whose it is", links=tuple(links))


def rule_sentences(ask: Ask, found: Cost) -> list[str]:
    owners = ", ".join(found.owners) or "nobody yet: nothing is charged for it"
    said = [f"Owner: {owners}."]
    said += [rule_sentence(ask, one, count) for one, count in rules_of(ask, found) if ask.viewer.sees(one.owner.team)]
    return said


def rules_of(ask: Ask, found: Cost) -> list[tuple[Owning, int]]:
    """In the last month that it ran in; none where no policy was in force."""
    period = parse_period(found.shares[-1].period)
    ids = {one.workload for one in found.attempts} or {found.run}
    with suppress(ProjectError):
        return ask.desk.kept(("owning", found.run), lambda: owning(ask.project, period, ids))
    return []


def rule_sentence(ask: Ask, one: Owning, count: int) -> str:
    many = counted(count, "attempt or task", "attempts and tasks")
    if not one.line:
        return f"No owner rule matches {many}."
    read = ", ".join(f"{key} = {value}" for key, value in one.labels)
    where = f" ({one.file}:{one.line})" if ask.viewer.may(Deed.whole) else ""
    return f"{many} by the owner rule{where} that reads {read or 'nothing'}."


ROUTES = (Route("/runs/{run}", run),)
