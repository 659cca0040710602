"""What was delivered: recorded with its problems, quarantine, role and scopes, and read again."""

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import Connection, Table, func, insert, select, update

from apportion.books import record
from apportion.books.audit import note
from apportion.books.prepare import Prepared
from apportion.books.scopes import record_scopes
from apportion.books.shapes import DeliveredProblem, Receipt
from apportion.errors import Problem
from apportion.model.delivery import FileDigest
from apportion.model.times import Interval

EQUAL_ROWS = "kept"  # of usage; "" of what was delivered when they counted once


def record_delivery(connection: Connection, prepared: Prepared, replaced: Mapping[str, int]) -> Receipt:
    """The delivery with its problems, quarantine, files, role and scopes: part of the transaction that publishes its rows."""
    delivery, table = prepared.delivery, record.deliveries
    seq = (connection.scalar(select(func.max(table.c.seq))) or 0) + 1
    delivery_id = f"d{seq:06d}-{prepared.digest[:12]}"
    rows = {name: part.num_rows for name, part in prepared.rows.items()}
    if not delivery.adds and not delivery.relabels:
        supersede(connection, prepared, delivery_id)
    connection.execute(
        insert(table).values(
            seq=seq, delivery_id=delivery_id, source=delivery.source, start_s=delivery.window.start_s, end_s=delivery.window.end_s,
            tables=json.dumps(sorted(rows)), digest=prepared.digest, rows=json.dumps(rows), replaced=json.dumps(dict(replaced)),
            quarantined=len(prepared.withheld), received_s=int(time.time()), equal_rows=EQUAL_ROWS,
        )
    )  # fmt: skip
    record_role(connection, prepared)
    if prepared.scopes or "cost_lines" in prepared.rows:
        record_scopes(connection, delivery.source, delivery.window, prepared.scopes)
    tied = {"delivery_id": delivery_id, "source": delivery.source}
    told = [{**tied, **columns_of(record.problems, asdict(problem))} for problem in prepared.problems]
    insert_all(connection, record.problems, told)
    held = [{"table": row.table, "key": row.key, "content": row.content} for row in prepared.withheld]
    insert_all(connection, record.quarantine, [{**tied, **readable(row)} for row in held])
    insert_all(
        connection, record.delivered_files, [{"delivery_id": delivery_id, **asdict(file)} for file in delivery.files]
    )
    note(connection, "delivery", delivery_id)
    return Receipt(
        changed=True, delivery_id=delivery_id, rows=rows, replaced=dict(replaced),
        quarantined=len(prepared.withheld), outside=prepared.outside,
    )  # fmt: skip


def keep_equal_rows(connection: Connection, delivery_id: str) -> None:
    """The same was delivered again: it is what it would be now."""
    table = record.deliveries
    connection.execute(update(table).where(table.c.delivery_id == delivery_id).values(equal_rows=EQUAL_ROWS))


def insert_all(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def columns_of(table: Table, row: dict[str, str]) -> dict[str, str]:
    return readable({name: text for name, text in row.items() if name in table.c})


def readable(row: dict[str, str]) -> dict[str, str]:
    """PostgreSQL takes no NUL in a text, and a bad row may well have one."""
    return {name: text.replace("\0", "\ufffd") for name, text in row.items()}


def record_role(connection: Connection, prepared: Prepared) -> None:
    """A source's role is what it last stated with its scopes; a delivery without any says nothing about it."""
    table, name = record.sources, prepared.delivery.source
    known = connection.execute(select(table.c.role).where(table.c.name == name)).one_or_none()
    if known is None:
        connection.execute(insert(table).values(name=name, role=prepared.role))
    elif prepared.delivery.scopes:
        connection.execute(update(table).where(table.c.name == name).values(role=prepared.role))


def supersede(connection: Connection, prepared: Prepared, delivery_id: str) -> None:
    """Earlier deliveries of which nothing is left: their problems are no longer anybody's."""
    table, window = record.deliveries, prepared.delivery.window
    covered = select(table.c.seq, table.c.tables).where(
        table.c.source == prepared.delivery.source, table.c.superseded_by.is_(None),
        table.c.start_s >= window.start_s, table.c.end_s <= window.end_s,
    )  # fmt: skip
    for row in connection.execute(covered).all():
        if set(json.loads(row.tables)) <= set(prepared.rows):
            connection.execute(update(table).where(table.c.seq == row.seq).values(superseded_by=delivery_id))


def read_deliveries(connection: Connection) -> list[dict[str, Any]]:
    """Oldest first; `superseded_by` names the later delivery that replaced all of it.

    One that only added rows has nothing in `replaced`: it states no window, and speaks for no time but that of its rows.
    """
    rows = connection.execute(select(record.deliveries).order_by(record.deliveries.c.seq)).mappings()
    return [{**row, **{name: json.loads(row[name]) for name in ("tables", "rows", "replaced")}} for row in rows]


def read_files(connection: Connection, delivery_id: str) -> list[FileDigest]:
    """The files that a delivery was read from, as they were."""
    table = record.delivered_files
    rows = connection.execute(select(table).where(table.c.delivery_id == delivery_id).order_by(table.c.id))
    return [FileDigest(row.name, row.sha256, row.rows, row.control) for row in rows]


def read_problems(connection: Connection, source: str | None) -> list[DeliveredProblem]:
    """Of the deliveries that still count, in the order they came."""
    table, deliveries = record.problems, record.deliveries
    query = (
        select(table, deliveries.c.start_s, deliveries.c.end_s)
        .join(deliveries, deliveries.c.delivery_id == table.c.delivery_id)
        .where(deliveries.c.superseded_by.is_(None))
    )
    if source is not None:
        query = query.where(table.c.source == source)
    rows = connection.execute(query.order_by(table.c.id)).mappings()
    names = [field.name for field in fields(Problem)]
    return [
        DeliveredProblem(
            row["delivery_id"],
            row["source"],
            Interval(row["start_s"], row["end_s"]),
            Problem(**{name: row[name] for name in names}),
        )
        for row in rows
    ]


def read_quarantine(connection: Connection) -> list[dict[str, Any]]:
    """The variants of each doubtful key, of the deliveries that still count; `content` is the row as it was delivered."""
    table, deliveries = record.quarantine, record.deliveries
    query = (
        select(table)
        .join(deliveries, deliveries.c.delivery_id == table.c.delivery_id)
        .where(deliveries.c.superseded_by.is_(None))
    )
    rows = connection.execute(query.order_by(table.c.id)).mappings()
    return [{**row, "key": json.loads(row["key"]), "content": json.loads(row["content"])} for row in rows]
