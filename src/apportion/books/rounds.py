"""The daily rounds: when each began and ended, and what came of its steps. The last hundred are kept.

They are rows of `meta`, not a table: nothing rests on them, and books that know them can still be opened by the version before.
A round that changes nothing leaves no other trace, neither in the audit log nor in the state by which pages are kept.
"""

import json
import os
import socket
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, Engine, delete, insert, select, update

from apportion.books import record
from apportion.books.audit import user
from apportion.books.database import reading, writing
from apportion.books.failures import spoken

PREFIX = "round:"
KEPT = 100
DONE, NOTHING, AMISS, SKIPPED = "done", "nothing new", "failed", "skipped"  # what came of a step
RUNNING, FINE, FAILED, BROKEN, INTERRUPTED = "running", "ok", "failed", "broken", "interrupted"


@dataclass(frozen=True, slots=True)
class StepDone:
    """`subject` is a source or a month, `changed` how many things are not as they were, `took_ms` milliseconds."""

    step: str
    subject: str
    outcome: str
    what: str
    changed: int = 0
    took_ms: int = 0


@dataclass(frozen=True, slots=True)
class Round:
    """`ended_s` is 0 while it runs, and where its process was killed. `seen` is what it left behind, so that the next one knows whether anything is new."""

    number: int
    began_s: int
    ended_s: int
    status: str
    who: str
    host: str
    process: int
    steps: tuple[StepDone, ...] = ()
    seen: str = ""

    @property
    def is_over(self) -> bool:
        """It came to its end, well or not."""
        return self.status not in (RUNNING, INTERRUPTED)

    @property
    def failed(self) -> list[StepDone]:
        return [one for one in self.steps if one.outcome == AMISS]

    @property
    def changed(self) -> int:
        return sum(one.changed for one in self.steps)


class Rounds:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def begin(self) -> Round:
        """For whoever holds the lock: a round that is not over has no process any more."""
        with spoken(), writing(self.engine) as connection:
            known = read(connection)
            for one in known:
                if one.status == RUNNING:
                    keep(connection, replace(one, status=INTERRUPTED))
            number = max((one.number for one in known), default=0) + 1
            made = Round(number, int(time.time()), 0, RUNNING, user(), socket.gethostname(), os.getpid())
            connection.execute(insert(record.meta).values(key=key_of(number), value=text_of(made)))
            forget(connection, (one.number for one in known[: len(known) + 1 - KEPT]))
            return made

    def note(self, now: Round, step: StepDone) -> Round:
        return self._kept(replace(now, steps=(*now.steps, step)))

    def end(self, now: Round, status: str, seen: str = "") -> Round:
        return self._kept(replace(now, status=status, seen=seen, ended_s=int(time.time())))

    def _kept(self, now: Round) -> Round:
        with spoken(), writing(self.engine) as connection:
            keep(connection, now)
        return now

    def all(self) -> list[Round]:
        """Oldest first."""
        with spoken(), reading(self.engine) as connection:
            return read(connection)

    def last(self) -> Round | None:
        """The newest, over or not."""
        with spoken(), reading(self.engine) as connection:
            return next(iter(read(connection, most=1)), None)


def key_of(number: int) -> str:
    return f"{PREFIX}{number:09}"


def text_of(one: Round) -> str:
    return json.dumps(asdict(one), ensure_ascii=False)


def keep(connection: Connection, one: Round) -> None:
    connection.execute(update(record.meta).where(record.meta.c.key == key_of(one.number)).values(value=text_of(one)))


def forget(connection: Connection, numbers: Iterable[int]) -> None:
    keys = [key_of(number) for number in numbers]
    if keys:
        connection.execute(delete(record.meta).where(record.meta.c.key.in_(keys)))


def read(connection: Connection, most: int | None = None) -> list[Round]:
    """The newest, in the order in which they began."""
    table = record.meta
    wanted = select(table.c.value).where(table.c.key.startswith(PREFIX)).order_by(table.c.key.desc()).limit(most)
    return [round_of(json.loads(text)) for text in reversed(connection.scalars(wanted).all())]


def round_of(said: dict[str, object]) -> Round:
    steps = said.pop("steps")
    return Round(**said, steps=tuple(StepDone(**step) for step in steps))  # type: ignore[arg-type,attr-defined]  # as `text_of` wrote them
