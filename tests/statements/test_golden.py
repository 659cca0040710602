"""Statements that were issued print as they did, to the byte: a change here is a change of the past. A new layout is a new `template`.

`--update-golden` writes the files anew; only a layout that nobody has used yet may change.
"""

from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest

from apportion.render.statement import render
from apportion.reports.statement.shape import from_json

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.name for path in GOLDEN.iterdir())


@pytest.mark.parametrize("form", ["html", "md", "csv", "json"])
@pytest.mark.parametrize("case", CASES)
def test_what_was_issued_prints_the_same(case: str, form: str, update_golden: bool) -> None:
    made = render(from_json((GOLDEN / case / "statement.json").read_text("utf-8")), form)
    path = GOLDEN / case / f"statement.{form}"
    if update_golden:
        path.write_bytes(made)
    assert path.read_bytes() == made


@pytest.mark.parametrize("case", CASES)
def test_what_was_issued_prints_the_same_on_paper(case: str, update_golden: bool) -> None:
    """With the typst of the lock; another version may set the same text in other bytes."""
    made = render(from_json((GOLDEN / case / "statement.json").read_text("utf-8")), "pdf")
    said = f"{sha256(made).hexdigest()} with typst {version('typst')}\n"
    path = GOLDEN / case / "statement.pdf.sha256"
    if update_golden:
        path.write_text(said, "utf-8")
    assert path.read_text("utf-8") == said


def test_the_cases_are_there() -> None:
    assert CASES == ["charged", "credit", "shown"]
