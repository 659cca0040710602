"""The same Spark as in tests/spark; a block of its own, since worlds from seeds have many pools."""

from tests.spark.conftest import duckdb, java, spark

__all__ = ["duckdb", "java", "spark"]
