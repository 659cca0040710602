"""Disputes: opened, talked about and settled once. Nothing is edited: what a dispute is, its last note says, and the audit log covers every note."""

import hashlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

from sqlalchemy import Connection, func, insert, select

from apportion.books import record
from apportion.books.audit import note, user
from apportion.books.catalog import Evidence
from apportion.books.chain import canonical
from apportion.books.database import writing
from apportion.books.minor import keep_minor
from apportion.books.names import Names
from apportion.books.shapes import OPEN, Damage, Dispute, DisputeNote, Posted, Run, Transfer
from apportion.books.transfers import post_transfer
from apportion.errors import BooksError

DEED = "dispute"
GIVEN = tuple(field.name for field in fields(Dispute) if field.name not in ("number", "notes"))
TOLD = ("id", "dispute", "at_s", "who", "status", "text", "run_id")


def open_dispute(evidence: Evidence, made: Dispute, why: str) -> Dispute:
    """One at a time of the same thing."""
    with writing(evidence.engine) as connection:
        for known in read_disputes(connection):
            if (known.period, known.kind, known.name, known.status) == (made.period, made.kind, made.name, OPEN):
                raise BooksError(
                    "dispute-open",
                    f"dispute {known.number} of {made.kind} {made.name} in {made.period} is open already",
                    hint=f"apportion dispute say {known.number} adds to it",
                )
        number = (connection.scalar(select(func.max(record.disputes.c.number))) or 0) + 1
        said = {name: getattr(made, name) for name in GIVEN}
        connection.execute(insert(record.disputes).values(number=number, **{**said, "key": json.dumps(made.key)}))
        add(connection, number, DisputeNote(0, "", OPEN, why))
        return read_dispute(connection, number)


def say(evidence: Evidence, number: int, text: str) -> Dispute:
    with writing(evidence.engine) as connection:
        refuse_settled(read_dispute(connection, number))
        add(connection, number, DisputeNote(0, "", OPEN, text))
        return read_dispute(connection, number)


def settle(
    evidence: Evidence, names: Names, number: int, end: DisputeNote, made: tuple[Transfer, Run] | None
) -> tuple[Dispute, Posted | None]:
    """How it ends and what is posted for it, in one transaction: once, whoever comes first."""
    with writing(evidence.engine) as connection:
        refuse_settled(read_dispute(connection, number))
        posted = post_transfer(connection, names, *made) if made else None
        if made:
            keep_minor(connection, made[1].period)
        add(connection, number, replace(end, run_id=posted.run_id if posted else ""))
        return read_dispute(connection, number), posted


def refuse_settled(dispute: Dispute) -> None:
    if dispute.status != OPEN:
        raise BooksError(
            "dispute-settled",
            f"dispute {dispute.number} is settled: {dispute.status}",
            hint=f"apportion dispute show {dispute.number}; what was posted for it can be disputed by itself",
        )


def add(connection: Connection, number: int, said: DisputeNote) -> None:
    table = record.dispute_notes
    row: dict[str, Any] = {
        "id": (connection.scalar(select(func.max(table.c.id))) or 0) + 1, "dispute": number, "at_s": int(time.time()), "who": user(),
        "status": said.status, "text": said.text, "run_id": said.run_id,
    }  # fmt: skip
    connection.execute(insert(table).values(**row))
    note(connection, DEED, told(row, stored(connection)[number]), said.text)


def told(row: Mapping[str, Any], dispute: Mapping[str, Any]) -> str:
    """What the audit log says of a note: all of it, and of what is disputed, as one hash."""
    whole = canonical([*(row[name] for name in TOLD), *(dispute[name] for name in ("number", *GIVEN))])
    return f"{row['dispute']} {row['status']}, note {row['id']}, {hashlib.sha256(whole).hexdigest()}"


def stored(connection: Connection) -> dict[int, Mapping[str, Any]]:
    table = record.disputes
    return {row["number"]: {**row} for row in connection.execute(select(table).order_by(table.c.number)).mappings()}


def read_disputes(connection: Connection) -> list[Dispute]:
    """In the order in which they were opened, with their threads."""
    table = record.dispute_notes
    threads: dict[int, list[DisputeNote]] = {}
    for row in connection.execute(select(table).order_by(table.c.id)):
        threads.setdefault(row.dispute, []).append(DisputeNote(row.at_s, row.who, row.status, row.text, row.run_id))
    return [
        Dispute(**{**row, "key": tuple(json.loads(row["key"]))}, notes=tuple(threads.get(number, ())))
        for number, row in stored(connection).items()
    ]


def read_dispute(connection: Connection, number: int) -> Dispute:
    for known in read_disputes(connection):
        if known.number == number:
            return known
    raise BooksError("unknown-dispute", f"there is no dispute {number}", hint="apportion dispute list")


def check_disputes(connection: Connection) -> Iterator[Damage]:
    """Every note and what it is about is as the audit log has it, and nothing that it has is gone."""
    audit = record.audit
    noted = set(connection.scalars(select(audit.c.detail).where(audit.c.what == DEED)))
    known = stored(connection)
    silent = set(known)
    for row in connection.execute(select(record.dispute_notes)).mappings():
        where = f"dispute {row['dispute']}, note {row['id']}"
        said = told({**row}, known[row["dispute"]]) if row["dispute"] in known else ""
        silent.discard(row["dispute"])
        if said not in noted:
            yield Damage("dispute-changed", where, "it, or what is disputed, is not what was noted")
        noted.discard(said)
    for number in sorted(silent):
        yield Damage("dispute-changed", f"dispute {number}", "nothing notes who opened it")
    for detail in sorted(noted):
        yield Damage("dispute-changed", f"dispute {detail.partition(',')[0]}", "it is noted and not there as it was")
