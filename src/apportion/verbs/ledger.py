"""The postings behind a figure: filtered as reports are, a page at a time, with what they add up to and what there is to narrow down to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.browse import ROWS, Sought
from apportion.books.shapes import KINDS
from apportion.errors import ProjectError
from apportion.model.currencies import grains_per_minor
from apportion.model.money import plain, to_decimal
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.render.csv import written
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.groups import chosen
from apportion.reports.report import Cell, Column
from apportion.reports.sums import ZERO, total
from apportion.reports.words import counted, shown
from apportion.verbs.asked import Months, posted_months
from apportion.verbs.minor_units import unless_too_large
from apportion.verbs.periods import label
from apportion.verbs.project import Project
from apportion.verbs.report import end_of, read_filters
from apportion.verbs.settings import nearest
from apportion.verbs.transfers import path_of

FACETS = ("team", "pool", "component", "reason", "bill", "day", "kind")
PAGE = 50
COLUMNS = (
    Column("posting", "posting"),
    Column("amount", "amount", "count"),  # every digit: a posting is not rounded
    Column("currency", "currency"),
    Column("owner", "owner"),
    Column("what", "what"),
    Column("day", "day", quiet=True),
    Column("bill", "bill", quiet=True),
    Column("run", "run", quiet=True),
)
FIELDS = (
    "seq", "period", "day", "team", "project", "user", "department", "cost_centre", "pool", "component", "reason", "cause", "bill",
    "amount", "currency", "kind", "run_id", "about", "hash",
)  # fmt: skip
SIDE = "The bill's own side of each entry, which balances it, is left out."


@dataclass(frozen=True, slots=True)
class Only:
    """Which postings: `where` as everywhere (of one dimension any, of several all must hold), kinds of runs, runs by name; `as_of` a day."""

    where: Sequence[str] = ()
    kinds: Sequence[str] = ()
    runs: Sequence[str] = ()
    as_of: str = ""

    def __str__(self) -> str:
        said = [one.replace("=", " ", 1) for one in self.where]
        return ", ".join([*said, *(f"kind {one}" for one in self.kinds), *(f"run {one}" for one in self.runs)])


EVERY = Only()


@dataclass(frozen=True, slots=True)
class Sum:
    """Of all that was sought, not of a page alone."""

    count: int
    amounts: Mapping[str, Decimal]
    facets: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page, newest first. `next` is where the one after it begins, None on the last; `broken` are links that do not hold."""

    rows: pa.Table
    next: int | None
    broken: tuple[int, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Ledger(Result):
    """A leaf of the postings that were asked for, and what all of them come to."""

    title: str
    sum: Sum
    leaf: Leaf
    head: str

    def to_arrow(self) -> pa.Table:
        """The postings of this leaf with every field."""
        return self.leaf.rows.select(FIELDS)


def ledger(
    project: Project, periods: Months = None, only: Only = EVERY, before: str = "", most: int | None = PAGE
) -> Ledger:
    """The postings behind a figure: the owners' side of the ledger, newest first. `before`: older than that posting. `most` None is all of them."""
    months = posted_months(project, periods)
    wanted = sought(project, months, only)
    leaf, summed = ledger_leaf(project, wanted, before, most), ledger_sum(project, wanted)
    return Ledger(ledger_title(months, only, summed), summed, leaf, project.books.head())


def sought(project: Project, months: Sequence[Period], only: Only) -> Sought:
    for kind in only.kinds:
        if kind not in KINDS:
            raise ProjectError("unknown-kind", f"no run is of kind {kind!r}", hint=nearest(kind, KINDS, "kinds"))
    until_s = end_of(project, only.as_of) if only.as_of else None
    where = read_filters(only.where)
    return Sought(tuple(map(str, months)), where=where, kinds=tuple(only.kinds), runs=tuple(only.runs), until_s=until_s)


def ledger_title(months: list[Period], only: Only, summed: Sum) -> str:
    where = f" where {only}" if str(only) else ""
    money = "; ".join(shown(amount, currency) for currency, amount in summed.amounts.items())
    return f"{counted(summed.count, 'posting')} of {label(months)}{where}" + (f": {money}." if money else ".")


def ledger_sum(project: Project, wanted: Sought) -> Sum:
    browse = project.books.browse
    count, amounts = browse.sums(wanted)
    if not (wanted.kinds or wanted.runs or "day" in wanted.where):
        whole = unless_too_large(lambda: whole_sums(project, wanted))
        amounts = amounts if whole is None else {**dict.fromkeys(amounts, ZERO), **whole}
    return Sum(count, amounts, browse.counts(wanted, FACETS))


def whole_sums(project: Project, wanted: Sought) -> dict[str, Decimal]:
    """What owners, pools, components, reasons or causes come to: in the months' whole minor units, as everywhere."""
    found: dict[str, list[Decimal]] = {}
    for period in wanted.periods:
        rows = chosen(project.books.minor(period, wanted.until_s), wanted.where)
        if wanted.teams is not None:
            rows = rows.filter(pc.is_in(rows["team"], pa.array(wanted.teams, pa.string())))
        sums = rows.group_by("currency").aggregate([("amount", "sum")])
        for currency, amount in zip(sums["currency"].to_pylist(), sums["amount_sum"].to_pylist(), strict=True):
            found.setdefault(currency, []).append(to_decimal(amount * grains_per_minor(currency)))
    return {currency: total(amounts) for currency, amounts in sorted(found.items())}


def ledger_leaf(project: Project, wanted: Sought, before: str = "", most: int | None = PAGE) -> Leaf:
    browse = project.books.browse
    if before and not (before.isascii() and before.isdecimal() and len(before) < len(str(2**63))):
        raise ProjectError("invalid-cursor", f"{before!r} is no posting's number", hint="begin without `before`")
    first = int(before) if before else None
    if most is None:
        rows, more = pa.concat_tables([ROWS.empty_table(), *browse.every(wanted, first)]), False
    else:
        rows = browse.page(wanted, first, most + 1)
        more, rows = len(rows) > most, rows.slice(0, most)
    numbers = rows["seq"].to_pylist()
    return Leaf(rows, numbers[-1] if more else None, tuple(browse.broken(numbers)))


def ledger_rows(project: Project, wanted: Sought) -> Iterator[pa.Table]:
    """All of them, some at a time."""
    return project.books.browse.every(wanted)


def posting_table(rows: pa.Table, longest: int | None = None) -> Table:
    """As people read them; `longest` cuts the names of runs."""
    return Table(COLUMNS, tuple(cells_of(row, longest) for row in rows.to_pylist()))


def cells_of(row: Mapping[str, Any], longest: int | None) -> tuple[Cell, ...]:
    said = [row["pool"], row["component"], row["reason"], row["cause"]]
    run = f"{row['kind']} {row['run_id'][:longest]}" + (f" of {row['about']}" if row["about"] else "")
    made = {"posting": str(row["seq"]), "amount": plain(row["amount"]), "owner": path_of({**row}), "run": run}
    made["what"] = " · ".join(text for text in said if text)
    return tuple(made.get(column.name, row.get(column.name)) for column in COLUMNS)


def ledger_csv(parts: Iterable[pa.Table]) -> Iterator[str]:
    """As programs read them, with every field, some at a time."""
    yield written([FIELDS])
    for rows in parts:
        yield written(zip(*(rows[name].to_pylist() for name in FIELDS), strict=True))


@sheet_of.register
def ledger_sheet(made: Ledger) -> Sheet:
    leaf, broken = made.leaf, made.leaf.broken
    links = "Every link of these holds."
    if broken:
        links = f"{counted(len(broken), 'link')} of these broken, the first at {broken[0]}: run `apportion verify`."
    value = {
        "title": made.title,
        "count": made.sum.count,
        "amounts": made.sum.amounts,
        "facets": made.sum.facets,
        "rows": leaf.rows.select(FIELDS).to_pylist(),
        "next": leaf.next,
        "broken": broken,
        "head": made.head,
    }
    return Sheet(made.title, (posting_table(leaf.rows),), value, (SIDE, links, f"ledger head {made.head}"))
