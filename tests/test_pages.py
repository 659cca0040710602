"""The snippets of README and how-tos run and print what they show. `make docs` brings the pages up to date."""

from pathlib import Path

import pytest

from tests import docs, snippets


@pytest.mark.parametrize(
    "page", [page for page in docs.PAGES if page not in {*docs.TUTORIALS, *docs.UNDERSTAND}], ids=lambda page: page.stem
)
def test_snippets_run_and_print_what_they_show(page: Path, tmp_path: Path) -> None:
    assert not docs.wrong_on(page, tmp_path), "if the page is wrong: `make docs`"


PAGE = "<!-- file: a.txt -->\n```text\none\ntwo\nthree\n```\n\n```console\n$ cat a.txt\none\n...\nth...\n$ cat \\\n    a.txt\n```\n"


def test_the_checks_of_snippets_can_fail(tmp_path: Path) -> None:
    assert snippets.wrongs(PAGE, tmp_path) == []
    assert len(snippets.wrongs(PAGE.replace("th...", "four"), tmp_path)) == 1
    assert len(snippets.wrongs(PAGE.replace("$ cat a.txt", "$ cat b.txt"), tmp_path)) == 1
    assert len(snippets.wrongs("```python\nassert False\n```\n", tmp_path)) == 1
    assert snippets.wrongs("<!-- not run: why -->\n```console\n$ false\n```\n", tmp_path) == []


def test_outputs_are_brought_up_to_date(tmp_path: Path) -> None:
    assert snippets.rewritten(PAGE, tmp_path) == PAGE
    assert snippets.rewritten(PAGE.replace("th...", "four"), tmp_path) == PAGE.replace("th...", "three")
    assert snippets.rewritten("```console\n$ echo two\none\n```\n", tmp_path) == "```console\n$ echo two\ntwo\n```\n"
