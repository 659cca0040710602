"""What is not as usual and somebody knows why: kept in the audit log, where who, when and why stand anyway and nothing can be changed or taken out."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date

from sqlalchemy import Connection, Engine, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.errors import BooksError

DEED = "acknowledge"
SAME_DAYS = 7  # later data may move the day on which something is seen to have begun


@dataclass(frozen=True, slots=True)
class About:
    """What was found, by the name that it had then; `until` is the last day on which it is not told, "" for as long as it lasts."""

    id: str
    kind: str
    owner: str
    currency: str
    began: str
    until: str = ""

    def is_same(self, other: "About") -> bool:
        """The same thing, although it may be seen to have begun some days earlier or later."""
        same = (self.kind, self.owner, self.currency) == (other.kind, other.owner, other.currency)
        apart = date.fromisoformat(self.began) - date.fromisoformat(other.began)
        return same and abs(apart.days) <= SAME_DAYS

    def holds_on(self, day: date) -> bool:
        return not self.until or self.until >= str(day)


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    about: About
    why: str
    who: str
    at_s: int


class Acknowledgements:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, about: About, why: str, today: date) -> Acknowledgement:
        """Once: whoever comes second is told who was first."""
        with spoken(), writing(self.engine) as connection:
            refuse_twice(read(connection), about, today)
            note(connection, DEED, json.dumps(asdict(about), ensure_ascii=False), why)
            return read(connection)[-1]

    def all(self) -> list[Acknowledgement]:
        """Oldest first."""
        with spoken(), reading(self.engine) as connection:
            return read(connection)


def refuse_twice(known: Iterable[Acknowledgement], about: About, today: date) -> None:
    for one in known:
        if one.about.is_same(about) and one.about.holds_on(today):
            until = f" until {one.about.until}" if one.about.until else ""
            raise BooksError(
                "already-acknowledged",
                f"{about.id} is acknowledged by {one.who}{until}: {one.why}",
                hint="nothing is told of it; when its last day is over it can be acknowledged again",
            )


def read(connection: Connection) -> list[Acknowledgement]:
    table = record.audit
    rows = connection.execute(select(table).where(table.c.what == DEED).order_by(table.c.id))
    return [Acknowledgement(About(**json.loads(row.detail)), row.why, row.who, row.at_s) for row in rows]
