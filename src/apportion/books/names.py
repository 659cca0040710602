"""Users by a token: what is hashed holds no name, so a name can be taken out later and every link and sum stays.

A token is a keyed hash of the name. The table `names` says, for each month, whose it is; everybody above the books sees names. Once a month's
rows are gone, its tokens are all that is left: pseudonyms that stay apart and stay the same. The key is the project's and is not in the books,
which hold only enough of it to refuse another.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, delete, func, insert, select

from apportion.books import record
from apportion.books.chain import TOKENS
from apportion.books.shapes import Damage
from apportion.errors import BooksError, require_equal
from apportion.model.rows import TEXT

TOKEN = re.compile(r"user-[0-9a-f]{16}")
KEY_PRINT = "names key"  # of the record's `meta`
APART = "\x1f"
AT_ONCE = 5000
Known = Mapping[str, str]  # names by their tokens


@dataclass(frozen=True)
class Names:
    """`key` is the project's. Without one, tokens are the same everywhere, and whoever guesses a name can see whether it is the right one."""

    key: bytes = b""

    def token(self, name: str) -> str:
        """A token stands for itself: evidence may hold them in place of names."""
        if not name or TOKEN.fullmatch(name):
            return name
        return f"user-{hmac.new(self.key, name.encode(), hashlib.sha256).hexdigest()[:16]}"

    @cached_property
    def print(self) -> str:
        return hmac.new(self.key, b"apportion names key", hashlib.sha256).hexdigest()[:16]

    def hidden(self, rows: pa.Table) -> tuple[pa.Table, Known]:
        """The rows with tokens in place of users, each worked out once, and whose they are."""
        given = pc.unique(rows["user"]).drop_null()
        tokens = {name: self.token(name) for name in given.to_pylist()}
        users = pa.array(list(tokens.values()), TEXT).take(pc.index_in(rows["user"], value_set=given))
        known = {token: name for name, token in tokens.items() if name != token}
        place = rows.schema.get_field_index("user")
        return rows.set_column(place, rows.schema.field(place), users), known

    def learn(self, connection: Connection, month: str, known: Known) -> None:
        """Part of the transaction that writes the tokens. What was erased is not learned again."""
        if not known:
            return
        self.keep_key(connection)
        there = whose(connection, month)
        for token in known.keys() & there.keys():
            require_equal(f"the name behind {token}", there[token], known[token])
        gone = erased(connection, month, known)
        new = sorted(known.keys() - there.keys() - gone)
        rows = [{"period": month, "token": token, "name": known[token], "key": self.print} for token in new]
        for start in range(0, len(rows), AT_ONCE):
            connection.execute(insert(record.names), rows[start : start + AT_ONCE])

    def keep_key(self, connection: Connection) -> None:
        self.check_key(connection)
        if key_print(connection) is None:
            connection.execute(insert(record.meta).values(key=KEY_PRINT, value=self.print))

    def check_key(self, connection: Connection) -> None:
        """Under two keys one user would have two tokens."""
        if key_print(connection) not in (None, self.print):
            raise BooksError(
                "wrong-names-key",
                "the key of names is not the one that these books were written with",
                hint="put names.key back from where these books were written before; if it is lost: apportion erase --new-key",
            )

    def renew_key(self, connection: Connection) -> None:
        """From now on users have other tokens; those that they have keep their names."""
        connection.execute(delete(record.meta).where(record.meta.c.key == KEY_PRINT))
        self.keep_key(connection)


def key_print(connection: Connection) -> str | None:
    return connection.scalar(select(record.meta.c.value).where(record.meta.c.key == KEY_PRINT))


def whose(connection: Connection, month: str) -> dict[str, str]:
    table = record.names
    rows = connection.execute(select(table.c.token, table.c.name).where(table.c.period == month))
    return {row.token: row.name for row in rows}


def erased(connection: Connection, month: str, tokens: Known) -> set[str]:
    """Those whose names were taken out of a month."""
    table = record.erasures
    rows = list(connection.scalars(select(table.c.token).where(table.c.before > month)))
    return set(tokens) if "" in rows else set(rows) & set(tokens)


def shown(connection: Connection, rows: pa.Table, months: "str | pa.ChunkedArray") -> pa.Table:
    """The rows with names in place of tokens, where they are known. `months` are those that the rows are about: one, or one for each row."""
    if not rows.num_rows:
        return rows
    users, table = rows["user"], record.names
    if isinstance(months, str):
        known = list(whose(connection, months).items())
        given = users
    else:
        some = pc.unique(months).to_pylist()
        found = connection.execute(select(table).where(table.c.period.in_(some))).all()
        known = [(row.period + APART + row.token, row.name) for row in found]
        given = pc.binary_join_element_wise(months.cast(TEXT), users, APART)
    if not known:
        return rows
    tokens, names = (pa.array(column, TEXT) for column in zip(*known, strict=True))
    named = names.take(pc.index_in(given, value_set=tokens))
    place = rows.schema.get_field_index("user")
    return rows.set_column(place, rows.schema.field(place), pc.coalesce(named, users))


def shown_text(text: str, known: Known) -> str:
    """A text in JSON with names in place of tokens, where they are known."""
    return TOKEN.sub(lambda found: json.dumps(known.get(found[0], found[0]), ensure_ascii=False)[1:-1], text)


def tokens_of(connection: Connection, names: list[str]) -> list[str]:
    """What stands in the ledger for these names: their tokens, and the names themselves in what was posted before there were tokens."""
    table = record.names
    return [*names, *connection.scalars(select(table.c.token).where(table.c.name.in_(names)).distinct())]


def check_names(connection: Connection, names: Names) -> Iterator[Damage]:
    """Every name is the one that its token was made of, as far as its key is still there, and none is missing that was not erased."""
    known = key_print(connection)
    if known is not None and known != names.print:
        yield Damage("names-unchecked", "names", "the key of names is not the one of these books")
        return
    there = set()
    for row in connection.execute(select(record.names)):
        there.add((row.period, row.token))
        if row.key == names.print and names.token(row.name) != row.token:
            yield Damage(
                "name-changed", f"{row.token} of {row.period}", "it stands for another name than it was made of"
            )
    gone = [(row.before, row.token) for row in connection.execute(select(record.erasures))]
    for row in posted_tokens(connection):
        covered = any(row.month < before and token in ("", row.user) for before, token in gone)
        if (row.month, row.user) not in there and not covered:
            yield Damage("name-changed", f"{row.user} of {row.month}", "its name is missing and was not erased")


def posted_tokens(connection: Connection) -> list[Any]:
    """Each user of each month that runs with tokens are about."""
    entries, runs = record.entries, record.runs
    month = func.coalesce(func.nullif(runs.c.about, ""), runs.c.period).label("month")
    both = select(month, entries.c.user).join(runs, runs.c.run_id == entries.c.run_id)
    return list(connection.execute(both.where(runs.c.rule == TOKENS, entries.c.user != "").distinct()).all())
