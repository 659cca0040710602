"""PDF by typst: PDF/UA-1, with the fonts inside typst alone and without a date or a drawn number, so that the same statement is the same bytes.

PDF/UA refuses what its fonts cannot write (Chinese, Japanese, Korean, emoji ...): it is shown as its code, and a note says so.
"""

import json
import re
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from apportion.errors import ProjectError
from apportion.render.statement.layout import page_of
from apportion.render.statement.page import Section
from apportion.reports.statement.shape import Statement

FOLDER = files("apportion.render.statement") / "template"
UNWRITABLE = re.compile(r'the text `"((?:[^"\\]|\\.)+)"` could not be displayed')
ESCAPED = re.compile(r"\\u\{([0-9a-f]+)\}")
NOTE = Section(
    "About this document",
    (
        "Its fonts cannot write some characters, which are shown as codes, as in \\u4e2d; every other format has them as they are.",
    ),
)


def render(statement: Statement) -> bytes:
    page, missing = asdict(page_of(statement)), frozenset[str]()
    while True:
        made, more = printed(spelled(page, missing), statement.template)
        if not more:
            return made
        missing |= more


def printed(page: dict[str, Any], template: str) -> tuple[bytes, frozenset[str]]:
    """The document, or the characters that its fonts do not have."""
    typst = typst_here()
    try:
        made: bytes = typst.compile(
            source(template),
            format="pdf",
            font_paths=fonts(),
            sys_inputs={"page": json.dumps(page)},
            pdf_standards=["ua-1"],
            timestamp=0,
        )
    except typst.TypstError as error:
        missing = missing_in(error.diagnostic)
        if not missing:
            raise
        return b"", missing
    return made, frozenset()


def missing_in(diagnostic: str) -> frozenset[str]:
    """By typst's own words. ASCII is never missing, so that a change of those words is an error and not an endless loop."""
    texts = (ESCAPED.sub(lambda code: chr(int(code[1], 16)), text) for text in UNWRITABLE.findall(diagnostic))
    return frozenset(char for text in texts for char in text if not char.isascii())


def spelled(page: dict[str, Any], missing: frozenset[str]) -> dict[str, Any]:
    """With codes for what is missing, and a note about them."""
    if not missing:
        return page
    codes = str.maketrans({char: f"\\u{ord(char):04x}" for char in missing})

    def coded(value: Any) -> Any:
        if isinstance(value, str):
            return value.translate(codes)
        if isinstance(value, dict):
            return {name: coded(item) for name, item in value.items()}
        return [coded(item) for item in value] if isinstance(value, list | tuple) else value

    made: dict[str, Any] = coded({**page, "sections": [*page["sections"], asdict(NOTE)]})
    return made


def typst_here() -> Any:
    try:
        import typst  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise ProjectError(
            "pdf-missing",
            f"a PDF is asked for, and the Python package that makes it is not installed ({error})",
            hint='pip install "apportion[pdf]", or choose --format html',
        ) from error
    return typst


@cache
def fonts() -> Any:
    """Those of typst only: a font of this machine would be another document on the next."""
    return typst_here().Fonts(include_system_fonts=False, include_embedded_fonts=True)


@cache
def source(template: str) -> bytes:
    return (FOLDER / template / "statement.typ").read_bytes()
