"""Reading what was delivered: deliveries, their problems, and the rows that were set aside."""

import json
from typing import Any

from sqlalchemy import Connection, select

from apportion.books import record
from apportion.errors import Problem


def read_deliveries(connection: Connection) -> list[dict[str, Any]]:
    """Oldest first; `superseded_by` names the later delivery that replaced all of it."""
    rows = connection.execute(select(record.deliveries).order_by(record.deliveries.c.seq)).mappings()
    return [{**row, **{name: json.loads(row[name]) for name in ("tables", "rows", "replaced")}} for row in rows]


def read_problems(connection: Connection, source: str | None) -> list[Problem]:
    """Of the deliveries that still count, in the order they came."""
    table, deliveries = record.problems, record.deliveries
    query = (
        select(table)
        .join(deliveries, deliveries.c.delivery_id == table.c.delivery_id)
        .where(deliveries.c.superseded_by.is_(None))
    )
    if source is not None:
        query = query.where(table.c.source == source)
    rows = connection.execute(query.order_by(table.c.id)).mappings()
    return [Problem(*(row[name] for name in ("where", "code", "message", "row", "money"))) for row in rows]


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
