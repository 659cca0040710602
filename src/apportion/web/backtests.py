"""A what-if over several months, or one that was saved, as blocks: who gains and who loses by each policy, drawn and in tables, and why."""

from collections.abc import Sequence
from decimal import Decimal
from hashlib import sha256

from apportion.errors import ProjectError
from apportion.model.times import Period, months_between
from apportion.render.backtest import backtest_sheet
from apportion.render.chart import colours, dumbbell, number
from apportion.render.sheet import Sheet, Table
from apportion.reports.backtest import Backtest
from apportion.reports.report import Cell, Column
from apportion.reports.sums import ZERO, less
from apportion.reports.words import shown
from apportion.verbs.backtest import Wanted, backtest
from apportion.verbs.saved import Wish
from apportion.web.ask import Ask
from apportion.web.kept import OWNER
from apportion.web.page import Block, Chart, Prose, Rows
from apportion.web.pages.overview import team_order

GAINS = "Who gains and who loses"
NOW, INSTEAD = ("posted", "before"), ("instead", "after")  # columns of a back-test and of one month


def months_of(ask: Ask) -> list[Period]:
    """Those from `first` to `last`; those of `period` unless they are given."""
    first, last = ask.one("first"), ask.one("last")
    if not first and not last:
        return ask.months
    months = months_between(f"{first or last}..{last or first}")
    absent = [str(month) for month in months if str(month) not in ask.known_months]
    if absent:
        raise ProjectError("nothing-posted", f"nothing is posted for {', '.join(absent)}", hint="choose posted months")
    return months


def tested(ask: Ask, wish: Wish) -> Backtest:
    """Takes seconds for each month and policy, once."""
    texts = tuple(sorted((name, sha256(text.encode()).hexdigest()) for name, text in wish.policies.items()))
    months, wanted = [*map(period_of, wish.months)], Wanted(wish.policies, wish.prices)
    return ask.desk.kept(("back-test", wish.months, texts, wish.prices), lambda: backtest(ask.project, months, wanted))


def period_of(text: str) -> Period:
    return months_between(f"{text}..{text}")[0]


def backtest_blocks(ask: Ask, made: Backtest) -> list[Block]:
    sheet = backtest_sheet(made)
    return [Prose(sheet.notes, "What changes in the rules"), *sheet_blocks(ask, sheet, made.period)]


def sheet_blocks(ask: Ask, sheet: Sheet, period: str = "") -> list[Block]:
    """Its tables, the first of each currency drawn. With a `period`, what is posted leads to its postings."""
    blocks: list[Block] = []
    drawn: set[str] = set()
    for table in sheet.tables:
        is_first = table.currency not in drawn and table.columns[0].name == OWNER and sides_of(table)
        blocks += charts(ask, table, period) if is_first and table.rows else [rows_of(ask, table, period)]
        drawn |= {table.currency}
    return blocks


def rows_of(ask: Ask, table: Table, period: str) -> Rows:
    """What is posted leads to the postings of the owner, month and pool that a row is about."""
    names = [column.name for column in table.columns]
    if not period or OWNER not in names:
        return Rows(table, table.heading)
    links = []
    for row in table.rows:
        said = dict(zip(names, row, strict=True))
        where = [f"team={said[OWNER]}", *([f"pool={said['pool']}"] if said.get("pool") else [])]
        links.append(ask.link("/ledger", period=str(said.get("month") or period), where=where))
    whole = dict.fromkeys(NOW, ask.link("/ledger", period=period, where=None))
    return Rows(table, table.heading, links=dict.fromkeys(NOW, links), sums=whole)


def sides_of(table: Table) -> list[tuple[int, Column]]:
    """What would be owed instead: of one policy by a plain name, of several by theirs."""
    return [
        (place, column)
        for place, column in enumerate(table.columns)
        if column.kind == "money" and (column.name in INSTEAD or column.name.endswith("_instead"))
    ]


def charts(ask: Ask, table: Table, period: str) -> list[Block]:
    """One for each policy: with the table where it is the only one, else below it."""
    base = next(place for place, column in enumerate(table.columns) if column.name in NOW)
    sides, whole = sides_of(table), rows_of(ask, table, period)
    order = team_order(ask, {str(row[0]) for row in table.rows})
    says = f"From what each owes (ring) to what it would owe (dot), in {table.currency}."
    made: list[Block] = [whole] if len(sides) > 1 else []
    for place, column in sides:
        mine = [row for row in table.rows if row[place] != row[base]]
        values = [value_of(row, base, place, table.currency) for row in mine]
        spec = dumbbell(values, colours(order), [str(row[0]) for row in mine], table.currency)
        heading = f"{GAINS} by {column.title}" if len(sides) > 1 else GAINS
        own = rows_of(ask, only(table, mine, (0, base, place)), period) if len(sides) > 1 else whole
        made.append(Chart(heading, says, spec, own, folded=len(sides) > 1))
    return made


def only(table: Table, rows: Sequence[tuple[Cell, ...]], places: Sequence[int]) -> Table:
    cells = tuple(tuple(row[place] for place in places) for row in rows)
    return Table(tuple(table.columns[place] for place in places), cells, (), table.currency)


def value_of(row: tuple[Cell, ...], base: int, place: int, currency: str) -> dict[str, object]:
    before, after = amount(row[base]), amount(row[place])
    return {
        "owner": str(row[0]), "before": number(before), "after": number(after), "was": shown(before, currency),
        "then": shown(after, currency), "change": shown(less(after, before), currency),
    }  # fmt: skip


def amount(cell: Cell) -> Decimal:
    return cell if isinstance(cell, Decimal) else ZERO
