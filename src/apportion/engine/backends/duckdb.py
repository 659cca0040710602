"""DuckDB in this process and in memory; what exceeds the memory it may use goes to a spill folder and is removed with the connection."""

from dataclasses import dataclass, field
from typing import Any

import ibis
import pyarrow as pa

from apportion.engine.backend import ENDS, SIGNS, Engine

SMALL = 50_000  # rows: a larger table is read faster by many threads from the database than by one from Arrow
WORDS = {
    "exact(number)": "number::hugeint",  # half the time of 38-digit decimals
    "summand(number)": "number",
}
AS_WRITTEN = "join_order,build_side_probe_side"


@dataclass(slots=True)
class DuckDB:
    """An Ibis connection and the names of the tables that a plan lends it."""

    connection: Any
    tables: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=list)

    @property
    def engine(self) -> Engine:
        return Engine("duckdb", str(self.connection.version))

    def lend(self, table: pa.Table, *, often: bool = False) -> Any:
        """Of its own tables DuckDB knows the bounds: what is summed by their numbers is summed faster. Arrow's are there sooner."""
        if often or len(table) > SMALL:
            return self.keep(table)
        self.views.append(f"lent_{len(self.views)}")
        self.connection.con.register(self.views[-1], table)
        return self.connection.table(self.views[-1])

    def keep(self, rows: Any) -> Any:
        self.tables.append(f"kept_{len(self.tables)}")
        return self.connection.create_table(self.tables[-1], rows, temp=True)

    def read(self, files: list[str]) -> Any:
        return self.connection.read_parquet(files)

    def forget(self) -> None:
        while self.tables:
            self.connection.drop_table(self.tables.pop())
        while self.views:
            self.connection.con.unregister(self.views.pop())


def connect_duckdb(*, threads: int | None = None, memory: str | None = None, spill: str | None = None) -> DuckDB:
    """Joins are made as they are written, the many rows first: guesses of sizes would turn some of them around, which costs ten times as much."""
    connection = ibis.duckdb.connect()
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
    connection.create_table(ENDS, SIGNS, temp=True)
    return DuckDB(connection)
