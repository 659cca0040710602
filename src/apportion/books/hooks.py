"""Who is told of what, and what is still to be told: an outbox, written in the transaction that makes the news.

A secret must be usable to sign, so it lies here as it is; it is shown once, and is in no listing, log or backup.
"""

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Engine, Row, insert, select, update

from apportion.books import record
from apportion.books.audit import note, user
from apportion.books.database import reading, writing
from apportion.books.doors import teams_of, teams_text
from apportion.books.failures import spoken
from apportion.errors import BooksError
from apportion.model.times import instant_text

EVENTS = (
    "period.closed",
    "statement.issued",
    "quota.reached",
    "budget.reached",
    "anomaly.found",
    "policy.changed",
    "data.late",
    "data.health",
)
SECRET_BYTES, ID_BYTES = 32, 6
GIVEN_UP = "given up: "
CHANNEL = "notify:"  # begins the name of a hook that is a channel of apportion.toml


@dataclass(frozen=True, slots=True)
class Hook:
    """`teams` None is all of them. Without a secret (in books from a backup) it is told nothing until it has a new one."""

    id: str
    url: str = field(repr=False)  # its path is often a secret too
    events: tuple[str, ...]
    teams: frozenset[str] | None
    who: str
    made_s: int
    ended_s: int
    has_secret: bool

    @property
    def place(self) -> str:
        """Where it goes, without what could be secret."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}" + (
            "/..." if parts.path.strip("/") else ""
        )

    @property
    def is_live(self) -> bool:
        return not self.ended_s

    @property
    def is_channel(self) -> bool:
        """It stands in apportion.toml, with where it leads; here is only what it is told of."""
        return self.id.startswith(CHANNEL)

    def sees(self, team: str) -> bool:
        return self.teams is None or team in self.teams


@dataclass(frozen=True, slots=True)
class Telling:
    """One message to one hook. `answer` is the last status line, or why there was none."""

    seq: int
    hook: str
    event: str
    about: str
    body: str
    made_s: int
    due_s: int
    tries: int
    done_s: int
    answer: str

    @property
    def state(self) -> str:
        return ("given up" if self.answer.startswith(GIVEN_UP) else "told") if self.done_s else "waiting"


@dataclass(frozen=True, slots=True)
class News:
    """What happened, once per `about`. `team`: whose it is, where it is one team's. Of `teams` a hook gets its own, of `whole` only one of all teams.

    `of_all`: it is no single team's, and nothing for a hook of some.
    """

    event: str
    about: str
    body: Mapping[str, Any]
    team: str = ""
    teams: Sequence[Mapping[str, Any]] = ()
    whole: Mapping[str, Any] = field(default_factory=dict)
    of_all: bool = False

    def is_for(self, hook: Hook) -> bool:
        if not hook.is_live or self.event not in hook.events:
            return False
        return hook.teams is None or (not self.of_all and (not self.team or hook.sees(self.team)))

    def for_hook(self, hook: Hook, at_s: int) -> str:
        own = {"teams": [row for row in self.teams if hook.sees(row["team"])]} if self.teams else {}
        said = {"id": f"{self.event} {self.about}", "event": self.event, "at": instant_text(at_s), **self.body, **own}
        return json.dumps({**said, **(self.whole if hook.teams is None else {})}, sort_keys=True, ensure_ascii=False)


def tell(connection: Connection, news: News) -> int:
    """Part of the transaction that makes the news: a row for each hook that wants it and may know, once. Tells how many there are."""
    table, now, told = record.tellings, int(time.time()), 0
    for hook in read_hooks(connection):
        if not news.is_for(hook):
            continue
        same = (table.c.hook == hook.id) & (table.c.event == news.event) & (table.c.about == news.about)
        if connection.execute(select(table.c.seq).where(same)).first():
            continue
        row = {
            "hook": hook.id,
            "event": news.event,
            "about": news.about,
            "body": news.for_hook(hook, now),
            "made_s": now,
            "due_s": now,
        }
        connection.execute(insert(table).values(**row, tries=0, done_s=0, answer=""))
        told += 1
    return told


def read_hooks(connection: Connection) -> list[Hook]:
    table = record.hooks
    return [hook_of(row) for row in connection.execute(select(table).order_by(table.c.made_s, table.c.id))]


def hook_of(row: Row[Any]) -> Hook:
    return Hook(
        row.id,
        row.url,
        tuple(json.loads(row.events)),
        teams_of(row.teams),
        row.who,
        row.made_s,
        row.ended_s,
        bool(row.secret),
    )


class Hooks:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add(self, url: str, events: Sequence[str], teams: frozenset[str] | None) -> tuple[Hook, str]:
        """And its secret, shown once."""
        secret, name = new_secret(), secrets.token_hex(ID_BYTES)
        row = {"id": name, "url": url, "secret": secret, "events": json.dumps(list(events)), "teams": teams_text(teams)}
        with spoken(), writing(self.engine) as connection:
            connection.execute(insert(record.hooks).values(**row, who=user(), made_s=int(time.time()), ended_s=0))
            made = find(connection, name)
            note(connection, "webhook", f"{name} to {made.place}: {', '.join(events)} of {teams_text(teams)}")
        return made, secret

    def renew(self, name: str) -> str:
        """Another secret; the one before is good for nothing from now on."""
        secret = new_secret()
        with spoken(), writing(self.engine) as connection:
            live(connection, name)
            connection.execute(update(record.hooks).where(record.hooks.c.id == name).values(secret=secret))
            note(connection, "webhook secret", name)
        return secret

    def end(self, name: str) -> Hook:
        """What was not told yet is not told any more."""
        with spoken(), writing(self.engine) as connection:
            live(connection, name)
            connection.execute(
                update(record.hooks)
                .where(record.hooks.c.id == name)
                .values(ended_s=int(time.time()), secret="", url="")
            )
            note(connection, "webhook end", name)
            return find(connection, name)

    def tried(self, name: str, answer: str) -> None:
        with spoken(), writing(self.engine) as connection:
            note(connection, "webhook test", f"{name}: {answer}")

    def all(self) -> list[Hook]:
        """Without the channels of apportion.toml."""
        with spoken(), reading(self.engine) as connection:
            return [hook for hook in read_hooks(connection) if not hook.is_channel]

    def told(self) -> list[Hook]:
        """All that are told something, webhooks and channels."""
        with spoken(), reading(self.engine) as connection:
            return [hook for hook in read_hooks(connection) if hook.is_live]

    def find(self, name: str) -> Hook:
        with spoken(), reading(self.engine) as connection:
            return find(connection, name)

    def secret_of(self, name: str) -> str:
        """For signing alone."""
        with spoken(), reading(self.engine) as connection:
            return str(connection.scalar(select(record.hooks.c.secret).where(record.hooks.c.id == name)) or "")

    def tell(self, news: Sequence[News]) -> int:
        """What is noticed rather than done."""
        with spoken(), writing(self.engine) as connection:
            return sum(tell(connection, one) for one in news)

    def tellings(self, name: str = "") -> list[Telling]:
        """Oldest first."""
        table = record.tellings
        query = select(table).order_by(table.c.seq)
        with spoken(), reading(self.engine) as connection:
            rows = connection.execute(query.where(table.c.hook == name) if name else query).mappings()
            return [Telling(**row) for row in rows]

    def next_for(self, name: str) -> Telling | None:
        """The oldest that a hook was not told yet, due or not: what comes later waits for it."""
        table = record.tellings
        mine = select(table).where(table.c.hook == name, table.c.done_s == 0).order_by(table.c.seq).limit(1)
        with spoken(), reading(self.engine) as connection:
            row = connection.execute(mine).mappings().first()
        return Telling(**row) if row else None

    def mark(self, seq: int, answer: str, *, due_s: int = 0) -> None:
        """Told, or given up, unless it is due again."""
        table = record.tellings
        done = 0 if due_s else int(time.time())
        values = {"tries": table.c.tries + 1, "answer": answer, "done_s": done, **({"due_s": due_s} if due_s else {})}
        with spoken(), writing(self.engine) as connection:
            connection.execute(update(table).where(table.c.seq == seq, table.c.done_s == 0).values(**values))


def new_secret() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def find(connection: Connection, name: str) -> Hook:
    row = connection.execute(select(record.hooks).where(record.hooks.c.id == name)).first()
    if row is None or name.startswith(CHANNEL):
        raise BooksError(
            "unknown-webhook", f"there is no webhook {name!r}", hint="`apportion webhooks list` names them"
        )
    return hook_of(row)


def live(connection: Connection, name: str) -> Hook:
    found = find(connection, name)
    if not found.is_live:
        raise BooksError("webhook-ended", f"webhook {name} was ended", hint="add another with `apportion webhooks add`")
    return found
