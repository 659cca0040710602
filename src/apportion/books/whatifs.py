"""What-ifs that people saved: what was asked, what it came to then, and where the ledger stood. The audit log has the seal of each."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, delete, insert, select

from apportion.books import record
from apportion.books.audit import note, user
from apportion.books.chain import rows_digest
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.books.ledger import read_head
from apportion.books.shapes import Damage
from apportion.errors import BooksError

DEED = "whatif"
SAVED, FORGOTTEN = "saved", "forgotten"
ID_DIGITS = 12  # of a link that is shared: nobody finds it by counting
TOLD = ("id", "name", "months", "head", "asked", "result", "who", "at_s")


@dataclass(frozen=True, slots=True)
class SavedWhatif:
    """`asked` and `result` are texts that whoever saved it understands; `head` is the ledger's then."""

    id: str
    name: str
    months: tuple[str, ...]
    head: str
    asked: str
    result: str
    who: str
    at_s: int


class Whatifs:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def save(self, name: str, months: tuple[str, ...], asked: str, result: str) -> SavedWhatif:
        """Under a name that no other has."""
        table = record.whatifs
        with spoken(), writing(self.engine) as connection:
            if connection.execute(select(table.c.id).where(table.c.name == name)).first():
                raise name_taken(name)
            row: dict[str, Any] = {
                "id": id_of(name, months, asked, result), "name": name, "months": " ".join(months), "head": read_head(connection),
                "asked": asked, "result": result, "who": user(), "at_s": int(time.time()),
            }  # fmt: skip
            connection.execute(insert(table).values(**row))
            note(connection, DEED, told(row))
        return saved_of(row)

    def all(self) -> list[SavedWhatif]:
        """Oldest first."""
        table = record.whatifs
        with spoken(), reading(self.engine) as connection:
            rows = connection.execute(select(table).order_by(table.c.at_s, table.c.name)).mappings()
            return [saved_of({**row}) for row in rows]

    def one(self, which: str) -> SavedWhatif:
        """By its name or its id."""
        with spoken(), reading(self.engine) as connection:
            return read(connection, which)

    def forget(self, which: str) -> SavedWhatif:
        table = record.whatifs
        with spoken(), writing(self.engine) as connection:
            found = read(connection, which)
            connection.execute(delete(table).where(table.c.id == found.id))
            note(connection, DEED, f"{found.id} {FORGOTTEN}")
            return found


def id_of(name: str, months: tuple[str, ...], asked: str, result: str) -> str:
    """Of all that it says, so that only who knows that can tell."""
    return rows_digest([(name, " ".join(months), asked, result)])[:ID_DIGITS]


def name_taken(name: str) -> BooksError:
    said = f"a what-if called {name!r} is saved already"
    return BooksError("whatif-name", said, hint="choose another name, or forget that one")


def read(connection: Connection, which: str) -> SavedWhatif:
    table = record.whatifs
    row = connection.execute(select(table).where((table.c.name == which) | (table.c.id == which))).mappings().first()
    if row is None:
        raise BooksError("unknown-whatif", f"no what-if {which!r} is saved", hint="apportion whatif --saved lists them")
    return saved_of({**row})


def saved_of(row: Mapping[str, Any]) -> SavedWhatif:
    return SavedWhatif(**{**{name: row[name] for name in TOLD}, "months": tuple(row["months"].split())})


def told(row: Mapping[str, Any]) -> str:
    """For the audit log: sealed with every field, and without a word of it."""
    return f"{row['id']} {SAVED}, {rows_digest([[row[name] for name in TOLD]])}"


def check_whatifs(connection: Connection) -> Iterator[Damage]:
    """Each is as the audit log has it, and none that was not forgotten is gone."""
    audit = record.audit
    noted = list(connection.scalars(select(audit.c.detail).where(audit.c.what == DEED).order_by(audit.c.id)))
    kept = {row["id"]: told({**row}) for row in connection.execute(select(record.whatifs)).mappings()}
    last = {detail.split(" ")[0]: detail for detail in noted}
    for id_ in sorted({*kept, *last}):
        if last.get(id_) != kept.get(id_, f"{id_} {FORGOTTEN}"):
            yield Damage("whatif-changed", f"what-if {id_}", "it is not what was noted when it was saved")
