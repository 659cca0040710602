"""Who may come in: sessions, one-time tickets and logins. A key is shown to whom it belongs and kept as its hash alone."""

import hashlib
import json
import secrets
import time
from dataclasses import dataclass

from sqlalchemy import Engine, delete, func, insert, select, update

from apportion.books import record
from apportion.books.audit import acting, note
from apportion.books.database import reading, writing
from apportion.books.failures import spoken

KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Person:
    """Who somebody is to the pages: `teams` None is all of them. `by` is how they came in: link, oidc, proxy, token."""

    name: str
    role: str
    teams: frozenset[str] | None
    by: str


@dataclass(frozen=True, slots=True)
class Login:
    person: Person
    first_s: int
    last_s: int
    sessions: int


def hashed(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def teams_text(teams: frozenset[str] | None) -> str:
    return "*" if teams is None else json.dumps(sorted(teams))


def teams_of(text: str) -> frozenset[str] | None:
    return None if text == "*" else frozenset(json.loads(text))


class Doors:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def open_session(self, person: Person, lasts_s: int) -> str:
        """The key of a new session, shown once. Whoever has another role or other teams by now loses the sessions that were opened with those."""
        key, now = secrets.token_urlsafe(KEY_BYTES), int(time.time())
        sessions, logins = record.sessions, record.logins
        told = {"role": person.role, "teams": teams_text(person.teams), "by": person.by}
        with spoken(), acting(person.name), writing(self.engine) as connection:
            other = (sessions.c.role != told["role"]) | (sessions.c.teams != told["teams"])
            over = (sessions.c.until_s < now) | ((sessions.c.name == person.name) & other)
            connection.execute(delete(sessions).where(over))
            row = {"sha256": hashed(key), "name": person.name, **told, "made_s": now, "until_s": now + lasts_s}
            connection.execute(insert(sessions).values(**row))
            known = update(logins).where(logins.c.name == person.name).values(**told, last_s=now)
            if not connection.execute(known).rowcount:
                connection.execute(insert(logins).values(name=person.name, **told, first_s=now, last_s=now))
            note(connection, "login", f"{person.name} by {person.by} as {person.role}")
        return key

    def session(self, key: str) -> Person | None:
        """Whose it is; None once it is over."""
        table = record.sessions
        with spoken(), reading(self.engine) as connection:
            row = connection.execute(select(table).where(table.c.sha256 == hashed(key))).first()
        if row is None or row.until_s <= time.time():
            return None
        return Person(row.name, row.role, teams_of(row.teams), row.by)

    def end_session(self, key: str) -> None:
        mine = record.sessions.c.sha256 == hashed(key)
        with spoken(), writing(self.engine) as connection:
            row = connection.execute(select(record.sessions).where(mine)).first()
            if row is not None:
                connection.execute(delete(record.sessions).where(mine))
                with acting(row.name):
                    note(connection, "logout", row.name)

    def end_sessions_of(self, name: str) -> int:
        """All of one person, and how many they were."""
        table = record.sessions
        with spoken(), writing(self.engine) as connection:
            ended: int = connection.execute(delete(table).where(table.c.name == name)).rowcount
            if ended:
                note(connection, "sessions ended", f"{ended} of {name}")
        return ended

    def logins(self) -> list[Login]:
        """Everybody who ever came in, as they were the last time, and how many of their sessions are open."""
        logins, sessions = record.logins, record.sessions
        with spoken(), reading(self.engine) as connection:
            still = select(sessions.c.name, func.count()).where(sessions.c.until_s > int(time.time()))
            counts = {row[0]: row[1] for row in connection.execute(still.group_by(sessions.c.name))}
            rows = connection.execute(select(logins).order_by(logins.c.last_s.desc(), logins.c.name)).all()
        return [
            Login(
                Person(row.name, row.role, teams_of(row.teams), row.by),
                row.first_s,
                row.last_s,
                counts.get(row.name, 0),
            )
            for row in rows
        ]

    def give_ticket(self, kind: str, value: str, lasts_s: int) -> str:
        """Good once, for what `take_ticket` gives back."""
        key, now = secrets.token_urlsafe(KEY_BYTES), int(time.time())
        with spoken(), writing(self.engine) as connection:
            connection.execute(delete(record.tickets).where(record.tickets.c.until_s < now))
            row = {"sha256": hashed(key), "kind": kind, "value": value, "until_s": now + lasts_s}
            connection.execute(insert(record.tickets).values(**row))
        return key

    def take_ticket(self, kind: str, key: str) -> str | None:
        table = record.tickets
        mine = (table.c.sha256 == hashed(key)) & (table.c.kind == kind)
        with spoken(), writing(self.engine) as connection:
            row = connection.execute(select(table).where(mine)).first()
            connection.execute(delete(table).where(mine))
        return None if row is None or row.until_s < time.time() else str(row.value)
