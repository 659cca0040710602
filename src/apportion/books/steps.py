"""What a migration may do to the record's tables.

It only adds: earlier rows stay as they are, and who still runs the version before goes on reading and writing.

How a table or a column looks is said in `record.py` alone. A step leaves what is there already as it is, so that new books, books from a
copy and earlier books take the same steps and end alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy import Connection, inspect, text
from sqlalchemy.schema import CreateColumn

from apportion.books import record


class Step(Protocol):
    def take(self, connection: Connection) -> None: ...


class Tables:
    """New tables, with their indexes and, where rows are only ever added, their guards."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def take(self, connection: Connection) -> None:
        record.record.create_all(connection, [record.record.tables[name] for name in self.names])


class Columns:
    """New columns of a table that earlier books have: empty, or by their default, in rows that were written before."""

    def __init__(self, table: str, *names: str) -> None:
        self.table, self.names = record.record.tables[table], names

    def take(self, connection: Connection) -> None:
        known = {column["name"] for column in inspect(connection).get_columns(self.table.name)}
        for name in self.names:
            if name not in known:
                column = CreateColumn(self.table.columns[name]).compile(dialect=connection.dialect)
                connection.execute(text(f"ALTER TABLE {self.table.name} ADD COLUMN {column}"))


@dataclass(frozen=True, slots=True)
class Fill:
    """Rows of a new table, made of what earlier books hold."""

    rows: Callable[[Connection], None]

    def take(self, connection: Connection) -> None:
        self.rows(connection)


@dataclass(frozen=True, slots=True)
class Guards:
    """From now on rows of this table are only added."""

    table: str

    def take(self, connection: Connection) -> None:
        for statement in record.guards(record.record.tables[self.table], connection.dialect.name):
            _, _, name, *_ = statement.split()
            end = f" ON {self.table}" if connection.dialect.name == "postgresql" else ""
            connection.execute(text(f"DROP TRIGGER IF EXISTS {name}{end}"))
            connection.execute(text(statement))


@dataclass(frozen=True, slots=True)
class View:
    """What other tools read: a query that both kinds of database understand. A later migration may say it anew."""

    name: str
    query: str

    def take(self, connection: Connection) -> None:
        connection.execute(text(f"DROP VIEW IF EXISTS {self.name}"))
        connection.execute(text(f"CREATE VIEW {self.name} AS {self.query}"))
