"""Files whose cells stand under the wrong names are refused before anything in them is counted; files with a bad row or two are not."""

import csv
import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from apportion.errors import InputError
from apportion.sources.cells.shapes import Expectation, expect, find_misfit, refuse_misfit
from tests.sources import making

NUMBERS = expect(("b",), "numbers", str.isdecimal)


def refused(read: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        read()
    return caught.value


def without(text: str, column: str) -> str:
    """The header without one name, over rows as they were: every cell from there on is under its neighbour's name."""
    header, _, rows = text.partition("\n")
    names = header.split(",")
    names.remove(column)
    return f"{','.join(names)},extra\n{rows}"


def swapped(text: str, one: str, two: str) -> str:
    rows = list(csv.reader(io.StringIO(text)))
    first, second = rows[0].index(one), rows[0].index(two)
    for row in rows[1:]:
        row[first], row[second] = row[second], row[first]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def test_a_column_is_wrong_when_most_of_its_cells_are_and_one_cell_is_a_bad_row() -> None:
    assert find_misfit(("a", "b"), [["x", "1"], ["x", "y"]], NUMBERS) is None
    assert find_misfit(("a", "b"), [["x", "y"], ["x", ""]], NUMBERS) is None, "one bad cell is listed with its row"
    assert find_misfit(("a", "b"), [["x", "1"], ["x", "1"], ["x", "y"], ["x", "z"]], NUMBERS) is None, "not most"
    wrong = find_misfit(("a", "B"), [["x", "1"], ["x", "y"], ["x", "z"]], NUMBERS)
    assert wrong is not None
    assert (wrong.column, wrong.examples, wrong.wrong, wrong.judged) == ("b", ("y", "z"), 2, 3)


def test_rows_of_which_nothing_can_be_said_are_not_counted() -> None:
    sums = Expectation("b", "sums", lambda rows: [None if a == "" else a == b for b, a in rows], ("a",))
    assert find_misfit(("a", "b"), [["", "9"], ["", "9"], ["1", "2"], ["1", "3"]], [sums]) is not None
    assert find_misfit(("a", "b"), [["", "9"], ["", "9"], ["1", "1"]], [sums]) is None


def test_the_nearest_known_header_is_named() -> None:
    error = refused(lambda: refuse_misfit("f", ("b", "a"), [["x", "1"], ["y", "2"]], NUMBERS, {"another": ("a", "b")}))
    assert error.code == "shifted-columns"
    assert error.message == "b holds 'x' and 'y' instead of numbers, in 2 of the first 2 rows"
    assert error.hint == "the cells fit the header of another: a,b"


@pytest.mark.parametrize("name", ["bill.csv", "bill.csv.gz"])
def test_a_bill_with_a_name_too_few_in_its_header(name: str, tmp_path: Path) -> None:
    text = without(making.bill_text({}, {"ResourceId": "node-2"}), "ListCost")
    error = refused(
        lambda: making.read_bill(tmp_path, gzip.compress(text.encode()) if name.endswith("gz") else text, name)
    )
    assert error.code == "shifted-columns"
    assert error.where == name
    assert "BillingCurrency holds '12.50' instead of currencies" in error.message
    assert "one column too far to the right" in error.hint
    assert "BillingCurrency" in error.hint


def test_a_bill_whose_money_and_times_changed_places(tmp_path: Path) -> None:
    text = swapped(making.bill_text({}, {"EffectiveCost": "3"}), "EffectiveCost", "ChargePeriodStart")
    error = refused(lambda: making.read_bill(tmp_path, text))
    assert (
        error.message
        == "EffectiveCost holds '2026-10-05T00:00:00Z' instead of amounts of money, in 2 of the first 2 rows"
    )


def test_a_bill_of_which_two_names_changed_places_says_which(tmp_path: Path) -> None:
    text = swapped(making.bill_text({}, {"EffectiveCost": "3"}), "BilledCost", "BillingCurrency")
    error = refused(lambda: making.read_bill(tmp_path, text))
    assert error.hint == "the names BilledCost and BillingCurrency have changed places"


def test_a_bill_with_one_bad_time_keeps_its_money(tmp_path: Path) -> None:
    (found,) = making.read_bill(tmp_path, making.bill_text({}, {}, {"ChargePeriodStart": "soon"}))
    assert [problem.code for problem in found.problems] == ["invalid-time"]
    assert making.total([found]) == 30


@pytest.mark.parametrize(
    ("one", "two", "column", "kind"),
    [
        ("start", "account", "start", 'times that fit time = "iso"'),
        ("end", "node", "end", 'times that fit time = "iso"'),
        ("gpus", "node", "gpus", "amounts of gpu"),
        ("state", "start", "start", 'times that fit time = "iso"'),
    ],
)
def test_a_log_whose_columns_changed_places(one: str, two: str, column: str, kind: str, tmp_path: Path) -> None:
    text = swapped(making.log_text({}, {"job": "18"}), one, two)
    error = refused(lambda: making.read_log(tmp_path, text))
    assert error.code == "shifted-columns"
    assert error.message.startswith(f"{column} holds ")
    assert f" instead of {kind}, " in error.message


@pytest.mark.parametrize(
    ("start", "end", "form"),
    [
        ("1790812800000", "1790816400000", "epoch"),
        ("05.10.26 00:00", "05.10.26 02:00", "%d.%m.%Y %H:%M"),
        ("05/10/2026", "06/10/2026", "iso"),
    ],
)
def test_times_of_another_form_hint_at_the_setting(start: str, end: str, form: str, tmp_path: Path) -> None:
    text = making.log_text(*({"start": start, "end": end, "job": job} for job in "ab"))
    error = refused(lambda: making.read_log(tmp_path, text, time=form))
    assert (
        error.message == f"start holds '{start}' instead of times that fit time = \"{form}\", in 2 of the first 2 rows"
    )
    assert error.hint.startswith("`time` says how the log writes its times: iso, epoch (seconds since 1970)")


def test_words_for_amounts_are_no_sign_of_shifted_cells(tmp_path: Path) -> None:
    """The last column alone would fit nowhere, and one column too many or too few explains nothing."""
    order = ("job", "node", "start", "end", "state", "account", "gpus")
    rows = [{**making.JOB, "job": job, "gpus": amount} for job, amount in (("1", "four"), ("2", "eight"))]
    text = making.csv_text([{name: row[name] for name in order} for row in rows])
    error = refused(lambda: making.read_log(tmp_path, text))
    assert error.message == "gpus holds 'four' and 'eight' instead of amounts of gpu, in 2 of the first 2 rows"
    assert error.hint.startswith("name in `meters` a column of numbers")


def test_a_log_with_a_name_too_few_in_its_header(tmp_path: Path) -> None:
    text = without(making.log_text({}, {"job": "18"}), "node")
    columns = {"workload": "job", "start": "start", "end": "end"}
    error = refused(lambda: making.read_log(tmp_path, text, columns=columns))
    assert (
        error.hint
        == "from start on the cells stand one column too far to the right: the header lacks a name before start"
    )


def test_an_exit_code_is_no_outcome(tmp_path: Path) -> None:
    error = refused(lambda: making.read_log(tmp_path, making.log_text({"state": "0:0"}, {"job": "18", "state": "1:0"})))
    assert error.message == "state holds '0:0' and '1:0' instead of outcomes, in 2 of the first 2 rows"


def test_a_number_may_stand_for_an_outcome(tmp_path: Path) -> None:
    found = making.read_log(tmp_path, making.log_text({"state": "3"}, {"job": "18", "state": "3"}))
    assert {problem.code for problem in found.problems} == {"unknown-outcome"}


def test_a_duration_that_is_not_the_time_from_start_to_end(tmp_path: Path) -> None:
    columns = {**making.STANZA["columns"], "duration": "took"}
    hours = making.log_text({"took": "2"}, {"job": "18", "took": "2"})
    error = refused(lambda: making.read_log(tmp_path, hours, columns=columns))
    assert error.message == "took holds '2' instead of the time from start to end, in 2 of the first 2 rows"
    found = making.read_log(tmp_path, hours, columns=columns, units={"duration": "hours"})
    assert found.problems == ()


@pytest.mark.parametrize(
    ("changes", "settings", "code"),
    [
        ({"end": "2026-10-05T00:00:00Z"}, {}, "mostly-zero-length"),
        ({"start": "1790812800", "end": "1790816400"}, {"time": "epoch_ms"}, "mostly-far-past"),
        ({"start": "2090-01-01", "end": "2090-01-02"}, {}, "mostly-far-future"),
    ],
)
def test_times_of_most_rows_that_are_hard_to_believe_are_told(
    changes: dict[str, str], settings: dict[str, str], code: str, tmp_path: Path
) -> None:
    columns = {name: column for name, column in making.STANZA["columns"].items() if name != "outcome"}
    text = making.log_text(*({**changes, "job": str(job)} for job in range(3)))
    found = making.read_log(tmp_path, text, columns=columns, **settings)
    told = {problem.code: problem for problem in found.problems}
    assert code in told
    assert told[code].row == "+3"
    assert told[code].message.startswith("3 of 3 rows ")
    usual = making.read_log(tmp_path, making.log_text({}, {"job": "18"}, {"job": "19", "end": JUST_BEGUN}))
    assert usual.problems == ()


JUST_BEGUN = making.JOB["start"]
