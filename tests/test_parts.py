"""The calls on which the chosen parts have broken each other. A lock with newer versions fails here, loudly, and not in a plan.

- sqlglot 30.30 writes `DROP VIEW IF EXISTS` without a name: `create_table` from Arrow, `insert` and `drop_table` fail.
- DuckDB 2.0 has no `fetch_arrow_table` and `fetch_record_batch`: `to_pyarrow_batches`, `sql` and the `list_*` calls fail.
"""

from decimal import Decimal
from importlib.metadata import version
from typing import Any

import ibis
import pyarrow as pa
import pytest

ROWS = pa.table({"owner": ["vision", "speech", "vision"], "units": pa.array([3, 5, 7], pa.int64())})


@pytest.fixture
def engine() -> Any:
    return ibis.duckdb.connect()


def test_a_table_is_made_from_arrow_filled_and_dropped(engine: Any) -> None:
    engine.create_table("usage", ROWS)
    engine.insert("usage", ROWS)
    assert engine.table("usage").count().to_pyarrow().as_py() == 6
    engine.drop_table("usage")
    assert "usage" not in engine.list_tables()


def test_a_table_is_replaced(engine: Any) -> None:
    engine.create_table("usage", ROWS)
    engine.create_table("usage", ROWS.slice(0, 1), overwrite=True)
    assert engine.table("usage").to_pyarrow() == ROWS.slice(0, 1)


def test_a_view_is_made_and_dropped(engine: Any) -> None:
    engine.create_table("usage", ROWS)
    engine.create_view("vision", engine.table("usage").filter(lambda usage: usage.owner == "vision"))
    assert engine.table("vision").units.sum().to_pyarrow().as_py() == 10
    engine.drop_view("vision")
    assert engine.list_tables() == ["usage"]


def test_batches_come_back(engine: Any) -> None:
    engine.create_table("usage", ROWS)
    batches = list(engine.table("usage").order_by("units").to_pyarrow_batches(chunk_size=2))
    assert pa.Table.from_batches(batches).column("units").to_pylist() == [3, 5, 7]


def test_sql_text_is_read(engine: Any) -> None:
    engine.create_table("usage", ROWS)
    sums = engine.sql("SELECT owner, sum(units)::BIGINT AS units FROM usage GROUP BY owner ORDER BY owner")
    assert sums.to_pyarrow().to_pydict() == {"owner": ["speech", "vision"], "units": [5, 10]}


def test_names_are_listed(engine: Any) -> None:
    engine.create_table("usage", ROWS)
    assert engine.list_tables() == ["usage"]
    assert "memory" in engine.list_catalogs()
    assert "main" in engine.list_databases()


def test_files_and_memtables_are_read(engine: Any, tmp_path: Any) -> None:
    engine.to_parquet(ibis.memtable(ROWS), tmp_path / "rows.parquet")
    assert engine.read_parquet([str(tmp_path / "rows.parquet")]).to_pyarrow().sort_by("units") == ROWS


def whole_quotient(above: int, below: int) -> int:  # type: ignore[empty-body]
    """DuckDB's own whole division; Ibis writes `//` as a division of floats."""


divide = ibis.udf.scalar.builtin(whole_quotient, name="divide")


@pytest.mark.parametrize("above", [2**62 + 300, -(2**62) - 300, 7, -7])
def test_whole_division_is_exact_beyond_the_digits_of_a_float(engine: Any, above: int) -> None:
    rows = ibis.memtable(pa.table({"above": pa.array([above], pa.int64()), "below": pa.array([3], pa.int64())}))
    found = engine.to_pyarrow(rows.select(whole=divide(rows.above, rows.below)))["whole"][0].as_py()
    assert found == abs(above) // 3 * (1 if above > 0 else -1)


def test_a_decimal_keeps_its_38_digits(engine: Any) -> None:
    amounts = [Decimal("12345678901234567890.123456789012345678"), Decimal("-0.000000000000000001")]
    engine.create_table("money", pa.table({"amount": pa.array(amounts, pa.decimal128(38, 18))}))
    found = engine.sql("SELECT amount, sum(amount) OVER ()::DECIMAL(38, 18) AS total FROM money").to_pyarrow()
    assert found["amount"].to_pylist() == amounts
    assert found["total"][0].as_py() == Decimal("12345678901234567890.123456789012345677")


def test_the_lock_keeps_the_versions_that_work_together() -> None:
    assert version("duckdb").startswith("1.5.")
    assert version("sqlglot") == "30.0.0"
    assert version("ibis-framework").startswith("12.")
