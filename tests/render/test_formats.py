"""The same sheet in every format: nothing cut, nothing executed, nothing lost."""

import csv
import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.render.formats import FORMATS, render
from apportion.render.json import dumps, portable
from apportion.render.sheet import Screen, Sheet, Table, report_sheet
from apportion.reports.report import Column
from apportion.reports.showback import showback
from tests.reports.record import BILL, record, row

TEXT = Column("name", "name")
MONEY = Column("amount", "amount", "money")
SHEET = report_sheet(showback(record()))


def sheet(*rows: tuple[str, str]) -> Sheet:
    return Sheet("t", (Table((TEXT, MONEY), tuple((name, Decimal(amount)) for name, amount in rows), currency="USD"),))


def test_json_contract_of_a_report_with_one_currency() -> None:
    value = json.loads(render(SHEET, "json"))
    assert (value["period"], value["currency"], value["bill"]) == ("2026-10", "USD", BILL)
    assert sum((Decimal(line["amount"]) for line in value["rows"]), Decimal(0)) == Decimal(BILL)
    assert {line["owner"] for line in value["rows"]} >= {"vision", "_idle", "_unallocated", "_residual"}
    assert value["head"] == "a" * 64
    assert value["currencies"] == [{"currency": "USD", "bill": BILL, "rows": value["rows"]}]


def test_json_of_two_currencies_has_no_common_bill() -> None:
    value = json.loads(render(report_sheet(showback(record(row("1"), row("2", currency="EUR")))), "json"))
    assert [part["currency"] for part in value["currencies"]] == ["EUR", "USD"]
    assert "bill" not in value
    assert "rows" not in value


def test_json_is_sorted_and_refuses_floats() -> None:
    assert dumps({"b": Decimal("1.50"), "a": date(2026, 10, 1)}) == '{\n  "a": "2026-10-01",\n  "b": "1.5"\n}\n'
    assert portable({"x": (Path("a"), {"z", "y"}, None, True, 3)}) == {"x": ["a", ["y", "z"], None, True, 3]}
    with pytest.raises(TypeError, match="float has no place"):
        portable({"x": 0.5})


def test_csv_is_rfc_4180_with_every_digit() -> None:
    text = render(SHEET, "csv")
    assert text.endswith("\r\n")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert sum((Decimal(line["amount"]) for line in lines), Decimal(0)) == Decimal(BILL)
    assert {line["currency"] for line in lines} == {"USD"}


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@x", "\tx", "\rx"])
def test_csv_text_is_never_a_formula_and_numbers_stay_numbers(name: str) -> None:
    lines = list(csv.reader(io.StringIO(render(sheet((name, "-5")), "csv"), newline="")))
    assert lines[1] == ["USD", "'" + name, "-5"]


@given(st.text())
def test_csv_reads_back_what_was_written(name: str) -> None:
    lines = list(csv.reader(io.StringIO(render(sheet((name, "1")), "csv"), newline="")))
    assert lines[1][1].removeprefix("'") == name.replace("\0", "").removeprefix("'")


def test_table_off_a_terminal_is_neither_cut_nor_coloured() -> None:
    name = "x" * 500
    text = render(sheet((name, "1")), "table")
    assert name in text
    assert "\x1b" not in text
    assert "…" not in text


def test_table_on_a_terminal_fits_and_is_coloured() -> None:
    text = render(SHEET, "table", Screen(width=100, colour=True))
    assert "\x1b[1m" in text


def test_shown_cents_add_up_and_the_rounding_is_said() -> None:
    text = render(sheet(("a", "0.333"), ("b", "0.333"), ("c", "0.334")), "table")
    assert [line.split()[-1] for line in text.splitlines() if line[:1] in "abc"] == ["0.33", "0.33", "0.34"]
    assert "rounded to minor units" in text
    assert "rounded" not in render(sheet(("a", "0.33")), "table")


def test_names_from_outside_cannot_move_the_cursor_or_become_markup() -> None:
    nasty = "\x1b[2J[bold]<img src=x>|`x`\u202e"
    assert "\x1b" not in render(sheet((nasty, "1")), "table")
    assert "[bold]" in render(sheet((nasty, "1")), "table")
    text = render(sheet((nasty, "1")), "md")
    assert "\\<img" in text
    assert "\\|" in text
    assert "\u202e" not in text


def test_columns_that_say_nothing_are_left_out_of_tables_only() -> None:
    assert "overhead" not in render(SHEET, "table")
    assert "overhead" in render(SHEET, "csv")


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_a_sheet_without_tables_still_speaks(form: str) -> None:
    text = render(Sheet("Nothing to do.", value={"done": True}), form)
    assert {"table": "Nothing to do.\n", "md": "**Nothing to do.**\n", "csv": "", "json": '{\n  "done": true\n}\n'}[
        form
    ] == text
