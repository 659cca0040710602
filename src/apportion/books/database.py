"""One SQL database for the catalog and the record: how it is opened, read and written.

SQLite runs with a write-ahead log, `synchronous=FULL` and a 60 s wait for its single writer; a write transaction is BEGIN IMMEDIATE,
because one that reads first and then writes fails at once when another writer came between. PostgreSQL gets the same single
writer from a transaction-level advisory lock, so that both behave alike.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, insert, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from apportion.books.moment import current
from apportion.errors import BooksError, require_equal

BUSY_S = 60
NO_LIMIT = (
    -1
)  # of connections: there are as many as threads that read, and one that waits for another's answer must not starve it
WRITER_KEY = 4_711_208_115_003


def connect(url: str) -> Engine:
    try:
        parsed = make_url(url)
        name = parsed.get_backend_name()
    except ArgumentError as error:
        raise bad_url(url) from error
    if name == "postgresql":
        return connect_postgres(parsed)
    if name != "sqlite" or not parsed.database or parsed.database == ":memory:":
        raise bad_url(url)
    engine = create_engine(parsed, connect_args={"timeout": BUSY_S}, max_overflow=NO_LIMIT)
    event.listen(engine, "connect", prepare_sqlite)
    event.listen(engine, "begin", begin_sqlite)
    return engine


def connect_postgres(url: URL) -> Engine:
    try:
        return create_engine(url, pool_pre_ping=True, max_overflow=NO_LIMIT)
    except ModuleNotFoundError as error:
        message = f"these books are in PostgreSQL, and the Python package that reaches it is not installed ({error})"
        raise BooksError("postgres-missing", message, hint='pip install "apportion[postgres]"') from error


def bad_url(url: str) -> BooksError:
    hint = "use sqlite:///path/books.db or postgresql+psycopg://user@host/database"
    return BooksError("books-url", f"{url!r} names no database that can hold the books", hint=hint)


def sqlite_file(engine: Engine) -> Path | None:
    return Path(engine.url.database or "").absolute() if engine.dialect.name == "sqlite" else None


def prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver would begin by itself, and too late
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA busy_timeout={BUSY_S * 1000}")


def begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("apportion_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One write transaction: all of it or nothing."""
    with engine.execution_options(apportion_write=True).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SET LOCAL lock_timeout = '{BUSY_S}s'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": WRITER_KEY})
        yield connection


def insert_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Values as the driver takes them, amounts as text: SQLAlchemy's care for each one takes longer than the database."""
    statement = insert(table).compile(dialect=connection.dialect, column_keys=columns)
    order = statement.positiontup
    if order is None:
        connection.exec_driver_sql(str(statement), [dict(zip(columns, row, strict=True)) for row in rows])
    else:
        require_equal(f"the order of columns of {table.name}", list(columns), list(order))
        connection.exec_driver_sql(str(statement), list(rows))


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """One consistent view of the record, however many statements it takes; within a moment, the moment's."""
    now = current()
    if now is None:
        with viewing(engine) as connection:
            yield connection
        return
    try:
        yield now.view(engine, lambda: viewing(engine))
    except DBAPIError:
        now.drop()
        raise


def viewing(engine: Engine) -> Connection:
    options = {"isolation_level": "REPEATABLE READ"} if engine.dialect.name == "postgresql" else {}
    return engine.connect().execution_options(**options)
