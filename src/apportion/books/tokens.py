"""Tokens for programs: shown once to whoever made them and kept as their hash. A token never does more than its owner may when it is used."""

import json
import secrets
import time
from dataclasses import dataclass

from sqlalchemy import Engine, Row, insert, select, update

from apportion.books import record
from apportion.books.audit import note
from apportion.books.database import reading, writing
from apportion.books.doors import KEY_BYTES, Person, hashed, teams_of, teams_text
from apportion.books.failures import spoken
from apportion.errors import BooksError

PREFIX = "apportion_"  # what scanners for secrets look for
DAY_S = 86_400
LONGEST_S = 366 * DAY_S
TOUCH_S = 60  # the last use is noted this often at most
BY = "token"


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token is to be: a name for it, whose it is and what it may; `teams` None is all of them."""

    label: str
    owner: str
    role: str
    teams: frozenset[str] | None
    deeds: frozenset[str]
    lasts_s: int


@dataclass(frozen=True, slots=True)
class Token:
    """`used_s` and `revoked_s` are 0 until they happen."""

    id: str
    label: str
    owner: str
    role: str
    teams: frozenset[str] | None
    deeds: frozenset[str]
    made_s: int
    until_s: int
    used_s: int
    revoked_s: int

    def is_good(self, now_s: int) -> bool:
        return not self.revoked_s and now_s < self.until_s


class Tokens:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def make(self, grant: Grant) -> tuple[Token, str]:
        """The token, and its key, which is shown this once."""
        if not grant.label.strip():
            raise BooksError(
                "token-label", "a token needs a label", hint="say what it is for, such as `nightly export`"
            )
        if not 0 < grant.lasts_s <= LONGEST_S:
            raise BooksError(
                "token-expiry",
                f"a token lasts from 1 to {LONGEST_S // DAY_S} days",
                hint="make a new one before it ends",
            )
        key, now = PREFIX + secrets.token_urlsafe(KEY_BYTES), int(time.time())
        known = (secrets.token_hex(5), grant.label.strip(), grant.owner, grant.role, grant.teams, grant.deeds)
        made = Token(*known, made_s=now, until_s=now + grant.lasts_s, used_s=0, revoked_s=0)
        with spoken(), writing(self.engine) as connection:
            connection.execute(insert(record.tokens).values(**row_of(made), sha256=hashed(key)))
            note(connection, "token", f"{made.id} {made.label!r} of {made.owner} as {made.role}: {deeds_text(made)}")
        return made, key

    def known(self, key: str) -> tuple[Token, Person | None] | None:
        """The token of a key, and its owner as they last logged in, if they ever did. None where it is not good."""
        table, logins = record.tokens, record.logins
        with spoken(), reading(self.engine) as connection:
            row = connection.execute(select(table).where(table.c.sha256 == hashed(key))).first()
            if row is None or not (token := token_of(row)).is_good(int(time.time())):
                return None
            owner = connection.execute(select(logins).where(logins.c.name == token.owner)).first()
        return token, Person(owner.name, owner.role, teams_of(owner.teams), owner.by) if owner else None

    def touch(self, token: Token) -> None:
        """Notes that it is used, unless that was noted a moment ago."""
        table, now = record.tokens, int(time.time())
        stale = (table.c.id == token.id) & (table.c.used_s <= now - TOUCH_S)
        with spoken(), writing(self.engine) as connection:
            connection.execute(update(table).where(stale).values(used_s=now))

    def listed(self, owner: str | None = None) -> list[Token]:
        """Newest first; of one owner or all."""
        table = record.tokens
        wanted = select(table).order_by(table.c.made_s.desc(), table.c.id)
        with spoken(), reading(self.engine) as connection:
            rows = connection.execute(wanted if owner is None else wanted.where(table.c.owner == owner))
            return [token_of(row) for row in rows]

    def revoke(self, number: str, owner: str | None = None) -> Token:
        """Of one owner or of anybody; again changes nothing."""
        with spoken(), writing(self.engine) as connection:
            row = connection.execute(select(record.tokens).where(record.tokens.c.id == number)).first()
            if row is None or owner not in (None, row.owner):
                raise BooksError("unknown-token", f"there is no token {number!r}", hint="see `apportion token list`")
            if not row.revoked_s:
                change = update(record.tokens).where(record.tokens.c.id == number)
                connection.execute(change.values(revoked_s=int(time.time())))
                note(connection, "token revoked", f"{row.id} {row.label!r} of {row.owner}")
        return token_of(row)


def deeds_text(token: Token) -> str:
    return ", ".join(sorted(token.deeds))


def row_of(token: Token) -> dict[str, object]:
    named = ("id", "label", "owner", "role", "made_s", "until_s", "used_s", "revoked_s")
    plain = {name: getattr(token, name) for name in named}
    return {**plain, "teams": teams_text(token.teams), "deeds": json.dumps(sorted(token.deeds))}


def token_of(row: "Row[tuple[object, ...]]") -> Token:
    return Token(
        row.id, row.label, row.owner, row.role, teams_of(row.teams), frozenset(json.loads(row.deeds)),
        row.made_s, row.until_s, row.used_s, row.revoked_s,
    )  # fmt: skip
