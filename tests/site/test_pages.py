"""Explanations and guides print what they show, and the figures of tables are those of the commands."""

import json
import re
from pathlib import Path

import pytest

from apportion.engine.sharing import solve
from tests import docs, snippets
from tests.site import promises

FAIRNESS = docs.ROOT / "docs/explanation/fairness.md"


@pytest.mark.parametrize("page", docs.UNDERSTAND, ids=lambda page: page.stem)
def test_snippets_run_and_print_what_they_show(page: Path, tmp_path: Path) -> None:
    assert not docs.wrong_on(page, tmp_path), "if the page is wrong: `make docs`"


def test_the_table_of_promises_is_what_the_methods_say() -> None:
    assert promises.table() in FAIRNESS.read_text(encoding="utf-8"), "python -m tests.site.promises prints it"


def test_the_worked_day_is_what_the_methods_make_of_it() -> None:
    page = FAIRNESS.read_text(encoding="utf-8")
    problems = {snippet.file: snippet.text for snippet in snippets.snippets(page) if snippet.file}
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ", page, re.MULTILINE)
    assert len(rows) == 8
    for method, *cents in rows:
        held = method in {"even", "proportional", "capacity_rate"}
        problem = json.loads(problems["held.json" if held else "slots.json"].replace("METHOD", method))
        shares = solve(problem).minor
        assert [shares.get(owner, 0) for owner in ("vision", "speech", "genomics", "_idle")] == [
            int(text.replace(".", "")) for text in cents
        ], method
