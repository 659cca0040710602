"""The snippets of tutorials run, in the demo that `make run` makes, and print what they show."""

from pathlib import Path

import pytest

from tests import docs


@pytest.mark.parametrize("page", docs.TUTORIALS, ids=lambda page: page.stem)
def test_a_newcomer_sees_what_the_tutorial_shows(page: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert not docs.wrong_on(page, tmp_path_factory.mktemp("tutorial")), "if the page is wrong: `make docs`"
