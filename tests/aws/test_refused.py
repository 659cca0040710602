"""Files that are not what they should be: refused with the reason, and nothing of the delivery is taken."""

from pathlib import Path

import pytest

from apportion.errors import InputError
from tests.aws import month as m
from tests.sources import making

AZURE = b"BillingAccountId,CostInBillingCurrency,Date\n1,2,10/01/2026\n"
ORACLE = b"lineItem/referenceNo,cost/myCost\nx,1\n"


def refused(base: Path, *files: tuple[str, bytes], path: str = ".") -> InputError:
    for name, data in files:
        m.put(base / name, data)
    with pytest.raises(InputError) as stop:
        making.read("aws", base, path=path)
    return stop.value


@pytest.mark.parametrize(
    ("data", "vendor"),
    [(making.bill_text({}).encode(), "focus"), (AZURE, "azure"), (ORACLE, "oracle")],
)
def test_another_vendors_file_is_named(data: bytes, vendor: str, tmp_path: Path) -> None:
    error = refused(tmp_path, ("a.csv", data))
    assert error.code == "another-vendors-file"
    assert f"kind = '{vendor}'" in error.hint


def test_what_is_no_bill_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path, ("a.csv", b"a,b\n1,2\n"))
    assert error.code == "missing-columns"
    assert "does it have a header" in error.hint


def test_a_renamed_column_is_named_with_what_it_may_be(tmp_path: Path) -> None:
    text = m.cur2_csv(m.Month(0).rows).decode().replace("line_item_unblended_cost", "line_item_unblended_costs", 1)
    error = refused(tmp_path, ("a.csv", text.encode()))
    assert error.code == "missing-columns"
    assert "line_item_unblended_cost (is it line_item_unblended_costs?)" in error.message


def test_a_part_with_another_schema_refuses_all_parts(tmp_path: Path) -> None:
    rows = m.Month(0).rows
    changed = m.cur2_csv(rows[1::2]).decode().replace("line_item_currency_code", "currency", 1)
    error = refused(tmp_path, ("a-1.csv", m.cur2_csv(rows[::2])), ("a-2.csv", changed.encode()))
    assert (error.code, error.where) == ("missing-columns", "a-2.csv")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.snappy.parquet", "a.csv"])
def test_a_file_that_was_cut_off(name: str, tmp_path: Path) -> None:
    rows = m.Month(0).rows
    whole = {
        "a.csv.gz": lambda: m.packed(m.cur2_csv(rows)),
        "a.snappy.parquet": lambda: m.cur2_parquet(rows),
        "a.csv": lambda: m.cur2_csv(rows),
    }[name]()
    cut = whole[: len(whole) * 2 // 3] if name != "a.csv" else whole[: whole.rindex(b'"{')]
    assert refused(tmp_path, (name, cut)).code == "corrupt-file"


@pytest.mark.parametrize(
    ("cost", "code"),
    [("12,5", "invalid-number"), ("123456789012345678901.5", "too-many-digits"), ("None", "invalid-number")],
)
def test_an_amount_that_cannot_be_read_exactly(cost: str, code: str, tmp_path: Path) -> None:
    rows = m.Month(0).rows
    rows[3]["line_item_unblended_cost"] = cost
    error = refused(tmp_path, ("a.csv", m.cur2_csv(rows)))
    assert error.code == code
    assert error.where == "a.csv:5"


def test_the_same_part_twice(tmp_path: Path) -> None:
    data = m.cur2_csv(m.Month(0).rows)
    assert refused(tmp_path, ("a.csv", data), ("b.csv.gz", m.packed(data))).code == "same-file-twice"


def test_one_column_under_two_names(tmp_path: Path) -> None:
    text = m.cur2_csv(m.Month(0).rows).decode().replace("line_item_legal_entity", "lineItem/UnblendedCost", 1)
    assert refused(tmp_path, ("a.csv", text.encode())).code == "duplicate-column"


def test_formulas_in_tags_are_only_text(tmp_path: Path) -> None:
    rows = m.Month(0).rows
    rows[0]["resource_tags"] = {"user_team": '=HYPERLINK("http://x","y")'}
    m.put(tmp_path / "a.csv", m.cur2_csv(rows))
    tags = [dict(line["Tags"]) for line in making.lines(making.read("aws", tmp_path, path="a.csv"))]
    assert {"team": '=HYPERLINK("http://x","y")'} in tags


def test_tags_that_are_no_json_are_marked_and_keep_their_money(tmp_path: Path) -> None:
    drawn = m.Month(0)
    text = m.cur2_csv(drawn.rows).decode().replace('"{""user_team"": ""vision""}"', '"{""user_team"": vision}"', 1)
    m.put(tmp_path / "a.csv", text.encode())
    found = making.read("aws", tmp_path, path="a.csv")
    assert [line["problem"] for line in making.lines(found) if line["problem"]] == ["invalid-tags"]
    assert making.total(found, "BilledCost") == drawn.truth.cash
