"""The command line and the tiny project of tests/cli."""

from tests.cli.conftest import posted, posted_once, run

__all__ = ["posted", "posted_once", "run"]
