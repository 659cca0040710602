"""A tutorial brings all that it needs, and prints what it shows."""

from pathlib import Path

import pytest

from tests import docs


@pytest.mark.parametrize("page", docs.TUTORIALS, ids=lambda page: page.stem)
def test_a_newcomer_sees_what_the_tutorial_shows(page: Path, tmp_path: Path) -> None:
    assert not docs.reads_demo(page.read_text(encoding="utf-8")), "a tutorial makes its own demo"
    assert not docs.wrong_on(page, tmp_path, lambda: tmp_path), "if the page is wrong: `make docs`"
