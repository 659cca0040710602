"""The same Spark as in tests/spark and the same command line as in tests/cli; a block of its own, since whole projects take longer."""

from tests.cli.conftest import posted, posted_once, run, tiny
from tests.spark.conftest import duckdb, java, spark

__all__ = ["duckdb", "java", "posted", "posted_once", "run", "spark", "tiny"]
