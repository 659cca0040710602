"""Tables of rates: every rate of the file and no other, or a refusal with its line."""

import csv
import io
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from apportion.errors import InputError, ProjectError
from apportion.model.times import Period, zone_named
from tests.sources.making import put, read

HEAD = "day,from,to,rate\n"
SERIES = "KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE\n"
Key = tuple[str, str, str]  # day, from, to


def rates(folder: Path, text: str, name: str = "fx.csv", **settings: Any) -> dict[Key, Decimal]:
    put(folder / name, text)
    found = [row for one in read("fx", folder, path=name, **settings) for row in one.tables["rates"].to_pylist()]
    assert all(row["source"] == "it" for row in found)
    kept = {(str(row["day"]), row["base"], row["currency"]): row["rate"] for row in found}
    assert len(kept) == len(found)
    return kept


def wide_text(seed: int) -> tuple[str, dict[Key, Decimal]]:
    """As the bank publishes: newest first, no weekends, holes. The truth is read back from the text alone."""
    dice = Random(seed)
    codes = dice.sample(["USD", "JPY", "GBP", "CHF", "BGN", "SKK", "INR", "KRW"], 5)
    lines = ["Date," + ",".join(codes) + ","]
    for back in range(40):
        day = date(2026, 11, 13) - timedelta(days=back)
        if day.weekday() < 5:
            cells = [dice.choice(["N/A", f"{dice.randrange(1, 10**7)}.{dice.randrange(10**4):04d}"]) for _ in codes]
            lines.append(f"{day},{','.join(cells)},")
    text = "\n".join(lines) + "\n"
    truth = {
        (row["Date"], "EUR", code): Decimal(row[code])
        for row in csv.DictReader(io.StringIO(text))
        for code in codes
        if row[code] != "N/A"
    }
    return text, truth


@pytest.mark.parametrize("seed", range(5))
def test_a_wide_table_says_what_its_cells_say(seed: int, tmp_path: Path) -> None:
    text, truth = wide_text(seed)
    assert truth
    assert rates(tmp_path, text) == truth
    assert rates(tmp_path, text, base="CAD") == {(day, "CAD", code): rate for (day, _, code), rate in truth.items()}
    blanks = text.replace(",", ", ")
    assert rates(tmp_path, blanks) == truth
    assert rates(tmp_path, text.replace("\n", "\r\n")) == truth


@pytest.mark.parametrize("seed", range(3))
def test_the_three_forms_say_the_same(seed: int, tmp_path: Path) -> None:
    text, truth = wide_text(seed)
    plain = HEAD + "".join(f"{day},{base},{code},{rate}\n" for (day, base, code), rate in truth.items())
    series = SERIES + "".join(
        f"EXR.D.{code}.{base}.SP00.A,D,{code},{base},SP00,A,{day},{rate}\n" for (day, base, code), rate in truth.items()
    )
    assert rates(tmp_path, text) == rates(tmp_path, plain) == rates(tmp_path, series) == truth


def test_days_are_written_in_two_ways(tmp_path: Path) -> None:
    text = "Date, USD, \n13 November 2026, 1.0807, \n"
    assert rates(tmp_path, text) == {("2026-11-13", "EUR", "USD"): Decimal("1.0807")}
    assert rates(tmp_path, text.replace("13 November", "1 may")) == {("2026-05-01", "EUR", "USD"): Decimal("1.0807")}


def test_a_day_replaces_itself_alone_and_a_stray_one_nothing_between(tmp_path: Path) -> None:
    put(tmp_path / "fx.csv", HEAD + "2026-10-01,EUR,USD,1\n2026-10-30,EUR,USD,1\n2036-10-30,EUR,USD,1\n")
    windows = [(one.window.start_s // 86400, one.window.end_s // 86400) for one in read("fx", tmp_path, path="fx.csv")]
    first, last, stray = (
        (date(*day) - date(1970, 1, 1)).days for day in ((2026, 10, 1), (2026, 10, 30), (2036, 10, 30))
    )
    assert windows == [(first, last + 1), (stray, stray + 1)]


def test_a_month_asked_for_is_told_and_no_other(tmp_path: Path) -> None:
    put(tmp_path / "fx.csv", HEAD + "2026-09-30,EUR,USD,1\n2026-10-01,EUR,USD,2\n2026-11-01,EUR,USD,3\n")
    asked = Period(2026, 10).interval(zone_named("UTC"))
    (found,) = read("fx", tmp_path, asked, path="fx.csv")
    assert [row["rate"] for row in found.tables["rates"].to_pylist()] == [2]
    assert found.window.seconds == 86400, "days that the table does not have are not replaced by nothing"
    assert read("fx", tmp_path, Period(2027, 1).interval(zone_named("UTC")), path="fx.csv") == []


GOOD = "2026-10-29,EUR,USD,1.1\n"
REFUSED = [
    (HEAD + GOOD + "2026-13-01,EUR,USD,1.1\n", "invalid-time", "fx.csv:3"),
    (HEAD + GOOD + "2026-02-30,EUR,USD,1.1\n", "invalid-time", "fx.csv:3"),
    (HEAD + GOOD + "30.10.2026,EUR,USD,1.1\n", "invalid-time", "fx.csv:3"),
    (HEAD + GOOD + "0226-10-30,EUR,USD,1.1\n", "invalid-time", "fx.csv:3"),
    (HEAD + GOOD + ",EUR,USD,1.1\n", "invalid-time", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,EUR,USD,0\n", "invalid-rate", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,EUR,USD,-1.1\n", "invalid-rate", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,EUR,USD,\n", "invalid-rate", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,USD,USD,1\n", "invalid-rate", "fx.csv:3"),
    (HEAD + GOOD + '2026-10-30,EUR,USD,"1,1"\n', "invalid-number", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,EUR,USD,1.0000000000000000001\n", "too-many-digits", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,EUR,EURO,1.1\n", "unknown-currency", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,gCO2e,USD,1.1\n", "unknown-currency", "fx.csv:3"),
    (HEAD + GOOD + "2026-10-29,EUR,USD,1.2\n", "conflicting-rates", "fx.csv:2 and fx.csv:3"),
    (HEAD + GOOD + "2026-10-30,EUR,USD\n", "corrupt-file", "fx.csv:3"),
    (HEAD, "no-rows", "fx.csv"),
    ("day,from,to,value\n" + GOOD, "missing-columns", "fx.csv"),
    ("Date,USD,XYZ,\n2026-10-30,1.1,2,\n", "unknown-currency", "fx.csv:1"),
    ("Date,USD,EUR,\n2026-10-30,1.1,1,\n", "unknown-currency", "fx.csv:1"),
    ("Date,USD,JPY,\n2026-10-30,1.1,160,\n2026-10-29,1.1,-160,\n", "invalid-rate", "fx.csv:3"),
    ("Date,USD,USD,\n2026-10-30,1.1,160,\n", "duplicate-column", "fx.csv"),
    ("Date,USD,\n2026-10-30,N/A,\n", "no-rows", "fx.csv"),
    (SERIES + "EXR.M.USD.EUR.SP00.A,M,USD,EUR,SP00,A,2026-10,1.1\n", "unknown-form", "fx.csv:2"),
]


@pytest.mark.parametrize(("text", "code", "where"), REFUSED)
def test_a_table_with_a_fault_is_refused_with_its_line(text: str, code: str, where: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        rates(tmp_path, text)
    assert (refused.value.code, refused.value.where) == (code, where)


def test_two_files_that_disagree_are_refused_with_both_places(tmp_path: Path) -> None:
    put(tmp_path / "a.csv", HEAD + GOOD)
    put(tmp_path / "b.csv", HEAD + "2026-10-28,EUR,USD,1.1\n2026-10-29,EUR,USD,1.3\n")
    with pytest.raises(InputError) as refused:
        read("fx", tmp_path, path="*.csv")
    assert (refused.value.code, refused.value.where) == ("conflicting-rates", "a.csv:2 and b.csv:3")
    assert "1.1 and 1.3" in refused.value.message


def test_a_base_is_for_wide_tables(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="invalid-setting"):
        rates(tmp_path, HEAD + GOOD, base="USD")
    with pytest.raises(ProjectError, match="invalid-setting"):
        rates(tmp_path, HEAD + GOOD, base="euro")


def test_a_file_without_a_last_line_end_is_listed(tmp_path: Path) -> None:
    put(tmp_path / "fx.csv", HEAD + GOOD + "2026-10-30,EUR,USD,1.1")
    (found,) = read("fx", tmp_path, path="fx.csv")
    assert [problem.code for problem in found.problems] == ["no-last-newline"]
