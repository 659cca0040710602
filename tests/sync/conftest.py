"""The tiny project, with rounds that may post."""

from pathlib import Path

import pytest

from apportion.verbs import logs
from tests.books.conftest import postgres_socket
from tests.cli.conftest import posted_once, run, tiny
from tests.hooks.conftest import receiver

__all__ = ["posted_once", "postgres_socket", "receiver", "run", "tiny"]

PROGRAM = "from apportion.cli.main import main; main()"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No log unless a test asks for one."""
    monkeypatch.delenv(logs.VARIABLE, raising=False)


@pytest.fixture
def mine(tiny: Path) -> Path:
    """It posts."""
    setting(tiny, "apply = true")
    return tiny


def setting(folder: Path, *lines: str) -> None:
    """[sync] as these lines say, and as nothing else said before."""
    file = folder / "apportion.toml"
    before = file.read_text("utf-8").partition("\n[sync]\n")[0]
    file.write_text("\n".join([before, "[sync]", *lines, ""]), "utf-8")
