"""On a narrow terminal columns are left out and said to be; a figure is never cut."""

from decimal import Decimal

import pytest

from apportion.render.formats import render
from apportion.render.sheet import Screen, Sheet, Table
from apportion.reports.report import Column

COLUMNS = (
    Column("owner", "team"),
    Column("department", "department", quiet=True),
    Column("usage", "usage", "money", quiet=True),
    Column("idle", "idle", "money", quiet=True),
    Column("credit", "credit", "money", quiet=True),
    Column("amount", "amount", "money"),
)
ROWS = (
    ("vision", "research", Decimal("1234567.89"), Decimal("7654321.12"), Decimal(0), Decimal("8888889.01")),
    ("speech", "research", Decimal("2234567.89"), Decimal("6654321.12"), Decimal(0), Decimal("8888889.01")),
)
TOTALS = (None, None, Decimal("3469135.78"), Decimal("14308642.24"), Decimal(0), Decimal("17777778.02"))


def shown(width: int) -> str:
    return render(Sheet("Who owes what", (Table(COLUMNS, ROWS, TOTALS, "USD"),)), "table", Screen(width=width))


def test_all_columns_where_there_is_room() -> None:
    text = shown(100)
    assert all(word in text for word in ("department", "usage", "idle", "amount USD", "14,308,642.24"))
    assert "Too narrow" not in text


@pytest.mark.parametrize("width", range(30, 90, 5))
def test_what_is_shown_is_whole(width: int) -> None:
    text = shown(width)
    assert max(map(len, text.splitlines())) <= width
    for figure in ("8,888,889.01", "17,777,778.02", "vision", "speech"):
        assert figure in text
    for name, figures in {"usage": ("1,234,567.89", "3,469,135.78"), "idle": ("7,654,321.12", "14,308,642.24")}.items():
        is_column = any(line.startswith("team") and name in line for line in text.splitlines())
        assert all((figure in text) == is_column for figure in figures)


def test_words_go_before_figures_and_are_named() -> None:
    text = shown(60)
    assert "usage" in text
    assert "Too narrow here for department; -o csv and -o json have all" in " ".join(text.split())
    assert "credit" not in text  # 0 throughout: not worth showing anywhere


def test_long_words_fold_and_are_not_left_out() -> None:
    columns = (Column("finding", "finding"), Column("hint", "to mend it", quiet=True))
    table = Table(columns, (("a finding of many words " * 5, "a hint of many words " * 5),))
    text = render(Sheet("", (table,)), "table", Screen(width=60))
    assert "to mend it" in text
    assert text.split().count("hint") == 5
