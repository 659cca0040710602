"""What each period comes to in whole minor units, kept with the ledger.

Every run that posts in a period makes them anew of all its postings, in its own transaction; the close freezes them. They are made of
the rows as the ledger holds them, with tokens for users, so that they stay the same when a name is erased.
"""

from collections.abc import Iterator

import pyarrow as pa
from sqlalchemy import Connection, Text, cast, delete, insert, select

from apportion.books import record
from apportion.books.agreed import unpacked
from apportion.books.database import insert_rows
from apportion.books.ledger import CONTRA, read_head
from apportion.books.names import Names, shown
from apportion.books.shapes import Damage
from apportion.errors import BooksError
from apportion.model.minor import TOO_LARGE, minor_units, table_of
from apportion.model.rows import MINOR, MINOR_KEY, MONEY, TEXT


def keep_minor(connection: Connection, period: str) -> None:
    """Part of the transaction that posts in the period. Of one that is too large to be stated nothing is kept: posting it is no mistake of the books."""
    try:
        minor = make_minor(connection, period)
    except BooksError as error:
        if error.code != TOO_LARGE:
            raise
        forget_minor(connection, period)
    else:
        store_minor(connection, period, minor)


def store_minor(connection: Connection, period: str, minor: pa.Table) -> None:
    """In place of what was kept of the period, with the head that it was made at."""
    units, heads = record.minor_units, record.minor_heads
    forget_minor(connection, period)
    rows = [(period, *row) for row in zip(*(column.to_pylist() for column in minor.columns), strict=True)]
    if rows:
        insert_rows(connection, units, ("period", *MINOR.names), rows)
    connection.execute(insert(heads).values(period=period, head=read_head(connection, period)))


def forget_minor(connection: Connection, period: str) -> None:
    for table in (record.minor_units, record.minor_heads):
        connection.execute(delete(table).where(table.c.period == period))


def make_minor(connection: Connection, period: str, as_of_s: int | None = None) -> pa.Table:
    """Of all its postings, or of those until a second; users as the ledger has them."""
    table, runs = record.entries, record.runs
    own = [table.c.period == period, table.c.account.not_like(CONTRA + "%")]
    if as_of_s is not None:
        own.append(table.c.run_id.in_(select(runs.c.run_id).where(runs.c.posted_s <= as_of_s)))
    columns = (*(table.c[name] for name in MINOR_KEY), cast(table.c.amount, Text))
    rows = connection.execute(select(*columns).where(*own)).all()
    *keys, amounts = zip(*rows, strict=True) if rows else [()] * (len(MINOR_KEY) + 1)
    schema = pa.schema([*((name, TEXT) for name in MINOR_KEY), ("amount", MONEY)])
    posted = [pa.array(key, TEXT) for key in keys]
    return minor_units(pa.table([*posted, pa.array(amounts, TEXT).cast(MONEY)], schema=schema))


def read_minor(connection: Connection, period: str, as_of_s: int | None = None) -> pa.Table:
    """What a period comes to, now or at a second, with names. A closed one comes to what it was closed with.

    What was posted by a version that keeps none is added up here.
    """
    closed = closed_with(connection, period, as_of_s)
    if closed is not None:
        rows = closed
    elif as_of_s is None and is_kept(connection, period):
        rows = kept_minor(connection, period)
    else:
        rows = make_minor(connection, period, as_of_s)
    for month in (period, *corrected_by(connection, period)):
        rows = shown(connection, rows, month)
    return merge_minor(rows)


def corrected_by(connection: Connection, period: str) -> list[str]:
    """The closed months that runs of a period are about: their users are named there."""
    runs = record.runs.c
    return sorted(connection.scalars(select(runs.about).where(runs.period == period, runs.about != "").distinct()))


def closed_with(connection: Connection, period: str, as_of_s: int | None = None) -> pa.Table | None:
    closes, runs = record.closes, record.runs
    found = select(closes.c.minor).join(runs, runs.c.run_id == closes.c.run_id).where(closes.c.period == period)
    body = connection.scalar(found if as_of_s is None else found.where(runs.c.posted_s <= as_of_s))
    return None if body is None else unpacked(body)


def is_kept(connection: Connection, period: str) -> bool:
    heads = record.minor_heads
    return connection.scalar(select(heads.c.head).where(heads.c.period == period)) == read_head(connection, period)


def kept_minor(connection: Connection, period: str) -> pa.Table:
    units = record.minor_units
    columns = [units.c[name] for name in MINOR.names]
    rows = connection.execute(select(*columns).where(units.c.period == period)).all()
    return merge_minor(table_of(MINOR, [tuple(row) for row in rows]))


def merge_minor(minor: pa.Table) -> pa.Table:
    """In the order of their key, each key once: a user may have a token in some runs and a name in older ones."""
    key = list(MINOR_KEY)
    sums = minor.group_by(key).aggregate([("amount", "sum")]).rename_columns(MINOR.names).cast(MINOR)
    return sums.sort_by([(name, "ascending") for name in key])


def minor_of(names: Names, postings: pa.Table) -> pa.Table:
    """What these postings would come to, in the units that posting them would make."""
    hidden, known = names.hidden(postings)
    minor = minor_units(hidden)
    users = pa.array([known.get(user, user) for user in minor["user"].to_pylist()], TEXT)
    place = MINOR.get_field_index("user")
    return merge_minor(minor.set_column(place, MINOR.field(place), users))


def fill_minor(connection: Connection) -> None:
    """Of every period that has runs, in books made before they were kept."""
    for period in connection.scalars(select(record.runs.c.period).distinct()).all():
        closed = closed_with(connection, period)
        if closed is None:
            keep_minor(connection, period)
        else:
            store_minor(connection, period, closed)


def check_minor(connection: Connection) -> Iterator[Damage]:
    """Made again of the postings; of a closed period, what it was closed with."""
    for period in connection.scalars(select(record.minor_heads.c.period)).all():
        if not is_kept(connection, period):
            continue  # a version that keeps none has posted since: nobody reads these
        closed = closed_with(connection, period)
        right = make_minor(connection, period) if closed is None else closed
        if not merge_minor(right).equals(kept_minor(connection, period)):
            yield Damage("minor-units-changed", f"minor units of {period}", "they are not what the ledger comes to")
