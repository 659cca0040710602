"""Where the set-based steps run: an in-memory DuckDB, a calculator over Arrow tables and Parquet files, never a record."""

from dataclasses import dataclass, field
from typing import Any

import ibis
import pyarrow as pa


@ibis.udf.scalar.builtin(name="divide")
def whole_quotient(above: int, below: int) -> int:  # type: ignore[empty-body]  # DuckDB's own
    """Exact and truncating on 64 bits; Ibis's `//` is a division of floats."""


@ibis.udf.scalar.builtin(signature=(("int64",), "decimal(38,0)"))
def exact(number: int) -> int:  # type: ignore[empty-body]  # defined where the connection is made
    """For products and sums beyond 64 bits."""


SMALL = 50_000  # rows: a larger table is read faster by many threads from the database than by one from Arrow


@dataclass(slots=True)
class Backend:
    """An Ibis connection and the names of the small tables that a plan lends it."""

    connection: Any
    name: str = "duckdb"
    tables: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)

    def lend(self, table: pa.Table) -> Any:
        """A small table (a dictionary, a grid) for the next joins."""
        if len(table) > SMALL:
            return self.keep(table)
        self.views.append(f"lent_{len(self.views)}")
        self.connection.con.register(self.views[-1], table)
        return self.connection.table(self.views[-1])

    def keep(self, rows: Any) -> Any:
        """The result of an expression, computed once for the steps that read it again."""
        self.tables.append(f"kept_{len(self.tables)}")
        return self.connection.create_table(self.tables[-1], rows, temp=True)

    def forget(self) -> None:
        """Give back the memory of all that was lent and kept: for those who make many plans on one connection."""
        while self.tables:
            self.connection.drop_table(self.tables.pop())
        while self.views:
            self.connection.con.unregister(self.views.pop())

    def read(self, files: list[str]) -> Any:
        return self.connection.read_parquet(files)


def connect_duckdb(*, threads: int | None = None, memory: str | None = None, spill: str | None = None) -> Backend:
    """Joins are made as they are written, the many rows first: guesses of sizes would turn some of them around, which costs ten times as much."""
    connection = ibis.duckdb.connect()
    as_written = "join_order,build_side_probe_side"
    settings = {
        "preserve_insertion_order": False,
        "disabled_optimizers": as_written,
        "threads": threads,
        "memory_limit": memory,
        "temp_directory": spill,
    }
    for key, value in settings.items():
        if value is not None:
            text = str(value).replace("'", "''")
            connection.raw_sql(f"set {key} = '{text}'")
    connection.raw_sql(
        "create or replace temp macro exact(number) as number::hugeint"
    )  # half the time of 38-digit decimals
    return Backend(connection)
