"""The views in the database: made, taken away, and given to those who only read them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, insert, inspect, select, text

from apportion.books import record
from apportion.books.audit import note
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.books.views.dialects import Postgres, Sqlite, Words
from apportion.books.views.queries import queries
from apportion.books.views.shapes import VERSION, VIEWS, View
from apportion.errors import BooksError

KEPT = "views"  # of the record's `meta`: which version was made
DIALECTS: dict[str, Words] = {"sqlite": Sqlite(), "postgresql": Postgres()}


@dataclass(frozen=True, slots=True)
class Made:
    """`version` is that of the views in the database; 0 where there are none."""

    version: int
    names: tuple[str, ...]


class Views:
    shapes = VIEWS

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def there(self) -> Made:
        with spoken(), reading(self.engine) as connection:
            return found(connection)

    def create(self) -> Made:
        """Made anew in place: who was granted them keeps them. All of them or none."""
        with spoken(), writing(self.engine) as connection:
            before = found(connection)
            for statement in statements(self.engine.dialect.name):
                connection.execute(text(statement))
            keep(connection, str(VERSION))
            made = found(connection)
            if made != before:
                note(connection, "views", f"version {VERSION}: {', '.join(made.names)}")
        return made

    def drop(self) -> Made:
        """With what was granted of them. Nothing else goes: a tool's own view over one of them is an error."""
        with spoken(), writing(self.engine) as connection:
            gone = found(connection)
            for name in reversed(gone.names):
                connection.execute(text(f"DROP VIEW {name}"))
            keep(connection, "")
            if gone.names:
                note(connection, "views", f"dropped: {', '.join(gone.names)}")
        return gone

    def grant(self, role: str, *, names: bool) -> tuple[str, ...]:
        """To a role that is there: the views, and with `names` the one that tells of people. Tables stay closed to it."""
        given = tuple(view.name for view in VIEWS if names or not view.personal)
        with spoken(), writing(self.engine) as connection:
            check_role(connection, role)
            if found(connection).version != VERSION:
                raise BooksError("no-views", "the views are not made", hint="apportion views")
            quoted = connection.dialect.identifier_preparer.quote_identifier(role)
            for view in VIEWS:
                connection.execute(text(f"REVOKE ALL ON {view.name} FROM {quoted}"))
            connection.execute(text(f"GRANT SELECT ON {', '.join(given)} TO {quoted}"))
            schema = connection.scalar(text("SELECT current_schema()"))
            connection.execute(
                text(
                    f"GRANT USAGE ON SCHEMA {connection.dialect.identifier_preparer.quote_identifier(str(schema))} TO {quoted}"
                )
            )
            note(connection, "views", f"granted to {role}: {', '.join(given)}")
        return given


def statements(dialect: str) -> Iterator[str]:
    """On PostgreSQL a view is replaced, which keeps what was granted of it, and says what it is; SQLite knows neither."""
    made = queries(DIALECTS[dialect])
    for view in VIEWS:
        if dialect == "sqlite":
            yield f"DROP VIEW IF EXISTS {view.name}"
            yield f"CREATE VIEW {view.name} AS {made[view.name]}"
        else:
            yield f"CREATE OR REPLACE VIEW {view.name} AS {made[view.name]}"
            yield from comments(view)


def comments(view: View) -> Iterator[str]:
    yield f"COMMENT ON VIEW {view.name} IS {literal(f'{view.about} (version {VERSION})')}"
    for column in view.columns:
        yield f"COMMENT ON COLUMN {view.name}.{column.name} IS {literal(column.meaning)}"


def literal(words: str) -> str:
    """A text in SQL; no colon of it is a parameter."""
    return "'" + re.sub(r"(?=:)", r"\\", words.replace("'", "''")) + "'"


def found(connection: Connection) -> Made:
    there = set(inspect(connection).get_view_names())
    names = tuple(view.name for view in VIEWS if view.name in there)
    version = connection.scalar(select(record.meta.c.value).where(record.meta.c.key == KEPT))
    return Made(int(version or 0) if names else 0, names)


def keep(connection: Connection, version: str) -> None:
    connection.execute(delete(record.meta).where(record.meta.c.key == KEPT))
    if version:
        connection.execute(insert(record.meta).values(key=KEPT, value=version))


def check_role(connection: Connection, role: str) -> None:
    if connection.dialect.name != "postgresql":
        raise BooksError(
            "no-roles",
            "SQLite has no roles: who can read the file can read all of it",
            hint="keep the books in PostgreSQL, or hand out a file that `apportion export` made",
        )
    if not connection.scalar(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": role}):
        raise BooksError(
            "unknown-role",
            f"the database has no role {role!r}",
            hint=f"make it first, as in psql: CREATE ROLE {role} LOGIN",
        )
