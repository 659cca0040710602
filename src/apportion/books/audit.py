"""Who did what to the books, and when."""

import getpass
import time
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from apportion.books import record


@dataclass(frozen=True, slots=True)
class Note:
    at_s: int
    who: str
    what: str
    detail: str


def note(connection: Connection, what: str, detail: str) -> None:
    """Part of the transaction that does it: there is no deed without its note and no note without its deed."""
    connection.execute(insert(record.audit).values(at_s=int(time.time()), who=user(), what=what, detail=detail))


def user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name, as in many containers
        return "unknown"


def read_notes(connection: Connection) -> list[Note]:
    rows = connection.execute(select(record.audit).order_by(record.audit.c.id))
    return [Note(row.at_s, row.who, row.what, row.detail) for row in rows]
