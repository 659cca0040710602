"""Channels of apportion.toml, told as webhooks are: their messages are written in the transaction that makes the news.

Only a name, events and teams are kept here. Where a channel leads, and its secrets, stay in the settings.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, func, insert, select, update

from apportion.books import record
from apportion.books.audit import note, user
from apportion.books.database import reading, writing
from apportion.books.doors import teams_text
from apportion.books.failures import spoken
from apportion.books.hooks import GIVEN_UP, Telling, read_hooks

WITH = "with "  # begins the answer of a message that went out in another's digest


@dataclass(frozen=True, slots=True)
class Wish:
    """What a channel wants to be told of. `teams` None is all of them."""

    id: str
    events: tuple[str, ...]
    teams: frozenset[str] | None


class Channels:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def enrol(self, wanted: Sequence[Wish]) -> None:
        """From now on these are told, and no others. What is as it was is not written again."""
        with spoken(), reading(self.engine) as connection:
            if live(connection) == {wish.id: wish for wish in wanted}:
                return
        with spoken(), writing(self.engine) as connection:
            known = live(connection)
            for wish in wanted:
                if known.pop(wish.id, None) != wish:
                    keep(connection, wish)
            for name in sorted(known):
                end(connection, name)

    def waiting(self, name: str, most: int) -> list[Telling]:
        """The oldest that a channel was not told yet, due or not."""
        table = record.tellings
        mine = select(table).where(table.c.hook == name, table.c.done_s == 0).order_by(table.c.seq).limit(most)
        with spoken(), reading(self.engine) as connection:
            return [Telling(**row) for row in connection.execute(mine).mappings()]

    def sent(self, name: str, since_s: int) -> int:
        """How many messages went out since then; a digest is one."""
        table = record.tellings
        told = select(func.count()).where(table.c.hook == name, table.c.done_s > since_s)
        alone = told.where(table.c.answer.not_like(f"{WITH}%"), table.c.answer.not_like(f"{GIVEN_UP}%"))
        with spoken(), reading(self.engine) as connection:
            return int(connection.scalar(alone) or 0)

    def mark(self, told: Sequence[tuple[int, str]], *, done_s: int = 0, due_s: int = 0) -> None:
        """Numbers and answers of messages that are told, or given up, or due again."""
        table = record.tellings
        values = {"done_s": done_s, **({"due_s": due_s} if due_s else {})}
        with spoken(), writing(self.engine) as connection:
            for seq, answer in told:
                row = update(table).where(table.c.seq == seq, table.c.done_s == 0)
                connection.execute(row.values(tries=table.c.tries + 1, answer=answer, **values))

    def tried(self, name: str, answer: str) -> None:
        with spoken(), writing(self.engine) as connection:
            note(connection, "notify test", f"{name}: {answer}")


def live(connection: Connection) -> dict[str, Wish]:
    hooks = [hook for hook in read_hooks(connection) if hook.is_channel and hook.is_live]
    return {hook.id: Wish(hook.id, hook.events, hook.teams) for hook in hooks}


def keep(connection: Connection, wish: Wish) -> None:
    table, said = record.hooks, {"events": json.dumps(list(wish.events)), "teams": teams_text(wish.teams), "ended_s": 0}
    if connection.execute(update(table).where(table.c.id == wish.id).values(**said)).rowcount == 0:
        row = {"id": wish.id, "url": "", "secret": "", "who": user(), "made_s": int(time.time())}
        connection.execute(insert(table).values(**row, **said))
    note(connection, "notify", f"{wish.id}: {', '.join(wish.events)} of {teams_text(wish.teams)}")


def end(connection: Connection, name: str) -> None:
    """What it was not told yet is not told any more."""
    hooks, table, now = record.hooks, record.tellings, int(time.time())
    connection.execute(update(hooks).where(hooks.c.id == name).values(ended_s=now))
    mine = update(table).where(table.c.hook == name, table.c.done_s == 0)
    connection.execute(mine.values(done_s=now, answer=f"{GIVEN_UP}the channel was taken out of apportion.toml"))
    note(connection, "notify end", name)
