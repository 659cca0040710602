"""What a page is: a sentence, and blocks of figures, tables, charts, trees and forms. HTML, `.json` and `.csv` are three looks at the same value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from apportion.render.figures import RIGHT, readable, title_of, visible
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column

MONEY = ("money", "price")  # kinds of columns whose every figure leads to where it comes from
Tone = Literal["", "good", "warn", "bad", "quiet"]


@dataclass(frozen=True, slots=True)
class Link:
    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One number that answers; `href` leads to its explanation."""

    label: str
    text: str
    href: str = ""
    note: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Figures:
    items: tuple[Figure, ...]
    kind: Literal["figures"] = "figures"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as people read it. `links`: column name -> where each row's cell leads, "" nowhere; `sums`: where its sum does. `lead`: where all other
    money leads. `bars`: the column whose size is drawn.
    """

    table: Table
    heading: str = ""
    links: Mapping[str, Sequence[str]] = field(default_factory=dict)
    bars: str = ""
    tones: Sequence[Tone] = ()
    empty: str = "Nothing to show."
    sums: Mapping[str, str] = field(default_factory=dict)
    lead: str = ""
    kind: Literal["rows"] = "rows"

    @property
    def shown(self) -> "ShownRows":
        return shown_rows(self)


@dataclass(frozen=True, slots=True)
class Chart:
    """A Vega-Lite drawing of the table beside it. `says` is what it shows in a sentence, for those who do not see it."""

    heading: str
    says: str
    spec: Mapping[str, Any]
    rows: Rows
    folded: bool = True  # the table, until it is opened; without JavaScript it is open
    kind: Literal["chart"] = "chart"


@dataclass(frozen=True, slots=True)
class Prose:
    """Paragraphs; `code` is shown as it is. `numbered`: sentences that one can point to."""

    paragraphs: tuple[str, ...] = ()
    heading: str = ""
    code: str = ""
    links: tuple[Link, ...] = ()
    tone: Tone = ""
    numbered: bool = False
    kind: Literal["prose"] = "prose"


@dataclass(frozen=True, slots=True)
class Line:
    """`number` 0 has none; `anchor` makes it a place that links lead to; `sign` is + or - in what differs."""

    text: str
    number: int = 0
    anchor: str = ""
    sign: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """A text as it is, line by line."""

    lines: tuple[Line, ...]
    heading: str = ""
    kind: Literal["lines"] = "lines"


@dataclass(frozen=True, slots=True)
class Branch:
    text: str
    href: str = ""
    steps: tuple["Branch", ...] = ()


@dataclass(frozen=True, slots=True)
class Tree:
    branches: tuple[Branch, ...]
    heading: str = ""
    open_to: int = 2  # levels
    kind: Literal["tree"] = "tree"


@dataclass(frozen=True, slots=True)
class Facet:
    """What one may narrow down to, with how much of it there is; `chosen` leads back."""

    text: str
    count: int
    href: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Facets:
    """Ways to narrow a table down, each by its name; `more` says of which there are others than those shown."""

    groups: Mapping[str, Sequence[Facet]]
    heading: str = "Narrow down"
    more: Mapping[str, int] = field(default_factory=dict)
    kind: Literal["facets"] = "facets"


@dataclass(frozen=True, slots=True)
class Input:
    """`choices` makes it a list to choose from; `kind` is HTML's, `words` for some sentences, or `area` for many lines of text as it is."""

    name: str
    label: str
    value: str = ""
    kind: str = "text"
    choices: tuple[str, ...] = ()
    hint: str = ""
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """`post` forms change something and carry a token; others ask another question."""

    action: str
    inputs: tuple[Input, ...]
    submit: str
    heading: str = ""
    post: bool = True
    says: str = ""
    kind: Literal["form"] = "form"


Block = Figures | Rows | Chart | Prose | Lines | Tree | Facets | Form


@dataclass(frozen=True, slots=True)
class Page:
    """`command` is the same question on the command line. `refresh_s`: asked again by itself that often, where it is about now.

    `goto` is where a browser is sent instead; programs get what the page says.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    command: str = ""
    notes: tuple[str, ...] = ()
    crumbs: tuple[Link, ...] = ()
    about: Mapping[str, object] = field(default_factory=dict)
    refresh_s: int = 0
    goto: str = ""
    timeless: bool = False  # there is no month to choose: its path names it, or it is about all of them
    fleeting: bool = False  # nothing of it may be kept: it is about this very moment, or shown once

    @property
    def is_kept(self) -> bool:
        return not self.fleeting and not any(isinstance(block, Form) and block.post for block in self.blocks)

    def tables(self) -> list[Table]:
        return [rows.table for rows in map(rows_of, self.blocks) if rows]

    def sheet(self) -> Sheet:
        """For `.json` and `.csv`: what is shown, with every digit."""
        tables = [(rows.heading, rows.table) for rows in map(rows_of, self.blocks) if rows]
        value = {
            "page": self.name,
            "title": self.title,
            **self.about,
            "command": self.command,
            "notes": self.notes,
            "figures": [
                {"label": item.label, "text": item.text, "note": item.note}
                for block in self.blocks
                if isinstance(block, Figures)
                for item in block.items
            ],
            "tables": [
                {
                    "heading": heading or table.heading,
                    "currency": table.currency,
                    "rows": [
                        {column.name: cell for column, cell in zip(table.columns, row, strict=True)}
                        for row in table.rows
                    ],
                }
                for heading, table in tables
            ],
            "texts": [
                [line.sign + line.text for line in block.lines] for block in self.blocks if isinstance(block, Lines)
            ],
            "trees": [block.branches for block in self.blocks if isinstance(block, Tree)],
        }
        return Sheet(self.title, tuple(table for _, table in tables), value, self.notes)


def rows_of(block: Block) -> Rows | None:
    if isinstance(block, Chart):
        return block.rows
    return block if isinstance(block, Rows) else None


@dataclass(frozen=True, slots=True)
class ShownCell:
    text: str
    href: str = ""
    right: bool = False
    part: int = -1  # of the largest, in thousandths, where a bar is drawn
    money: bool = False


@dataclass(frozen=True, slots=True)
class ShownRows:
    titles: tuple[tuple[str, bool], ...]
    rows: tuple[tuple[Tone, tuple[ShownCell, ...]], ...]
    totals: tuple[ShownCell, ...]


def shown_rows(block: Rows) -> ShownRows:
    """The same text as a terminal shows, with links and bars."""
    table, places = block.table, visible(block.table)
    texts, totals = readable(table)
    columns = [table.columns[place] for place in places]
    right = [column.kind in RIGHT for column in columns]
    bars = parts(table, block.bars)
    tones: Sequence[Tone] = block.tones or [""] * len(texts)
    rows = tuple(
        (
            tone,
            tuple(
                ShownCell(
                    text,
                    href_at(block, column, n) if text.strip("-") else "",
                    right[i],
                    bars[n] if column.name == block.bars else -1,
                    column.kind in MONEY,
                )
                for i, (column, text) in enumerate(zip(columns, row, strict=True))
            ),
        )
        for n, (row, tone) in enumerate(zip(texts, tones, strict=True))
    )
    return ShownRows(
        tuple((title_of(column, table.currency), is_right) for column, is_right in zip(columns, right, strict=True)),
        rows,
        tuple(
            ShownCell(text, sum_at(block, column) if text.strip("-") else "", is_right, money=column.kind in MONEY)
            for column, text, is_right in zip(columns, totals, right, strict=False)
        ),
    )


def href_at(block: Rows, column: Column, row: int) -> str:
    links = block.links.get(column.name, ())
    own = links[row] if row < len(links) else ""
    place = block.table.columns.index(column)
    return own or (block.lead if column.kind in MONEY and block.table.rows[row][place] else "")


def sum_at(block: Rows, column: Column) -> str:
    return block.sums.get(column.name, block.lead) if column.kind in MONEY else ""


def parts(table: Table, name: str) -> list[int]:
    """Each row's share of the largest, in thousandths."""
    place = next((n for n, column in enumerate(table.columns) if column.name == name), None)
    if place is None:
        return [-1] * len(table.rows)
    sizes = [Decimal(cell) if isinstance(cell := row[place], int | Decimal) else Decimal(0) for row in table.rows]
    largest = max(sizes, default=Decimal(0))
    return [max(0, int(1000 * size / largest)) if largest > 0 else 0 for size in sizes]
