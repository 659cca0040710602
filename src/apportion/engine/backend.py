"""Where the set-based steps run, and the few words that each engine is taught at the start so that one expression serves them all."""

from typing import Any, NamedTuple, Protocol

import ibis
import pyarrow as pa


@ibis.udf.scalar.builtin(name="divide")
def whole_quotient(above: int, below: int) -> int:  # type: ignore[empty-body]  # DuckDB's own; Spark is taught it
    """Exact and truncating on 64 bits; Ibis's `//` is a division of floats."""


@ibis.udf.scalar.builtin(signature=(("int64",), "decimal(38,0)"))
def exact(number: int) -> int:  # type: ignore[empty-body]  # each backend defines it
    """For products beyond 64 bits."""


@ibis.udf.scalar.builtin(signature=(("int64",), "decimal(38,0)"))
def summand(number: int) -> int:  # type: ignore[empty-body]  # each backend defines it
    """For sums beyond 64 bits of numbers inside them. DuckDB adds up in 128 bits by itself."""


ENDS = "apportion_both_ends"  # a table that each backend brings along
SIGNS = pa.table({"sign": pa.array([1, -1], pa.int64())})


def both_ends(rows: Any) -> Any:
    """1 and -1, where `rows` are: what every row meets that counts where it starts and where it ends."""
    return rows.get_backend().table(ENDS)


class Engine(NamedTuple):
    """What computed a plan. `stages` are those that a cluster completed for it; DuckDB has none."""

    name: str
    version: str
    stages: int | None = None


class Backend(Protocol):
    """A calculator over Arrow tables and Parquet files, never a record. It hands out Ibis tables; they live until it is told to forget."""

    @property
    def engine(self) -> Engine:
        """What has computed so far."""
        ...

    def lend(self, table: pa.Table, *, often: bool = False) -> Any:
        """A small table (a dictionary, a grid) for the next joins. `often`: every row of the usage meets it."""
        ...

    def keep(self, rows: Any) -> Any:
        """The result of an expression, computed once for the steps that read it again."""
        ...

    def read(self, files: list[str]) -> Any:
        """Parquet files as one table; a column that some of them lack is empty there."""
        ...

    def forget(self) -> None:
        """Give back the memory of all that was lent and kept: for those who make many plans on one connection."""
        ...
