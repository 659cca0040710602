"""The tiny project of tests/cli."""

from tests.cli.conftest import tiny

__all__ = ["tiny"]
