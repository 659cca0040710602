"""DuckDB in this process and in memory; what exceeds the memory it may use goes to a spill folder and is removed with the connection."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ibis.expr.operations as ops
import pyarrow as pa
from duckdb import InvalidInputException
from ibis.backends.duckdb import Backend as IbisDuckDB
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler

from apportion.engine.backend import ENDS, SIGNS, Engine

SMALL = 50_000  # rows: a larger table is read faster by many threads from the database than by one from Arrow
WORDS = {
    "exact(number)": "number::hugeint",  # half the time of 38-digit decimals
    "summand(number)": "number",
}
AS_WRITTEN = "join_order,build_side_probe_side"


class Compiler(DuckDBCompiler):  # type: ignore[misc]  # Ibis ships no types
    """Ibis's own, without the search of every expression for words that the engine does not use."""

    lowered_ops: Mapping[Any, Any] = {}


class Connection(IbisDuckDB):  # type: ignore[misc]  # Ibis ships no types
    """Ibis's own, which knows the columns of what it is lent and what it keeps, and need not look for them before each question."""

    compiler = Compiler()
    ends: Any

    def _run_pre_execute_hooks(self, expr: Any) -> None:
        """No expression brings functions or tables of its own."""

    def table(self, name: str, /, *, database: Any = None) -> Any:
        return self.ends if name == ENDS else super().table(name, database=database)

    def named(self, name: str, schema: Any, *place: str) -> Any:
        catalog, database = place or (None, None)
        namespace = ops.Namespace(catalog=catalog, database=database)
        return ops.DatabaseTable(name, schema=schema, source=self, namespace=namespace).to_expr()

    def keep(self, name: str, rows: Any) -> Any:
        schema = rows.schema()
        self.con.execute(f"create temp table {name} ({columns_of(schema)})")
        self.con.execute(f"insert into {name} {self.compile(rows)}")
        return self.named(name, schema, "temp", "main")


@cache
def columns_of(schema: Any) -> str:
    """As a table is made with them; of the types that Ibis reckons with, where DuckDB would take wider ones."""
    return ", ".join(column.sql("duckdb") for column in schema.to_sqlglot_column_defs("duckdb"))


@dataclass(slots=True)
class DuckDB:
    """An Ibis connection and the names of the tables that a plan lends it."""

    connection: Any
    tables: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)
    schemas: dict[pa.Schema, Any] = field(default_factory=dict)  # of views, as DuckDB names their types

    @property
    def engine(self) -> Engine:
        return Engine("duckdb", str(self.connection.version))

    def lend(self, table: pa.Table, *, often: bool = False) -> Any:
        """Of its own tables DuckDB knows the bounds: what is summed by their numbers is summed faster. Arrow's are there sooner."""
        if often or len(table) > SMALL:
            return self.keep(self.see(table))
        return self.see(table)

    def see(self, table: pa.Table) -> Any:
        self.views.append(f"lent_{len(self.views)}")
        self.connection.con.register(self.views[-1], table)
        if table.schema not in self.schemas:
            self.schemas[table.schema] = self.connection.get_schema(self.views[-1])
        return self.connection.named(self.views[-1], self.schemas[table.schema])

    def keep(self, rows: Any) -> Any:
        self.tables.append(f"kept_{len(self.tables)}")
        return self.connection.keep(self.tables[-1], rows)

    def read(self, files: list[str]) -> Any:
        return self.connection.read_parquet(files, union_by_name=True)

    def forget(self) -> None:
        while self.tables:
            self.connection.con.execute(f"drop table {self.tables.pop()}")
        while self.views:
            self.connection.con.unregister(self.views.pop())


def connect_duckdb(*, threads: int | None = None, memory: str | None = None, spill: str | None = None) -> DuckDB:
    """Joins are made as they are written, the many rows first: guesses of sizes would turn some of them around, which costs ten times as much."""
    connection = Connection()
    connection.do_connect()
    with suppress(InvalidInputException):  # a notebook that cannot draw one has none, and DuckDB refuses to hear of it
        connection.raw_sql(
            "set enable_progress_bar = false"
        )  # it would be printed among what we print, where Python has no main file
    settings = {
        "preserve_insertion_order": False,
        "disabled_optimizers": AS_WRITTEN,
        "threads": threads,
        "memory_limit": memory,
        "temp_directory": spill,
    }
    for key, value in settings.items():
        if value is not None:
            text = str(value).replace("'", "''")
            connection.raw_sql(f"set {key} = '{text}'")
    for word, meaning in WORDS.items():
        connection.raw_sql(f"create or replace temp macro {word} as {meaning}")
    made = DuckDB(connection)
    connection.ends = connection.keep(ENDS, made.see(SIGNS))
    return made
