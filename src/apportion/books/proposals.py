"""Drafts of the policy that people proposed: kept whole, with why and by whom, and ended once: adopted or dropped."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection, Engine, func, insert, select, update

from apportion.books import record
from apportion.books.audit import note, user
from apportion.books.beside import read_beside
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.books.shapes import Beside
from apportion.errors import BooksError
from apportion.model.result import Result

DEED = "draft"
OPEN, ADOPTED, DROPPED = "open", "adopted", "dropped"


@dataclass(frozen=True, slots=True, repr=False)
class Proposal(Result):
    """`base` is what it was drawn up from: the version of the policy, and the SHA-256 of its file, in one word."""

    number: int
    base: str
    text: str
    why: str
    who: str
    at_s: int
    status: str
    ended_by: str
    ended_s: int

    @property
    def base_version(self) -> str:
        return self.base.partition(":")[0]

    @property
    def base_sha256(self) -> str:
        return self.base.partition(":")[2]


class Proposals:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, base: str, text: str, why: str) -> Proposal:
        table = record.proposals
        with spoken(), writing(self.engine) as connection:
            number = (connection.scalar(select(func.max(table.c.number))) or 0) + 1
            row = {"number": number, "base": base, "text": text, "why": why, "who": user(), "at_s": int(time.time())}
            connection.execute(insert(table).values(**row, status=OPEN, ended_by="", ended_s=0))
            note(connection, DEED, f"{number} proposed, {sha256(text.encode()).hexdigest()}", why)
            return read(connection, number)

    def all(self) -> list[Proposal]:
        """Oldest first."""
        table = record.proposals
        with spoken(), reading(self.engine) as connection:
            return [Proposal(**row) for row in connection.execute(select(table).order_by(table.c.number)).mappings()]

    def one(self, number: int) -> Proposal:
        with spoken(), reading(self.engine) as connection:
            return read(connection, number)

    def end(self, number: int, status: str, why: str = "", before: Callable[[], None] = lambda: None) -> Proposal:
        """Once. `before` is done in the same transaction, last: where it fails, the draft stays open."""
        table = record.proposals
        with spoken(), writing(self.engine) as connection:
            refuse_ended(read(connection, number))
            ended = {"status": status, "ended_by": user(), "ended_s": int(time.time())}
            connection.execute(update(table).where(table.c.number == number).values(**ended))
            note(connection, DEED, f"{number} {status}", why)
            before()
            return read(connection, number)

    def beside(self, period: str) -> Beside | None:
        """The rules to come that the statements of a closed month tell of."""
        with spoken(), reading(self.engine) as connection:
            return read_beside(connection, period)


def read(connection: Connection, number: int) -> Proposal:
    table = record.proposals
    row = connection.execute(select(table).where(table.c.number == number)).mappings().first()
    if row is None:
        raise BooksError("unknown-draft", f"there is no draft {number}", hint="apportion draft list")
    return Proposal(**row)


def refuse_ended(known: Proposal) -> None:
    if known.status != OPEN:
        number = known.number
        raise BooksError(
            "draft-ended", f"draft {number} is {known.status} already", hint=f"apportion draft show {number}"
        )
