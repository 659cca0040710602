"""The rules to come that a closed month's statements tell of: their text, so that what was shown can be computed again. The close's link holds its digest."""

import json
from collections.abc import Iterator
from hashlib import sha256

from sqlalchemy import Connection, insert, select

from apportion.books import record
from apportion.books.shapes import Beside, Damage

CHECK = "beside"  # what the close says of them


def keep_beside(connection: Connection, period: str, rules: Beside) -> None:
    connection.execute(insert(record.previews).values(period=period, version=rules.version, text=rules.text))


def read_beside(connection: Connection, period: str) -> Beside | None:
    table = record.previews
    row = connection.execute(select(table).where(table.c.period == period)).one_or_none()
    return None if row is None else Beside(row.version, row.text)


def told_beside(rules: Beside) -> str:
    return f"{rules.version} {sha256(rules.text.encode()).hexdigest()}"


def check_beside(connection: Connection) -> Iterator[Damage]:
    said = {row.period: json.loads(row.checks).get(CHECK) for row in connection.execute(select(record.closes))}
    kept = {row.period: Beside(row.version, row.text) for row in connection.execute(select(record.previews))}
    for period in sorted({*kept, *(period for period, told in said.items() if told)}):
        if period not in kept or told_beside(kept[period]) != said.get(period):
            where = f"rules to come of {period}"
            yield Damage("statement-changed", where, "they are not those that its statements tell of")
