"""The command line and the tiny project, as in the command line's own tests."""

from tests.cli.conftest import posted, posted_once, run

__all__ = ["posted", "posted_once", "run"]
