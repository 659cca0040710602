"""The same command line and projects as in tests/cli; the demo makes these tests a block of their own."""

from tests.cli.conftest import posted, posted_once, run, tiny

__all__ = ["posted", "posted_once", "run", "tiny"]
