"""A back-test for reading: policies side by side, why each moves what it moves, how fair each is, and what it rewards."""

from collections.abc import Iterable, Mapping, Sequence

from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.backtest import BY, CAUSES, Backtest, Row, Variant
from apportion.reports.report import Cell, Column
from apportion.reports.sums import ZERO, total

Key = tuple[str, ...]
LEADS = (*BY, "cause")
CAUSED = tuple(Column(cause, cause, "money", quiet=True) for cause in CAUSES)
SWING = "A swing is the average change from one month to the next, as a part of the average month."
PEAK = (
    "Moved is what some would pay more and others less if the pools that have a peak were shared by peak Shapley; "
    "without such pools there is nothing to compare."
)

EVEN = (
    "Gini is that of unit prices (what an owner pays in a pool over the hours that it held): 0 where all pay the same. r (Pearson) and rho (Spearman, of "
    "ranks) correlate what n owners pay with what they held and used; it takes three."
)
DEEDS = (
    "Deeds are tried on the last month, each alone: all others do what they did, there is room for the job, and bills stay as they are. "
    "Who bears it is who would owe most of it in turn."
)


@sheet_of.register
def backtest_sheet(made: Backtest, by: str = "owner") -> Sheet:
    """`by` says which table leads, and so is the one of `csv`: figures by owner, month or pool, or the causes."""
    figures, causes = beside(made, "owner" if by == "cause" else by), caused(made, by)
    leading = (*causes, *figures) if by == "cause" else (*figures, *causes)
    told = [note for variant in made.variants for note in notes_of(variant, named=len(made.variants) > 1)]
    explained = [SWING] if len(made.months) > 1 else []
    explained += [PEAK] if made.fairness else []
    explained += [EVEN] if made.evenness else []
    explained += [DEEDS] if made.incentives else []
    measures = (*fair(made), *even(made), *rewarded(made))
    return Sheet(made.title, (*leading, *measures), made, (*told, *explained, *made.notes))


def notes_of(variant: Variant, *, named: bool) -> list[str]:
    name = f"{variant.name} ({variant.policy}): " if named else f"{variant.policy} against what is posted. "
    title = variant.title if named else ""
    bills = [f"{said[0].upper()}{said[1:]}." for said in variant.bills]
    return [f"{name}{title}".strip(), *bills, *variant.clauses]


def beside(made: Backtest, by: str) -> list[Table]:
    """One table for each currency: what is posted, and what each policy would make of it."""
    keys = BY[by][1:]
    found = [{key_of(row, keys): row for row in rows_of(variant, by)} for variant in made.variants]
    swung = by == "owner" and len(made.months) > 1
    columns = (
        *(Column(name, name) for name in (("department",) if by == "department" else keys)),
        *columns_of(made.variants, swung=swung, by=by),
    )
    tables = []
    for currency in currencies(made):
        own = [{key: row for key, row in rows.items() if row.currency == currency} for rows in found]
        every = dict.fromkeys(key for rows in own for key in rows)
        lines = [(*key[1:], *line(key, own, made if swung else None)) for key in every]
        tables.append(Table(columns, tuple(lines), footed(columns, lines), currency))
    return tables


def rows_of(variant: Variant, by: str) -> tuple[Row, ...]:
    found = {"owner": variant.owners, "month": variant.months, "pool": variant.pools, "department": variant.departments}
    return found[by]


def key_of(row: Row, keys: Sequence[str]) -> Key:
    return row.currency, *(getattr(row, name) for name in keys)


def columns_of(variants: Sequence[Variant], *, swung: bool, by: str) -> list[Column]:
    """Of one policy by plain names; of several by theirs."""
    one = len(variants) == 1
    found = [Column("posted", "posted", "money"), *([Column("swing", "swing", "share")] if swung else [])]
    for variant in variants:
        name = "" if one else f"{variant.name}_"
        found += [
            Column(f"{name}instead", "instead" if one else variant.name, "money"),
            Column(f"{name}change", "difference", "money"),
        ]
        found += [Column(f"{name}swing_instead", "swing", "share")] if swung else []
    return [*found, *([Column("why", "mostly", quiet=True)] if one and by == "owner" else [])]


def line(key: Key, found: Sequence[Mapping[Key, Row]], swung: Backtest | None) -> list[Cell]:
    """An owner that a policy has no row for would owe nothing by it."""
    first = next(rows[key] for rows in found if key in rows)
    swings = [
        {(one.currency, one.owner): one for one in variant.swings} for variant in (swung.variants if swung else ())
    ]
    own = (first.currency, first.owner)
    past = next((some[own] for some in swings if own in some), None)
    cells: list[Cell] = [first.posted, *([past.posted if past else None] if swung else [])]
    for n, rows in enumerate(found):
        row = rows.get(key)
        cells += [row.instead, row.change] if row else [ZERO, ZERO]
        cells += [swings[n][own].instead if own in swings[n] else None] if swung else []
    return [*cells, *([first.why] if len(found) == 1 and not (first.month or first.pool) else [])]


def caused(made: Backtest, by: str) -> list[Table]:
    """Why each owner's or department's amount would be another: the causes add up to the difference. Who nothing moves for is left out."""
    named = (Column("policy", "policy"),) if len(made.variants) > 1 else ()
    who = "department" if by == "department" else "owner"
    columns = (*named, Column(who, who), Column("change", "difference", "money"), *CAUSED)
    tables: list[Table] = []
    for currency in currencies(made):
        rows: list[tuple[Cell, ...]] = [
            (*((variant.name,) if named else ()), row.owner, row.change, *(row.causes.get(one, ZERO) for one in CAUSES))
            for variant in made.variants
            for row in rows_of(variant, who)
            if row.currency == currency and row.causes
        ]
        heading = "" if tables else "Why, in causes that add up to the difference"
        sums = () if named else footed(columns, rows)
        tables.append(Table(columns, tuple(rows), sums, currency, heading if rows else ""))
    return tables


def fair(made: Backtest) -> list[Table]:
    """A policy by which nothing can be compared has a row without figures."""
    columns = (
        Column("policy", "policy"), Column("moved", "moved", "money"), Column("compared", "of", "money"), Column("share", "share", "share"),
    )  # fmt: skip
    sides = [("posted", made.fairness), *((variant.name, variant.fairness) for variant in made.variants)]
    tables: list[Table] = []
    for currency in sorted({one.currency for _, some in sides for one in some}):
        found = [(name, next((one for one in some if one.currency == currency), None)) for name, some in sides]
        rows = tuple((name, *((one.moved, one.compared, one.share) if one else (None,) * 3)) for name, one in found)
        heading = "" if tables else "How far from peak Shapley"
        tables.append(Table(columns, rows, (), currency, heading))
    return tables


def even(made: Backtest) -> list[Table]:
    """A row for each pool by each policy."""
    columns = (
        Column("policy", "policy"), Column("pool", "pool"), Column("unit", "of"), Column("owners", "n", "count"), Column("gini", "gini", "quantity"),
        Column("held_pearson", "held r", "quantity"), Column("held_spearman", "rho", "quantity"),
        Column("measured", "n", "count", quiet=True),
        Column("used_pearson", "used r", "quantity", quiet=True), Column("used_spearman", "rho", "quantity", quiet=True),
    )  # fmt: skip
    sides = [("posted", made.evenness), *((variant.name, variant.evenness) for variant in made.variants)]
    tables: list[Table] = []
    for currency in sorted({one.currency for _, some in sides for one in some}):
        rows: list[tuple[Cell, ...]] = [
            (name, *(getattr(one, column.name) for column in columns[1:]))
            for name, some in sides
            for one in some
            if one.currency == currency
        ]
        rows.sort(key=lambda row: str(row[1]))
        heading = "" if tables else "How evenly units are priced"
        tables.append(Table(columns, tuple(rows), (), currency, heading))
    return tables


def rewarded(made: Backtest) -> list[Table]:
    """What teams could have done; a row over all pools, then those in which it changes something."""
    columns = (
        Column("policy", "policy"), Column("team", "team"), Column("deed", "if it"), Column("pool", "pool"), Column("job", "job", quiet=True),
        Column("change", "it owes", "money"), Column("verdict", "which"), Column("bearer", "and"), Column("borne", "owes", "money"),
    )  # fmt: skip
    tables: list[Table] = []
    for currency in sorted({one.currency for one in made.incentives}):
        own = [one for one in made.incentives if one.currency == currency]
        rows = tuple(tuple(getattr(one, column.name) for column in columns) for one in own)
        tables.append(Table(columns, rows, (), currency, "" if tables else f"What would have paid in {own[0].month}"))
    return tables


def currencies(made: Backtest) -> list[str]:
    return sorted({row.currency for variant in made.variants for row in variant.owners})


def footed(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> tuple[Cell, ...]:
    lines = list(rows)
    if not lines:
        return ()
    sums = [
        total(cell for row in lines if isinstance(cell := row[n], type(ZERO))) if column.kind == "money" else None
        for n, column in enumerate(columns)
    ]
    return ("", *sums[1:])
