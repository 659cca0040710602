"""The same projects as in tests/sync; what starts processes is a block of its own."""

from tests.sync.conftest import mine, quiet, tiny

__all__ = ["mine", "quiet", "tiny"]
