"""The statements of a closed period, as they were issued: kept word for word, so that a reprint is what was sent.

Users stand in them as tokens (`names.py`), and are shown by name until they are erased.
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, func, insert, select

from apportion.books import record
from apportion.books.names import Known, Names, shown_text, tokens_of, whose
from apportion.books.shapes import Damage, Document, Kept
from apportion.books.words import Words
from apportion.errors import BooksError

TOLD = ("level", "owner", "currency", "number", "label", "amount", "sha256")


Swap = Callable[[str], str]
USER = "user"  # a level of owners, and a dimension of parts
NOBODY = "(none)"  # as statements say it


def hidden(documents: Sequence[Document], names: Names, known: Known) -> tuple[tuple[Document, ...], Known]:
    """With tokens in place of users, and whose they are. `known` are those of the period's minor units."""
    users = set(known.values())
    for document in documents:
        with_users(document, lambda name: users.add(name) or name)  # type: ignore[func-returns-value]
    tokens = {name: names.token(name) for name in sorted(users - {NOBODY})}
    words = Words(tokens)
    made = tuple(with_users(one, lambda name: tokens.get(name, name), words.text) for one in documents)
    return made, {token: name for name, token in tokens.items() if token != name}


def with_users(document: Document, swap: Swap, words: Swap = str) -> Document:
    """The same statement with other users: all places where one stands, and in `words` the names that workloads were given."""
    said: dict[str, Any] = json.loads(document.text)
    parts = [part for part in said["parts"] if part["by"] == USER]
    users = {line["name"] for part in parts for line in part["lines"]}
    lines = [line for part in parts for line in part["lines"]]
    if {line["name"] for line in said["children"]} <= users:
        lines += said["children"]
    for line in lines:
        line["name"] = swap(line["name"])
    for job in said["workloads"]:
        job["user"], job["name"] = swap(job["user"]), words(job["name"])
    owner = swap(document.owner) if document.level == USER else document.owner
    if document.level == USER and document.owner:
        said |= {"owner": owner, "dispute": said["dispute"].replace(document.owner, owner)}
    text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return replace(document, owner=owner, text=text)


def last_number(connection: Connection) -> int:
    """Of the invoices so far; they are numbered from 1 on, without a gap."""
    return connection.scalar(select(func.max(record.documents.c.number))) or 0


def read_invoices(connection: Connection) -> list[tuple[str, str, str]]:
    """Period, owner and label, in the order of their numbers; they are teams', so that no user is named."""
    table = record.documents
    rows = connection.execute(
        select(table.c.period, table.c.owner, table.c.label).where(table.c.number > 0).order_by(table.c.number)
    )
    return [(row.period, row.owner, row.label) for row in rows]


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
    rows = [{"period": period, **asdict(kept_of(one)), "body": zlib.compress(one.text.encode())} for one in documents]
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


def shown_kept(connection: Connection, period: str) -> tuple[Kept, ...]:
    """With the names of users, by level, owner and currency."""
    known = whose(connection, period)
    found = [replace(one, owner=known.get(one.owner, one.owner)) for one in read_kept(connection, period)]
    return tuple(sorted(found, key=lambda one: (one.level, one.owner, one.currency)))


def read_texts(connection: Connection, period: str, level: str, owner: str = "") -> list[str]:
    """Of all owners at a level, or of one, by owner and currency."""
    table = record.documents
    query = select(table).where(table.c.period == period, table.c.level == level)
    query = query.where(table.c.owner.in_(tokens_of(connection, [owner]))) if owner else query
    known = whose(connection, period)
    rows = sorted(connection.execute(query), key=lambda row: (known.get(row.owner, row.owner), row.currency))
    return [shown_text(zlib.decompress(row.body).decode(), known) for row in rows]


def check_documents(connection: Connection) -> Iterator[Damage]:
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
            yield Damage("statement-changed", where, "it is not what was issued")
        numbers.add(row.number)
    missing = sorted(set(range(1, max(numbers, default=0) + 1)) - numbers)
    if missing:
        yield Damage("statement-changed", f"invoice number {missing[0]}", "it is missing")
