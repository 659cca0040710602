"""A statement as a page: sections of sentences, tables and a chart, all of them text. PDF, HTML and Markdown say the same because of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """`width` is a share of what figures leave; a column of figures (0) takes what it needs."""

    title: str
    width: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A cell may have a second line, after a line feed: what is less important. The first column names the row."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """From `start`, `width` long, in thousandths of the chart."""

    name: str
    start: int
    width: int
    is_more: bool
    figure: str


@dataclass(frozen=True, slots=True)
class Chart:
    alt: str
    zero: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    sentences: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    chart: Chart | None = None


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    issuer: str
    level: str
    owner: str
    period: str
    number: str
    stamp: str
    headline: str
    figure: str
    currency: str
    against: tuple[str, ...]
    sentences: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    footer: tuple[tuple[str, str], ...]
