"""The statements of a closed period, as they were issued: kept word for word, so that a reprint is what was sent."""

import hashlib
import zlib
from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, func, insert, select

from apportion.books import record
from apportion.books.shapes import Document, Finding, Kept
from apportion.errors import BooksError

TOLD = ("level", "owner", "currency", "number", "label", "amount", "sha256")


def last_number(connection: Connection) -> int:
    """Of the invoices so far; they are numbered from 1 on, without a gap."""
    return connection.scalar(select(func.max(record.documents.c.number))) or 0


def check_numbers(connection: Connection, documents: Sequence[Document]) -> None:
    """Inside the transaction that issues them: the next ones, each once."""
    given = sorted(document.number for document in documents if document.number)
    last = last_number(connection)
    if given != list(range(last + 1, last + 1 + len(given))):
        raise BooksError(
            "inputs-moved",
            f"since the statements were made, invoices up to number {last} were issued",
            hint="close again: nothing was written",
        )


def kept_of(document: Document) -> Kept:
    digest = hashlib.sha256(document.text.encode()).hexdigest()
    return Kept(
        document.level, document.owner, document.currency, document.number, document.label, document.amount, digest
    )


def told_rows(documents: Sequence[Kept]) -> list[tuple[object, ...]]:
    """What the close's link says of them."""
    rows = sorted(tuple(getattr(one, name) for name in TOLD) for one in documents)
    return [("document", *row) for row in rows]


def keep(connection: Connection, period: str, documents: Sequence[Document]) -> None:
    rows = [
        {
            "period": period,
            **{name: getattr(kept_of(one), name) for name in TOLD},
            "body": zlib.compress(one.text.encode()),
        }
        for one in documents
    ]
    if rows:
        connection.execute(insert(record.documents), rows)


def read_kept(connection: Connection, period: str) -> list[Kept]:
    table = record.documents
    rows = connection.execute(
        select(*(table.c[name] for name in TOLD))
        .where(table.c.period == period)
        .order_by(table.c.level, table.c.owner, table.c.currency)
    )
    return [Kept(*row) for row in rows]


def read_texts(connection: Connection, period: str, level: str, owner: str = "") -> list[str]:
    """Of all owners at a level, or of one, by owner and currency."""
    table = record.documents
    query = select(table.c.body).where(table.c.period == period, table.c.level == level)
    query = query.where(table.c.owner == owner) if owner else query
    bodies = connection.scalars(query.order_by(table.c.owner, table.c.currency))
    return [zlib.decompress(body).decode() for body in bodies]


def check_documents(connection: Connection) -> Iterator[Finding]:
    """Every statement is the one that its digest names (which the close's link holds), and no invoice's number is missing."""
    table = record.documents
    numbers = set()
    for row in connection.execute(select(table)):
        where = f"statement of {row.owner} for {row.period}"
        try:
            whole = hashlib.sha256(zlib.decompress(row.body)).hexdigest()
        except zlib.error:
            whole = ""
        if whole != row.sha256:
            yield Finding("statement-changed", where, "it is not what was issued")
        numbers.add(row.number)
    missing = sorted(set(range(1, max(numbers, default=0) + 1)) - numbers)
    if missing:
        yield Finding("statement-changed", f"invoice number {missing[0]}", "it is missing")
