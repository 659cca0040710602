"""Reading the ledger: entries, runs, what is posted, and its head."""

import datetime as dt
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import ColumnElement, Connection, Text, cast, false, func, or_, select, union_all

from apportion.books import record
from apportion.books.chain import GENESIS
from apportion.books.names import shown, tokens_of
from apportion.books.shapes import COMPUTED, PLAN, StoredRun
from apportion.errors import BooksError
from apportion.model.rows import MONEY, POSTING_KEY, POSTINGS, TEXT

CONTRA = "bill:"
ENTRIES = pa.schema([
    pa.field("seq", pa.int64(), nullable=False), pa.field("run_id", TEXT, nullable=False), pa.field("account", TEXT, nullable=False),
    *(pa.field(field.name, field.type, nullable=field.name == "day") for field in POSTINGS),  # the bill's own side has no day
    pa.field("hash", TEXT, nullable=False),
])  # fmt: skip
OWNED = pa.schema([(name, TEXT) for name in ("month", "team", "project", "user", "pool")])
ROWS_AT_ONCE = 1000
HASH = re.compile(r"[0-9a-f]{6,64}")
NUMBER = re.compile(r"[1-9][0-9]{0,17}")


def read_entries(connection: Connection, **filters: object) -> pa.Table:
    """Raw ledger rows in order. Filters are column=value or column=[values]; both sides of the double entry are there."""
    table = record.entries
    conditions = []
    for name, value in filters.items():
        if name not in table.c:
            hint = "columns: " + ", ".join(ENTRIES.names)
            raise BooksError("unknown-column", f"the ledger has no column {name!r}", hint=hint)
        values: list[Any] = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
        if name == "user":
            values = tokens_of(connection, list(map(str, values)))
        conditions.append(table.c[name].in_([str(item) if isinstance(item, dt.date) else item for item in values]))
    return read_rows(connection, ENTRIES, *conditions)


def read_owners(connection: Connection) -> pa.Table:
    """Every owner of every month, with the pools that they were charged from: each combination once."""
    table, runs, names = record.entries, record.runs, OWNED.names[1:]
    month = func.coalesce(func.nullif(runs.c.about, ""), runs.c.period)
    every = select(month, *(table.c[name] for name in names)).join(runs, runs.c.run_id == table.c.run_id)
    rows = connection.execute(every.where(table.c.account.not_like(CONTRA + "%")).distinct()).all()
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(OWNED)
    found = pa.table([pa.array(column, TEXT) for column in columns], schema=OWNED)
    named = shown(connection, found, found["month"])
    return named.group_by(names).aggregate([]).sort_by([(name, "ascending") for name in names])


def find_entries(connection: Connection, text: str, teams: Collection[str] | None, most: int) -> pa.Table:
    """Owners' entries by their number, or whose hash begins so; of some teams, or of all. The bill's own side is nobody's."""
    table = record.entries
    number = table.c.seq == int(text) if NUMBER.fullmatch(text) else false()
    begun = table.c.hash.startswith(text) if HASH.fullmatch(text) else false()
    own = [] if teams is None else [table.c.team.in_(sorted(teams))]
    some = select(table.c.seq).where(or_(number, begun), table.c.account.not_like(CONTRA + "%"), *own)
    found = list(connection.scalars(some.order_by(table.c.seq).limit(most)))
    return read_rows(connection, ENTRIES, table.c.seq.in_(found))


def read_rows(connection: Connection, schema: pa.Schema, *conditions: ColumnElement[bool]) -> pa.Table:
    """Amounts and days travel as text and are read by Arrow: exact, and quicker than an object for each.

    Some at a time: the more of a database's rows Python holds, the longer it takes to look through them for garbage.
    """
    table, wide = record.entries, schema.append(pa.field("of", TEXT))
    columns = [cast(table.c[name], Text) if name == "amount" else table.c[name] for name in schema.names]
    rows = connection.execute(select(*columns, table.c.run_id).where(*conditions).order_by(table.c.seq))
    parts = [wide.empty_table()]
    for some in rows.partitions(ROWS_AT_ONCE):
        values = zip(zip(*some, strict=True), wide, strict=True)
        parts.append(pa.Table.from_arrays([arrow(column, field) for column, field in values], schema=wide))
    found = pa.concat_tables(parts).combine_chunks()
    months = pc.coalesce(corrected_months(connection, found["of"]), found["period"])
    return shown(connection, found.drop_columns("of"), months)


def corrected_months(connection: Connection, runs: pa.ChunkedArray) -> pa.ChunkedArray:
    """Of each row's run the month that it is about, where that is another than its own."""
    known = record.runs.c
    about = {row.run_id: row.about for row in connection.execute(select(known.run_id, known.about)) if row.about}
    return pa.array(about.values(), TEXT).take(pc.index_in(runs, value_set=pa.array(about, TEXT)))


def arrow(values: Sequence[Any], field: pa.Field) -> pa.Array:
    if field.name == "day":
        return pa.array([day or None for day in values], TEXT).cast(field.type)
    return pa.array(values, TEXT).cast(field.type) if field.name == "amount" else pa.array(values, field.type)


def read_posted(
    connection: Connection, period: str | None, kinds: Sequence[str] = (), as_of_s: int | None = None
) -> pa.Table:
    """The owners' side, added up over all runs, or those of some kinds, or those posted until then; what came to zero is left out."""
    table, runs = record.entries, record.runs
    conditions = [table.c.account.not_like(CONTRA + "%"), *([table.c.period == period] if period else [])]
    if kinds:
        conditions.append(of_kind(kinds))
    if as_of_s is not None:
        conditions.append(table.c.run_id.in_(select(runs.c.run_id).where(runs.c.posted_s <= as_of_s)))
    return summed(read_rows(connection, POSTINGS, *conditions))


def added_runs(
    connection: Connection, period: str | None, kinds: Sequence[str] = (), as_of_s: int | None = None
) -> tuple[str, ...]:
    """The runs that `read_posted` adds up: the same runs, the same rows."""
    runs = record.runs
    conditions = [runs.c.period == period] if period else []
    conditions += [known_as(kinds)] if kinds else []
    conditions += [runs.c.posted_s <= as_of_s] if as_of_s is not None else []
    return tuple(connection.scalars(select(runs.c.run_id).where(*conditions).order_by(runs.c.seq)))


def summed(owners: pa.Table) -> pa.Table:
    totals = owners.group_by([*POSTING_KEY]).aggregate([("amount", "sum")]).rename_columns([*POSTING_KEY, "amount"])
    totals = totals.filter(pc.not_equal(totals["amount"], pa.scalar(0, MONEY)))
    return totals.sort_by([(name, "ascending") for name in POSTING_KEY]).select(POSTINGS.names).cast(POSTINGS)


def read_believed(
    connection: Connection, period: str, kinds: Sequence[str] = COMPUTED, before_seq: int | None = None
) -> pa.Table:
    """What a period has come to, now or before a link: what its own runs of these kinds say, and those about it that later periods hold."""
    table, runs = record.entries, record.runs
    about = select(runs.c.run_id).where((runs.c.about == period) | ((runs.c.about == "") & (runs.c.period == period)))
    until = [] if before_seq is None else [table.c.seq < before_seq]
    owners = read_rows(
        connection, POSTINGS, table.c.account.not_like(CONTRA + "%"), table.c.run_id.in_(about), of_kind(kinds), *until
    )
    place = POSTINGS.names.index("period")
    owners = owners.set_column(place, POSTINGS.field(place), pa.repeat(pa.scalar(period), len(owners)))
    return summed(owners)


def of_kind(kinds: Sequence[str]) -> ColumnElement[bool]:
    """Entries of such runs; those of books made before there were kinds are of plans."""
    return record.entries.c.run_id.in_(select(record.runs.c.run_id).where(known_as(kinds)))


def known_as(kinds: Sequence[str]) -> ColumnElement[bool]:
    return record.runs.c.kind.in_([*kinds, *([""] if PLAN in kinds else [])])


def read_head(connection: Connection, period: str | None = None) -> str:
    """The hash of the last link; of a period: that of the last link of its last run."""
    table = record.runs
    query = select(table.c.head_after).order_by(table.c.seq.desc()).limit(1)
    return connection.scalar(query.where(table.c.period == period) if period else query) or GENESIS


def link_number(connection: Connection, head: str) -> int | None:
    """Where in the chain a hash stands; None if nowhere."""
    if head == GENESIS:
        return 0
    runs, entries = record.runs, record.entries
    found = union_all(
        select(runs.c.seq).where(runs.c.hash == head), select(entries.c.seq).where(entries.c.hash == head)
    )
    number: int | None = connection.scalar(found)
    return number


def read_runs(connection: Connection) -> list[StoredRun]:
    rows = connection.execute(select(record.runs).order_by(record.runs.c.seq)).mappings()
    told = [field.name for field in fields(StoredRun) if field.name not in ("inputs", "kind")]
    return [
        StoredRun(**{name: row[name] for name in told}, inputs=json.loads(row["inputs"]), kind=row["kind"] or PLAN)
        for row in rows
    ]
