"""What a row of a report is: an owner at some level, a pool, a component, a reason. Grouping and filtering go by the same names."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.report import Column, Record

NOBODY = "(none)"
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "team": ("team", "department", "cost_centre"),
    "department": ("team", "department"),
    "cost_centre": ("team", "cost_centre"),
    "project": ("team", "project"),
    "user": ("team", "user"),
    "pool": ("pool",),
    "component": ("component",),
    "reason": ("reason",),
    "cause": ("cause",),
    "bill": ("bill",),
    "day": ("day",),
}
OWNERS = ("team", "department", "cost_centre", "project", "user")
OF_TEAMS = ("department", "cost_centre")  # charges do not say them; the postings of their teams do
Where = Mapping[str, Sequence[str]]  # dimension -> the rows of it that count


def first_column(by: str) -> Column:
    return Column("owner", by.replace("_", " ")) if by in OWNERS else Column(by, by)


def name_of(by: str, labels: Mapping[str, str]) -> str:
    if by not in OWNERS:
        return str(labels[by]) or NOBODY
    team = labels["team"]
    if by == "team" or team in SYSTEM_OWNERS:
        return team
    if by in ("project", "user"):
        return f"{team}/{labels[by] or NOBODY}"
    return labels[by] or NOBODY


def names(table: pa.Table, by: str) -> pa.Array:
    """The name of each row's group."""
    keys = [key for key in DIMENSIONS[by] if by != "team" or key == "team"]
    few = kinds((table[key] for key in keys), len(table))
    said = [name_of(by, row) for row in table.select(keys).take(few.first).to_pylist()]
    return pa.array(said, pa.string()).take(pa.array(few.of))


def chosen(table: pa.Table, where: Where) -> pa.Table:
    """The rows of some groups: those that a report grouped by the dimension calls so, or a project or user by its bare name."""
    for by, wanted in where.items():
        some = pa.array(list(wanted), pa.string())
        mask = pc.is_in(names(table, by), some)
        if by in ("project", "user"):
            mask = pc.or_(mask, pc.is_in(table[by], some))
        table = table.filter(mask)
    return table


def narrowed(record: Record, where: Where) -> Record:
    """A record of some groups only. Charges go along where they can be told apart by the same dimensions; otherwise none do."""
    posted, charges = chosen(record.posted, where), record.charges
    if charges is not None:
        for by, wanted in where.items():
            if by in OF_TEAMS:
                teams = pc.unique(chosen(record.posted, {by: wanted})["team"])
                charges = charges.filter(pc.is_in(charges["team"], teams))
        own = {by: wanted for by, wanted in where.items() if by not in OF_TEAMS}
        known = all(set(DIMENSIONS[by]) - set(OF_TEAMS) <= set(charges.column_names) for by in own)
        charges = chosen(charges, own) if known else None
    return replace(record, posted=posted, charges=charges)


def exactly(record: Record, **wanted: str) -> Record:
    """A record of one owner, by the columns that name it: `team="vision", project="detect"`."""

    def own(rows: pa.Table) -> pa.Table:
        for name, value in wanted.items():
            rows = rows.filter(pc.equal(rows[name], value))
        return rows

    return replace(record, posted=own(record.posted), charges=None if record.charges is None else own(record.charges))


def where_text(where: Where) -> str:
    """`team vision or speech, pool h100`."""
    return ", ".join(f"{by.replace('_', ' ')} {' or '.join(wanted)}" for by, wanted in where.items())


def system_rank(name: str) -> int:
    """The system's own owners come last, in their fixed order."""
    return SYSTEM_OWNERS.index(name) + 1 if name in SYSTEM_OWNERS else 0
