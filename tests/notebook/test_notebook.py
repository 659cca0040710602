"""The tutorial's notebook runs from nothing, shows what it says, and its charts are drawn."""

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import nbformat
import pytest

from tests import processes
from tests.notebook import playing


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return playing.texts(playing.played(tmp_path_factory.mktemp("notebook")))


def test_the_notebook_shows_what_it_prints(now: list[str]) -> None:
    shown = playing.texts(playing.kept())
    assert shown == now, "if the notebook is wrong: `make docs`"
    assert any(shown)


def test_pages_and_charts_are_stored_with_it() -> None:
    kept = playing.kept()
    nbformat.validate(kept)
    pages = [
        one.data["text/html"]
        for cell in kept.cells
        for one in cell.get("outputs", ())
        if "text/html" in one.get("data", {})
    ]
    assert len(pages) >= 3
    assert sum(ET.fromstring(page).find(".//{http://www.w3.org/2000/svg}svg") is not None for page in pages) >= 3
    assert not [page for page in pages if "<script" in page]


@pytest.mark.long
def test_the_code_is_typed(tmp_path: Path) -> None:
    (tmp_path / "tutorial.py").write_text(playing.code(), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(playing.ROOT / "pyproject.toml"),
        str(tmp_path / "tutorial.py"),
    ]
    done = processes.run(command, cwd=playing.ROOT, text=True)
    assert done.returncode == 0, done.stdout
