"""Any statement in any format: it says every amount and every name, adds up, and takes nothing from outside as markup."""

import csv
import io
import re
from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from apportion.errors import InvariantError
from apportion.render.figures import legible
from apportion.render.statement import render
from apportion.reports.statement.shape import Change, Line, Part, Statement, from_json
from tests.conftest import LONG
from tests.statements import strategies
from tests.statements.strategies import amounts_of, written

TAGS = re.compile(
    "html|head|meta|title|style|body|header|div|p|h1|main|small|strong|dl|dt|dd|section|h2|figure|svg|text|rect|line|table|"
    "caption|thead|tbody|tfoot|tr|th|td|bdi|span|footer|code|br"
)
ATTRIBUTES = re.compile(
    "lang|charset|http-equiv|content|name|class|id|aria-labelledby|aria-label|role|tabindex|scope|viewbox|x|y|x1|y1|x2|y2|width|height"
)


class Reader(HTMLParser):
    """What a browser would see: elements, attributes, and the text outside of the style."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] != ["style"]:
            self.texts.append(data)


def names_of(statement: Statement) -> set[str]:
    found = {statement.owner, statement.policy, *(part.by for part in statement.parts)}
    found |= {
        line.name for part in statement.parts for line in part.lines if any(one.name.strip() for one in part.lines)
    }
    found |= {line.name for line in statement.children} | {use.pool for use in statement.usage}
    found |= {text for work in statement.workloads for text in (work.workload, work.project, work.user)}
    found |= {text for one in statement.adjustments for text in (one.other, one.why, one.approver, one.pool)}
    found |= {one.cause for one in statement.corrections}
    found |= {line.lstrip(" ") for rule in statement.how for line in rule.clause.splitlines()}
    return {legible(name) for name in found if name.strip()}


@settings(max_examples=40 if LONG else 20)
@given(strategies.statements())
def test_html_says_everything_and_nothing_becomes_markup(statement: Statement) -> None:
    page = Reader(render(statement, "html").decode())
    assert [tag for tag in page.tags if not TAGS.fullmatch(tag)] == []
    assert [name for name, _ in page.attributes if not ATTRIBUTES.fullmatch(name)] == []
    said = "\n".join(page.texts)
    assert [name for name in names_of(statement) if name not in said] == []
    assert [amount for amount in amounts_of(statement) if written(amount, statement.digits) not in said] == []
    assert page.tags.count("style") == page.tags.count("h1") == page.tags.count("title") == 1


@settings(max_examples=40 if LONG else 20)
@given(strategies.statements())
def test_markdown_says_everything_and_nothing_becomes_markup(statement: Statement) -> None:
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(render(statement, "md").decode())
    inner = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inner} <= {
        "text",
        "strong_open",
        "strong_close",
        "text_special",
        "hardbreak",
        "softbreak",
    }
    assert {token.type for token in tokens} & {"html_block", "code_block", "fence", "blockquote_open", "hr"} == set()
    texts = ("".join(child.content for child in token.children or []) for token in tokens)
    said = "\n".join(texts)
    squeezed = said.replace(" ", "")  # blanks beside a cell's border are no part of it
    assert [name for name in names_of(statement) if name.replace(" ", "") not in squeezed] == []
    assert [amount for amount in amounts_of(statement) if written(amount, statement.digits) not in said] == []


@settings(max_examples=40 if LONG else 20)
@given(strategies.statements())
def test_csv_adds_up_and_starts_no_formula(statement: Statement) -> None:
    rows = list(csv.DictReader(io.StringIO(render(statement, "csv").decode(), newline="")))
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        for name, text in row.items():
            assert name in ("value", "before") or not text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")), row
        if row["measure"] == "amount":
            sums[row["section"]] += Decimal(row["value"])
    owed = Decimal(statement.owed) / 10**statement.digits
    whole = {"statement", "summary", *(["children"] if statement.children else [])}
    assert [name for name in whole if sums[name] != owed] == []
    parts = {f"by {part.by}": part for part in statement.parts}
    assert [name for name in parts if sums[name.replace("\0", "")] != owed] == []
    if statement.before is not None:
        assert sums["changes"] == owed - Decimal(statement.before) / 10**statement.digits


@settings(max_examples=25 if LONG else 12)
@given(strategies.statements())
def test_json_is_the_statement(statement: Statement) -> None:
    assert from_json(render(statement, "json").decode()) == statement


@settings(max_examples=20 if LONG else 10)
@given(strategies.statements(strategies.plain))
def test_what_does_not_add_up_is_not_printed(statement: Statement) -> None:
    wrong = (Line("a cent too much", 1), *statement.summary)
    children = statement.children or (Line("all", statement.owed),)
    for broken in (
        replace(statement, summary=wrong),
        replace(statement, children=(*children, Line("one more", 1))),
        replace(statement, parts=(Part("pool", wrong),)),
        replace(statement, before=0, changes=(Change("volume", "", statement.owed + 1),)),
    ):
        with pytest.raises(InvariantError):
            render(broken, "html")
