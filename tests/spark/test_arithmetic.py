"""The words that both engines are taught mean the same whole numbers, and nothing wraps around in silence."""

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import ArithmeticException

from apportion.engine.backend import Backend, exact, summand, whole_quotient
from apportion.engine.backends.duckdb import DuckDB
from apportion.engine.backends.spark import Spark

LARGEST = 2**63 - 1
NUMBERS = [0, 1, -1, 7, -7, 2**53 + 1, -(2**53) - 1, 2**62 + 300, LARGEST, -LARGEST]
ROWS = pa.table({"number": pa.array(NUMBERS, pa.int64()), "group": pa.array([n % 2 for n in range(len(NUMBERS))])})


@pytest.fixture(params=["spark", "duckdb"])
def backend(request: pytest.FixtureRequest) -> Backend:
    found: Backend = request.getfixturevalue(request.param)
    return found


def column(backend: Backend, make: Any) -> list[int]:
    rows = backend.lend(ROWS)
    table = rows.select("number", found=make(rows.number)).to_pyarrow()
    found = dict(zip(table["number"].to_pylist(), table["found"].to_pylist(), strict=True))
    return [int(found[number]) for number in NUMBERS]


@pytest.mark.parametrize("below", [1, 3, 3600])
def test_whole_division_and_its_rest(backend: Backend, below: int) -> None:
    whole = [abs(number) // below * (1 if number > 0 else -1) for number in NUMBERS]
    assert column(backend, lambda number: whole_quotient(number, below)) == whole
    rests = [number - part * below for number, part in zip(NUMBERS, whole, strict=True)]
    assert column(backend, lambda number: number % below) == rests


def test_halves_of_a_number(backend: Backend) -> None:
    assert column(backend, lambda number: number >> 31) == [number >> 31 for number in NUMBERS]
    mask = (1 << 31) - 1
    assert column(backend, lambda number: number & mask) == [number & mask for number in NUMBERS]


def test_products_and_sums_beyond_64_bits(backend: Backend) -> None:
    rows = backend.lend(ROWS)
    product = (exact(rows.number) * rows.number).sum().cast("decimal(38,0)")
    # a sum of squares of 63 bits has 38 digits
    found = rows.filter(rows.number.abs() < LARGEST).aggregate(sum=product).to_pyarrow()["sum"][0].as_py()
    assert found == Decimal(sum(number**2 for number in NUMBERS if abs(number) < LARGEST))
    sums = rows.group_by("group").aggregate(sum=summand(rows.number).sum().cast("decimal(38,0)")).to_pyarrow()
    assert dict(zip(sums["group"].to_pylist(), sums["sum"].to_pylist(), strict=True)) == {
        0: Decimal(sum(NUMBERS[::2])),
        1: Decimal(sum(NUMBERS[1::2])),
    }


def test_whole_numbers_beside_a_null_stay_whole(backend: Backend) -> None:
    rows = backend.lend(pa.table({"number": pa.array([None, 2**53 + 1], pa.int64())}))
    assert sorted(rows.to_pyarrow()["number"].to_pylist(), key=str) == [2**53 + 1, None]


def test_spark_refuses_what_leaves_64_bits_or_38_digits(spark: Spark) -> None:
    rows = spark.lend(ROWS)
    with pytest.raises(ArithmeticException, match="overflow"):
        rows.select(more=rows.number * 2).to_pyarrow()
    wide = exact(rows.number)
    with pytest.raises(ArithmeticException, match="38"):
        rows.select(more=wide * rows.number * rows.number).to_pyarrow()


def test_duckdb_refuses_them_too(duckdb: DuckDB) -> None:
    rows = duckdb.lend(ROWS)
    with pytest.raises(Exception, match="Overflow"):
        rows.select(more=rows.number * 2).to_pyarrow()
