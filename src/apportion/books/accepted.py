"""Findings that somebody lets stand: kept in the audit log, where who, when and why are chained and cannot be changed or taken out."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Engine, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.model.findings import Acceptance, Finding
from apportion.model.money import plain

DEED = "accept"
AMOUNTS = ("hours", "money", "share")


class Acceptances:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, period: str, findings: Iterable[tuple[Finding, tuple[str, ...]]], why: str) -> list[Acceptance]:
        """Each finding with the pools that it concerns, as large as it is now."""
        with spoken(), writing(self.engine) as connection:
            for finding, pools in findings:
                said = {"period": period, "pools": list(pools), **written(finding)}
                note(connection, DEED, json.dumps(said, ensure_ascii=False), why)
            return [one for one in read(connection) if one.period == period]

    def of(self, period: str) -> list[Acceptance]:
        """Oldest first."""
        return [one for one in self.every() if one.period == period]

    def every(self) -> list[Acceptance]:
        """Of all months, oldest first."""
        with spoken(), reading(self.engine) as connection:
            return read(connection)


def written(finding: Finding) -> dict[str, Any]:
    """Amounts as decimal text with every digit."""
    return {**asdict(finding), **{name: plain(getattr(finding, name)) for name in AMOUNTS}}


def amounts_read(said: dict[str, Any]) -> dict[str, Any]:
    return {**said, **{name: Decimal(said[name]) for name in AMOUNTS}}


def read(connection: Connection) -> list[Acceptance]:
    table = record.audit
    rows = connection.execute(select(table).where(table.c.what == DEED).order_by(table.c.id))
    return [acceptance(row, json.loads(row.detail)) for row in rows]


def acceptance(row: Any, said: dict[str, Any]) -> Acceptance:
    given = {name: value for name, value in said.items() if name not in ("period", "pools")}
    return Acceptance(said["period"], Finding(**amounts_read(given)), row.who, row.why, row.at_s, tuple(said["pools"]))
