"""PDF statements: read back by another program, accessible, the same bytes wherever they are made."""

import os
import re
import shutil
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings

from apportion.errors import ProjectError
from apportion.render.statement import render
from apportion.reports.statement.shape import Line, Part, Statement, from_json
from bench.statements import Size, statement_of
from tests import processes
from tests.conftest import LONG
from tests.statements import strategies
from tests.statements.strategies import amounts_of, written

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def pdftotext() -> str:
    found = shutil.which("pdftotext")
    if not found:
        pytest.skip("no pdftotext: apt-get install poppler-utils")
    return found


def said_by(made: bytes, pdftotext: str) -> str:
    """In the order in which it was written, blanks left out: lines are broken anywhere."""
    done = processes.run([pdftotext, "-raw", "-", "-"], input=made, check=True)
    return re.sub(r"\s", "", done.stdout.decode())


@settings(max_examples=12 if LONG else 6)
@given(statement=strategies.statements(strategies.plain))
def test_every_amount_and_name_can_be_read(pdftotext: str, statement: Statement) -> None:
    said = said_by(render(statement, "pdf"), pdftotext)
    assert [amount for amount in amounts_of(statement) if written(amount, statement.digits) not in said] == []
    names = {line.name for part in statement.parts for line in part.lines} | {use.pool for use in statement.usage}
    assert [name for name in (statement.owner, *names) if name not in said] == []
    assert statement.head in said


@settings(max_examples=10 if LONG else 5)
@given(strategies.statements())
def test_any_text_is_printed_as_text(statement: Statement) -> None:
    """PDF/UA refuses a glyph that no font has, so that a made document has none."""
    assert render(statement, "pdf").startswith(b"%PDF-1.7")


def test_markup_is_text(pdftotext: str) -> None:
    hostile = '#set text(red) *bold* _it_ $x$ <label> @ref #read("a") // end'
    lines = (Line(hostile, 1), Line("", statement_of(1).owed - 1))
    made = render(replace(statement_of(1), owner=hostile, parts=(Part(hostile, lines),)), "pdf")
    assert said_by(made, pdftotext).count(hostile.replace(" ", "")) >= 5  # title, header, sentence, heading, row


def test_what_no_font_has_is_shown_as_code_with_a_note(pdftotext: str) -> None:
    plain, asian = (replace(statement_of(1), owner=owner) for owner in ("vision", "\u89c6\u89c9"))
    said = said_by(render(asian, "pdf"), pdftotext)
    assert "\\u89c6\\u89c9" in said
    assert "Aboutthisdocument" in said
    assert "Aboutthisdocument" not in said_by(render(plain, "pdf"), pdftotext)
    hebrew = replace(statement_of(1), owner="\u05de\u05d7\u05dc\u05e7\u05d4")
    assert "Aboutthisdocument" not in said_by(render(hebrew, "pdf"), pdftotext)


def test_it_is_tagged_and_says_its_title_language_and_standard() -> None:
    made = render(statement_of(1), "pdf")
    for mark in (
        b"/StructTreeRoot",
        b"/Lang(en)",
        b"/DisplayDocTitle true",
        b"/Marked true",
        b"<pdfuaid:part>1</pdfuaid:part>",
    ):
        assert mark in made, mark
    assert b"Statement: Team team-001, October 2026" in made


def test_the_bytes_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    """Another process, folder, time zone, language and home."""
    text = (GOLDEN / "charged" / "statement.json").read_text("utf-8")
    code = (
        "import sys, hashlib\nfrom apportion.render.statement import render\nfrom apportion.reports.statement.shape import from_json\n"
        "print(hashlib.sha256(render(from_json(sys.stdin.read()), 'pdf')).hexdigest())"
    )
    environment = {
        **os.environ,
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C.UTF-8",
        "HOME": str(tmp_path),
        "PYTHONHASHSEED": "7",
        "RAYON_NUM_THREADS": "1",
    }
    done = processes.run(
        [sys.executable, "-c", code],
        input=text,
        cwd=tmp_path,
        env=environment,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == sha256(render(from_json(text), "pdf")).hexdigest()


def test_a_long_statement_has_all_its_lines(pdftotext: str) -> None:
    statement = statement_of(3, Size(projects=90, users=200))
    said = said_by(render(statement, "pdf"), pdftotext)
    for line in (*statement.parts[2].lines, *statement.parts[3].lines):
        assert line.name + written(line.amount, 2) in said


def test_without_typst_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(ProjectError) as caught:
        render(statement_of(1), "pdf")
    assert caught.value.code == "pdf-missing"
    assert "apportion[pdf]" in caught.value.hint
    assert render(statement_of(1), "html")
