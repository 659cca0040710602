"""Price lists as people keep them."""

import csv
import gzip
from fractions import Fraction
from pathlib import Path

import pytest

from apportion.errors import InputError
from apportion.verbs.proposing.price_words import number_in
from apportion.verbs.proposing.prices import Price, decimal, price_list, read_prices

ONE = Fraction(1)


def prices(*rows: str) -> list[Price]:
    return list(price_list("p.csv", list(csv.reader(rows))).prices)


def told(price: Price) -> tuple[str, str, str, Fraction]:
    return price.meter, price.model, price.partition, price.price


@pytest.mark.parametrize(
    ("rows", "currency", "expected"),
    [
        (["gpu model,price per GPU hour (EUR)", "A100,1.85"], "EUR", [("gpu", "A100", "", Fraction("1.85"))]),
        (["GPU,Rate,Currency", "H100,$3.10,USD"], "USD", [("gpu", "H100", "", Fraction("3.10"))]),
        (["Partition,Meter,Price,Per", "gpu*,GPU,2,hour", "cpu,core-hour,0.03,", "all,GB-month,0.10,"], "",
         [("gpu", "", "gpu*", Fraction(2)), ("cpu", "", "cpu", Fraction("0.03")), ("storage", "", "", Fraction("0.1") / 730 * Fraction(2**30, 10**9))]),
        (["queue,$/GPU-h,$/core-h", "big,3,0.05", "small,,0.04"], "USD",
         [("gpu", "", "big", Fraction(3)), ("cpu", "", "big", Fraction("0.05")), ("cpu", "", "small", Fraction("0.04"))]),
        (["partition,gpu,cpu,node", "a,2,0.1,", "b,,,5"], "",
         [("gpu", "", "a", Fraction(2)), ("cpu", "", "a", Fraction("0.1")), ("node", "", "b", Fraction(5))]),
        (["Type,Monthly price", "T4,730 €"], "EUR", [("gpu", "T4", "", ONE)]),
        (["item,cost", "GPU day,24", "node year,8760", "kWh,0.31"], "", [("gpu", "", "", ONE), ("node", "", "", ONE), ("energy", "", "", Fraction("0.31"))]),
        (["", "gpu model,price", "", "A100,2"], "", [("gpu", "A100", "", Fraction(2))]),
        (["gpu model,qos,price", "A100,*,2", ",preemptible,1"], "", [("gpu", "A100", "", Fraction(2)), ("gpu", "", "", ONE)]),
    ],
)  # fmt: skip
def test_headings_and_units_are_understood(
    rows: list[str], currency: str, expected: list[tuple[str, str, str, Fraction]]
) -> None:
    found = price_list("p.csv", list(csv.reader(rows)))
    assert (found.currency, [told(price) for price in found.prices]) == (currency, expected)


@pytest.mark.parametrize(
    ("text", "number"),
    [("2.10", "2.1"), ("2,10", "2.1"), ("1,234.50", "1234.5"), ("1.234,50", "1234.5"), ("1 234,5", "1234.5"), ("1'234.5", "1234.5"),
     ("$3", "3"), ("€ 0,085", "0.085"), ("1,234,567", "1234567"), ("12,345", None), ("1,234", None), ("a lot", None), ("1-2", None), ("", None),
     ("1.2.3", None), ("9" * 50, None)],
)  # fmt: skip
def test_numbers_are_exact_or_refused(text: str, number: str | None) -> None:
    found = number_in(text)
    assert isinstance(found, str) if number is None else found == Fraction(number)


@pytest.mark.parametrize(
    ("rows", "code", "where"),
    [
        ([], "empty-file", "p.csv"),
        (["gpu model,price"], "no-prices", "p.csv"),
        (["name,colour", "a,red"], "missing-columns", "p.csv:1"),
        (["gpu,price", "A100,2", "H100,cheap"], "invalid-price", "p.csv:3"),
        (["gpu,price", "A100,-2"], "invalid-price", "p.csv:2"),
        (["item,price", "unicorns,2"], "unknown-meter", "p.csv:2"),
        (["gpu,price", "A100,2 EUR", "H100,3 USD"], "mixed-currencies", "p.csv"),
    ],
)
def test_what_is_no_price_list_is_refused_with_its_place(rows: list[str], code: str, where: str) -> None:
    with pytest.raises(InputError) as refused:
        prices(*rows)
    assert (refused.value.code, refused.value.where) == (code, where)


def test_files_of_every_form(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\ufeffGPU;Preis\nA100;1,85\n".encode())
    (tmp_path / "b.tsv").write_text("GPU\tprice\nA100\t1.85\n", "utf-8")
    write_xlsx(tmp_path / "c.xlsx", [["GPU", "price"], ["A100", 1.85]])
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    for name in ("a.csv", "b.tsv", "c.xlsx", "a.csv.gz"):
        assert [told(price) for price in read_prices(tmp_path / name).prices] == [("gpu", "A100", "", Fraction("1.85"))]
    (tmp_path / "d.csv").write_bytes("GPU,price €\nA100,1\n".encode("cp1252"))
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(b"0,1\n" * 2**21))
    (tmp_path / "e.xlsx").write_bytes(b"PK\x03\x04 no spreadsheet")
    for name, code in (
        ("d.csv", "wrong-encoding"),
        ("e.xlsx", "corrupt-file"),
        ("no.csv", "unreadable-file"),
        ("f.csv.gz", "too-large"),
    ):
        with pytest.raises(InputError) as refused:
            read_prices(tmp_path / name)
        assert refused.value.code == code


def write_xlsx(file: Path, rows: list[list[object]]) -> None:
    """The least that is a spreadsheet: a zip of four parts."""
    from zipfile import ZipFile

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    of = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    cells = "".join(
        "<row>" + "".join(
            f"<c><v>{cell}</v></c>" if isinstance(cell, float) else f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row
        ) + "</row>"
        for row in rows
    )  # fmt: skip
    with ZipFile(file, "w") as made:
        made.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
            '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            "</Types>",
        )
        made.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{of}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        made.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" Type="{of}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        made.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{of}"><sheets><sheet name="Prices" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        made.writestr(
            "xl/worksheets/sheet1.xml", f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData></worksheet>'
        )


@pytest.mark.parametrize(("amount", "text"), [("2.10", "2.1"), ("1/3", "1/3"), ("0.000001", "0.000001"), ("73", "73")])
def test_prices_are_written_exactly(amount: str, text: str) -> None:
    assert decimal(Fraction(amount)) == text
    assert Fraction(decimal(Fraction(amount))) == Fraction(amount)
