"""Saved what-ifs on the wire."""

from pydantic import Field

from apportion.client.agreed import BacktestWish
from apportion.client.shapes import Shape
from apportion.client.texts import Name


class SaveWish(BacktestWish):
    """A back-test, and the name under which what it comes to is kept."""

    name: Name = Field(examples=["idle for all"])


class SavedWhatif(Shape):
    """`moved` says whether what is posted for its months changed since it was saved. Without all teams, `name`, `who` and `title` are empty."""

    id: str
    name: str
    period: str
    who: str
    at_s: int
    moved: str


class SavedTable(Shape):
    """Amounts are texts with every digit; what has no value is null."""

    heading: str
    currency: str
    rows: list[dict[str, str | None]]


class SavedAnswer(SavedWhatif):
    """As it was when it was saved. Without all teams: the rows of your own, and policies by number."""

    title: str
    notes: list[str]
    tables: list[SavedTable]
