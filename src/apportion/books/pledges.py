"""Parts of quotas that are set aside for a job, or lent to another owner. Rows are only added: what ends a pledge is a row of its own.

Whoever adds one decides in the transaction that adds it, on all that were made before: so no two can take the same hours.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Engine, insert, select

from apportion.books import record
from apportion.books.audit import note, user
from apportion.books.chain import rows_digest
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.books.ledger import read_head
from apportion.books.publish import versions
from apportion.books.shapes import Damage
from apportion.errors import BooksError
from apportion.model.money import plain
from apportion.model.result import Result

DEED = "pledge"
RESERVE, LEND = "reserve", "lend"
POST, VOID, EXPIRE, RETURN = "post", "void", "expire", "return"
ENDS = {POST: "posted", VOID: "void", EXPIRE: "expired", RETURN: "returned"}
OPEN = "open"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row: a pledge begins (`about` is 0), or the one that `about` names ends, with `amount` as what it came to.

    `user` is a token. `other` is who borrows; `first` is the first day of the window that something is lent in.
    """

    kind: str
    amount: Decimal
    about: int = 0
    team: str = ""
    project: str = ""
    user: str = ""
    other: str = ""
    what: str = ""
    pool: str = ""
    unit: str = ""
    per: str = ""
    first: str = ""
    job: str = ""
    until_s: int = 0
    why: str = ""
    approver: str = ""

    @property
    def owner(self) -> str:
        return f"{self.team}/{self.project}" if self.project else self.team


@dataclass(frozen=True, slots=True, repr=False)
class Pledge(Result):
    """What was set aside or lent, as it stands: `ended` is what it came to, where it is over."""

    number: int
    begun: Entry
    who: str
    at_s: int
    status: str = OPEN
    ended: Decimal = Decimal(0)
    ended_by: str = ""
    ended_s: int = 0
    end_why: str = ""

    @property
    def is_open(self) -> bool:
        return self.status == OPEN

    def is_expired(self, now_s: int) -> bool:
        """Open, and over by itself: it frees what it held at that second, whether or not that has been written down."""
        return self.is_open and 0 < self.begun.until_s <= now_s


@dataclass(frozen=True, slots=True)
class Ground:
    """What a decision rests on: the ledger's head and the snapshots of the evidence. Where they moved, it is made again."""

    head: str
    snapshots: Mapping[str, int]


Decide = Callable[[Sequence[Pledge]], Sequence[Entry]]


class Pledges:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def all(self) -> list[Pledge]:
        """In the order in which they were made."""
        with spoken(), reading(self.engine) as connection:
            return folded(stored(connection))

    def add(self, decide: Decide, ground: Ground | None = None, at_s: int | None = None) -> list[Pledge]:
        """Adds what `decide` says to be added to those that it is shown, all of it or nothing; gives all pledges as they are then."""
        with spoken(), writing(self.engine) as connection:
            refuse_moved(connection, ground)
            rows = stored(connection)
            for entry in decide(folded(rows)):
                row = {"seq": len(rows) + 1, **asdict(entry), "who": user(), "at_s": at_s or int(time.time())}
                connection.execute(insert(record.pledges).values(**row))
                note(connection, DEED, told(row), entry.why)
                rows.append(row)
            return folded(rows)


def refuse_moved(connection: Connection, ground: Ground | None) -> None:
    if ground is None:
        return
    now = {name: version.snapshot_id for name, version in versions(connection).items()}
    if read_head(connection) != ground.head or now != dict(ground.snapshots):
        raise BooksError(
            "inputs-moved", "while this was decided, new data came", hint="do it again: nothing was written"
        )


def stored(connection: Connection) -> list[dict[str, Any]]:
    table = record.pledges
    return [{**row} for row in connection.execute(select(table).order_by(table.c.seq)).mappings()]


def folded(rows: Sequence[Mapping[str, Any]]) -> list[Pledge]:
    found: dict[int, Pledge] = {}
    for row in rows:
        entry = Entry(**{name: value for name, value in row.items() if name not in ("seq", "who", "at_s")})
        if not entry.about:
            found[row["seq"]] = Pledge(row["seq"], entry, row["who"], row["at_s"])
        elif entry.about in found:
            end = {"status": ENDS[entry.kind], "ended": entry.amount, "ended_by": row["who"], "ended_s": row["at_s"]}
            found[entry.about] = replace(found[entry.about], **end, end_why=entry.why)
    return list(found.values())


def told(row: Mapping[str, Any]) -> str:
    """For the audit log: readable, and sealed with every field."""
    seal = rows_digest([[value for _, value in sorted(row.items())]])[:16]
    if row["about"]:
        return f"{row['seq']}, {row['kind']} {row['about']}: {plain(row['amount'])} ({seal})"
    owner = f"{row['team']}/{row['project']}" if row["project"] else row["team"]
    whom = f" to {row['other']} for {row['per']} {row['first']}" if row["other"] else f" for {row['job']}"
    return f"{row['seq']}, {row['kind']} {owner}: {plain(row['amount'])} {row['unit']}{whom} ({seal})"


def check_pledges(connection: Connection) -> Iterator[Damage]:
    """Every row is as the audit log has it, and none that it has is gone."""
    audit = record.audit
    noted = set(connection.scalars(select(audit.c.detail).where(audit.c.what == DEED)))
    for row in stored(connection):
        if told(row) not in noted:
            yield Damage("pledge-changed", f"pledge {row['seq']}", "it is not what was noted when it was made")
        noted.discard(told(row))
    for detail in sorted(noted):
        yield Damage("pledge-changed", f"pledge {detail.partition(',')[0]}", "it is noted and not there as it was")
