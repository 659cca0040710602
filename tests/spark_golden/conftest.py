"""The same Spark as in tests/spark; a block of its own, so that two run side by side."""

from tests.spark.conftest import duckdb, java, spark

__all__ = ["duckdb", "java", "spark"]
