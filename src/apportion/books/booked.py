"""What was booked in a period, a day at a time: for those who write it out and hold only a day of it."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Text, cast, select

from apportion.books import record
from apportion.books.ledger import CONTRA, arrow
from apportion.books.names import shown
from apportion.books.shapes import PLAN
from apportion.model.rows import MONEY, POSTINGS, TEXT, table

ROWS_AT_ONCE = 10_000
BOOKED = table(*((field.name, field.type) for field in POSTINGS), ("kind", TEXT), ("about", TEXT))
KEY = [name for name in BOOKED.names if name != "amount"]
DAY = BOOKED.names.index("day")


def read_booked(connection: Connection, period: str) -> Iterator[pa.Table]:
    """Days in their order; in each the owners' side, added up over runs of one kind that are about one period, what came to zero left out.

    Databases agree about the order of days, not of names: within a day rows are sorted here, by their bytes.
    """
    entries, runs = record.entries, record.runs
    columns: list[Any] = [
        cast(entries.c[name], Text) if name == "amount" else entries.c[name] for name in POSTINGS.names
    ]
    mine = (entries.c.period == period) & entries.c.account.not_like(CONTRA + "%")
    both = select(*columns, runs.c.kind, runs.c.about).join(runs, runs.c.run_id == entries.c.run_id)
    streamed = {"yield_per": ROWS_AT_ONCE}  # this query alone: names are looked up on the same connection meanwhile
    found = connection.execute(both.where(mine).order_by(entries.c.day), execution_options=streamed)
    for _, rows in groupby(found, lambda row: row[DAY]):
        day = of_day(connection, list(zip(*rows, strict=True)))
        if len(day):
            yield day


def of_day(connection: Connection, columns: list[tuple[Any, ...]]) -> pa.Table:
    arrays = [arrow(values, field) for values, field in zip(columns, BOOKED, strict=True)]
    rows = pa.Table.from_arrays(arrays, schema=BOOKED)
    rows = shown(connection, rows, pc.if_else(pc.equal(rows["about"], ""), rows["period"], rows["about"]))
    kind = pc.if_else(pc.equal(rows["kind"], ""), PLAN, rows["kind"])  # books made before there were kinds
    rows = rows.set_column(BOOKED.names.index("kind"), BOOKED.field("kind"), kind)
    sums = rows.group_by(KEY).aggregate([("amount", "sum")]).rename_columns([*KEY, "amount"])
    sums = sums.filter(pc.not_equal(sums["amount"], pa.scalar(0, MONEY)))
    return sums.sort_by([(name, "ascending") for name in KEY]).select(BOOKED.names).cast(BOOKED)
