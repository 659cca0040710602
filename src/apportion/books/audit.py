"""Who did what to the books, when and why: a chain of its own, beside the ledger's, so that a note cannot be changed or taken out."""

import getpass
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from apportion.books import record
from apportion.books.chain import FIRST, GENESIS, audit_link, rows_digest, told
from apportion.books.ledger import read_head
from apportion.books.shapes import Damage

FIELDS = ("at_s", "who", "what", "detail", "why", "head")


@dataclass(frozen=True, slots=True)
class Note:
    """`head` is the ledger's, as it was when this was done."""

    at_s: int
    who: str
    what: str
    detail: str
    why: str
    head: str


def note(connection: Connection, what: str, detail: str, why: str = "") -> None:
    """Part of the transaction that does it: there is no deed without its note and no note without its deed."""
    table = record.audit
    last = connection.execute(select(table.c.id, table.c.hash).order_by(table.c.id.desc()).limit(1)).first()
    row: dict[str, Any] = {
        "id": last.id + 1 if last else 1, "at_s": int(time.time()), "who": user(), "what": what, "detail": detail, "why": why,
        "head": read_head(connection),
    }  # fmt: skip
    before = last.hash if last and last.hash else beginning(connection)
    connection.execute(insert(table).values(**row, hash=audit_link(before, row)))


def note_once(connection: Connection, what: str, detail: str) -> bool:
    """For deeds outside the books, such as a file that was written: the same again is no news. Tells whether it was noted."""
    table = record.audit
    if connection.execute(select(table.c.id).where(table.c.what == what, table.c.detail == detail)).first():
        return False
    note(connection, what, detail)
    return True


def beginning(connection: Connection) -> str:
    """What the first link hangs on: the notes that were made before they were chained, if there are any."""
    table = record.audit
    early = select(table.c.id, *(table.c[name] for name in FIELDS)).where(table.c.hash == "").order_by(table.c.id)
    rows = [tuple(row) for row in connection.execute(early)]
    return rows_digest(rows) if rows else GENESIS


ACTING: ContextVar[str] = ContextVar("acting", default="")


@contextmanager
def acting(name: str) -> Iterator[None]:
    """Whatever is done here is done by that person, whoever runs the program."""
    before = ACTING.set(name)
    try:
        yield
    finally:
        ACTING.reset(before)


def user() -> str:
    if ACTING.get():
        return ACTING.get()
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name, as in many containers
        return "unknown"


def read_notes(connection: Connection) -> list[Note]:
    rows = connection.execute(select(record.audit).order_by(record.audit.c.id))
    return [Note(*(getattr(row, name) for name in FIELDS)) for row in rows]


def read_latest(connection: Connection, who: str, what: str, before: int, most: int) -> list[tuple[int, Note]]:
    """Newest first, with their numbers: of one person and deed or all, `before` a number unless it is 0."""
    table = record.audit
    wanted = select(table).order_by(table.c.id.desc()).limit(most)
    wanted = wanted.where(table.c.who == who) if who else wanted
    wanted = wanted.where(table.c.what == what) if what else wanted
    wanted = wanted.where(table.c.id < before) if before else wanted
    return [(row.id, Note(*(getattr(row, name) for name in FIELDS))) for row in connection.execute(wanted)]


def check_audit(connection: Connection) -> Iterator[Damage]:
    """Every link, every number without a gap, and a note for every run and a run for its note."""
    table, runs = record.audit, record.runs
    before, number = beginning(connection), None
    notes: dict[str, str] = {}
    for row in connection.execute(select(table).where(table.c.hash != "").order_by(table.c.id)).mappings():
        if number is not None and row["id"] != number + 1:
            yield Damage("audit-broken", f"note {row['id']}", "notes before it are missing or were added")
        if row["hash"] != audit_link(before, {**row}):
            yield Damage("audit-broken", f"note {row['id']}", "it, or one before it, was changed")
            return
        before, number = row["hash"], row["id"]
        if row["what"] == "run":
            notes[row["head"]] = row["detail"]
    for run in connection.execute(select(runs).where(runs.c.rule != FIRST)).mappings():
        if notes.pop(run["head_after"], None) != told({**run}):
            yield Damage("audit-broken", f"run {run['run_id']}", "nothing notes who posted it as it is, and when")
    for detail in notes.values():
        yield Damage("audit-broken", f"run {detail.partition(' of ')[0]}", "it is noted and not there")
