"""Rows of a log that would count wrongly, or not at all, without a word: each is told."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU, METERS
from apportion.model.times import parse_period, zone_named
from tests.sources import making

OCTOBER = {"window": "2026-10"}
TOOK: dict[str, Any] = {
    "columns": {"workload": "job", "resource": "node", "start": "start", "end": "end", "duration": "took"}
}
GIB = METERS["memory"].base


def told(delivery: Delivery) -> list[tuple[str, str, str]]:
    return [(one.code, one.where, one.row) for one in delivery.problems]


def test_a_row_without_any_amount_is_told_and_one_with_some_is_not(tmp_path: Path) -> None:
    """Rows 2 and 6 hold a GPU or cores; 3 states nothing, 4 a 0, 5 percents of nothing; 7 is told for its faulty cell alone."""
    rows = [
        {"gpus": "1", "cpus": "", "busy": ""},
        {"gpus": "", "cpus": "", "busy": ""},
        {"gpus": "0", "cpus": "", "busy": ""},
        {"gpus": "", "cpus": "", "busy": "50"},
        {"gpus": "", "cpus": "8", "busy": ""},
        {"gpus": "x", "cpus": "", "busy": ""},
    ]
    text = making.log_text(*({"job": str(number), **row} for number, row in enumerate(rows)))
    settings: dict[str, Any] = {"meters": {"gpu": "gpus", "cpu": "cpus"}, "used_meters": {"gpu": "busy"}}
    delivery = making.read_log(tmp_path, text, **settings, used_units={"gpu": "percent of allocated"})
    assert sorted(told(delivery)) == [
        ("invalid-number", "log.csv:7", ""),
        ("missing-amount", "log.csv:3", ""),
        ("missing-amount", "log.csv:5", ""),
    ]
    assert [row["workload"] for row in delivery.tables["usage"].to_pylist()] == ["0", "4"]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_a_last_line_without_an_end_is_noted(tmp_path: Path, name: str) -> None:
    text = making.log_text({}) if name.endswith("csv") else json.dumps(making.JOB) + "\n"
    assert making.codes(making.read_log(tmp_path, text, name)) == []
    assert making.codes(making.read_log(tmp_path, text.rstrip("\n"), name)) == ["no-last-newline"]


def test_a_line_with_another_key_is_told(tmp_path: Path) -> None:
    lines = [
        '{"job": "1", "node": "n1", "start": "2026-10-05T00:00:00Z", "end": "2026-10-05T01:00:00Z", "gpus": 1}',
        '{"job": "2", "node": "n1", "start": "2026-10-05T00:00:00Z", "end": "2026-10-05T01:00:00Z", "gpu": 1}',
    ]
    making.put(tmp_path / "log.jsonl", "\n".join(lines) + "\n")
    columns = {"workload": "job", "resource": "node", "start": "start", "end": "end"}
    (delivery,) = making.read("usage", tmp_path, path="log.jsonl", columns=columns, meters={"gpu": "gpus"})
    assert told(delivery) == [("missing-amount", "log.jsonl:2", "")]


@pytest.mark.parametrize(
    ("amount", "codes"),
    [
        ("0.0000001", ["too-fine"]),
        ("1e-9", ["too-fine"]),
        ("1/9999999", ["too-fine"]),
        ("0", []),
        ("0.000", []),
        ("0e5", []),
        ("0.000002", ["unusual-quantity"]),
    ],
)
def test_an_amount_that_rounds_to_nothing_is_told(amount: str, codes: list[str], tmp_path: Path) -> None:
    """Half of 1/504,000 of a GPU is 0.000000992."""
    delivery = making.read_log(tmp_path, making.log_text({}, {"job": "18", "gpus": amount}))
    assert making.codes(delivery) == codes


def test_numbers_of_parquet_that_round_to_nothing_are_told(tmp_path: Path) -> None:
    table = pa.table({name: [making.JOB[name]] * 3 for name in making.JOB if name not in ("gpus", "job")})
    table = table.append_column("job", pa.array(["1", "2", "3"])).append_column("gpus", pa.array([1.0, 1e-9, 0.0]))
    pq.write_table(table, tmp_path / "log.parquet")
    (delivery,) = making.read("usage", tmp_path, path="log.parquet", **making.STANZA)
    assert [one.code for one in delivery.problems] == ["too-fine"]
    assert "1e-09" in delivery.problems[0].message


def test_a_used_amount_that_rounds_to_nothing_is_told_where_it_is_all_that_a_row_states(tmp_path: Path) -> None:
    rows = [{"gpus": "", "busy": "0.0000001"}, {"gpus": "1", "busy": "0.0000001", "job": "18"}, {"gpus": "", "busy": "0.0", "job": "19"}]  # fmt: skip
    delivery = making.read_log(tmp_path, making.log_text(*rows), used_meters={"gpu": "busy"})
    assert told(delivery) == [("too-fine", "log.csv:2", "")]
    long = {**making.STANZA["columns"], "meter": "what", "allocated": "gpus", "used": "busy"}
    rows = [{**row, "what": "gpu"} for row in rows]
    delivery = making.read_log(tmp_path, making.log_text(*rows), columns=long, meters={})
    assert told(delivery) == [("too-fine", "log.csv:2", "")]


def test_rows_outside_the_window_are_told(tmp_path: Path) -> None:
    early = {"start": "2026-09-05T00:00:00Z", "end": "2026-09-05T01:00:00Z"}
    over = {"start": "2026-09-30T23:00:00Z", "end": "2026-10-01T01:00:00Z"}
    touching = {"start": "2026-09-30T23:00:00Z", "end": "2026-10-01T00:00:00Z"}
    rows = [{**change, "job": str(number)} for number, change in enumerate([{}, early, over, touching])]
    delivery = making.read_log(tmp_path, making.log_text(*rows), **OCTOBER)
    assert told(delivery) == [("outside-window", "log.csv", "+2")]
    assert delivery.problems[0].message.startswith("2 of 4 rows lie outside the window, 2026-10-01T00:00:00Z to ")
    november = parse_period("2026-11").interval(zone_named("UTC"))
    (asked,) = making.read("usage", tmp_path, november, path="log.csv", **making.STANZA)
    assert told(asked) == [("none-in-window", "log.csv", "+4")]
    assert asked.problems[0].message.endswith("they run from 2026-09-05T00:00:00Z to 2026-10-05T02:00:00Z")


@pytest.mark.parametrize("records", ["workloads", "capacity"])
def test_other_records_outside_the_window_are_told_too(records: str, tmp_path: Path) -> None:
    columns = {"start": "start", "end": "end"} | (
        {"workload": "job"} if records == "workloads" else {"resource": "node"}
    )
    settings: dict[str, Any] = {"records": records, "columns": columns, "labels": {}}
    settings |= {"meters": {}} if records == "workloads" else {}
    delivery = making.read_log(tmp_path, making.log_text({}), **settings, window="2026-09")
    assert told(delivery) == [("none-in-window", "log.csv", "+1")]


def test_white_space_around_labels_is_none_of_theirs(tmp_path: Path) -> None:
    rows = [
        {"account": account} for account in ("vision", " vision", "vision\u00a0", "\tvision ", " \u00a0", "my team")
    ]
    rows = [{**row, "job": str(number)} for number, row in enumerate(rows)]
    delivery = making.read_log(tmp_path, making.log_text(*rows))
    labels = {row["workload"]: row["labels"] for row in delivery.tables["workloads"].to_pylist()}
    vision = [("slurm.account", "vision")]
    assert [labels[str(number)] for number in range(6)] == [vision] * 4 + [[], [("slurm.account", "my team")]]
    sets = [row["label_set"] for row in sorted(delivery.tables["usage"].to_pylist(), key=lambda row: row["workload"])]
    assert len(set(sets[:4])) == 1
    assert sets[4] is None


def test_white_space_around_labels_in_json(tmp_path: Path) -> None:
    rows = [{"all": '{"team": " vision ", "user": " "}'}, {"all": '{"team": "speech"}', "job": "18"}]
    delivery = making.read_log(tmp_path, making.log_text(*rows), labels={}, labels_json="all")
    labels = {row["workload"]: row["labels"] for row in delivery.tables["workloads"].to_pylist()}
    assert labels == {"17": [("team", "vision")], "18": [("team", "speech")]}


def test_white_space_around_names_and_words_is_none_of_theirs(tmp_path: Path) -> None:
    row = {"job": " 17", "node": "n1\u00a0", "state": " FAILED ", "site": " east ", "account": "vision"}
    columns = {**making.STANZA["columns"], "cluster": "site"}
    delivery = making.read_log(tmp_path, making.log_text(row, {**row, "job": "18", "node": " "}), columns=columns)
    usage, life = (delivery.tables[name].to_pylist()[0] for name in ("usage", "workloads"))
    assert (usage["workload"], usage["resource"], usage["cluster"], life["outcome"]) == ("17", "n1", "east", "failed")
    assert delivery.tables["usage"].to_pylist()[1]["resource"] == "", "a blank is no name"


def test_work_that_began_years_before_the_window_is_told_with_its_hours_inside(tmp_path: Path) -> None:
    """Job 17 began at the epoch and ends after two hours of October; 18 began a month before and is ordinary; 19 was over long ago."""
    rows = [
        {"start": "1970-01-01T00:00:00Z", "end": "2026-10-01T02:00:00Z", "gpus": "4"},
        {"start": "2026-09-01T00:00:00Z", "end": "2026-10-01T02:00:00Z", "job": "18"},
        {"start": "2010-09-01T00:00:00Z", "end": "2010-10-01T02:00:00Z", "job": "19"},
    ]
    delivery = making.read_log(tmp_path, making.log_text(*rows), **OCTOBER)
    found = {one.code: one for one in delivery.problems}
    assert sorted(found) == ["far-past", "outside-window"]
    assert (found["far-past"].row, found["far-past"].meter) == ("+1", "gpu")
    assert int(found["far-past"].quantity) == 4 * GPU * 2 * 3600
    assert found["far-past"].message.endswith("such as '17' at 1970-01-01T00:00:00Z")


def test_a_log_of_which_no_row_can_be_taken_says_why(tmp_path: Path) -> None:
    """Start and end changed places in the stanza."""
    columns = {**making.STANZA["columns"], "start": "end", "end": "start"}
    with pytest.raises(InputError) as told:
        making.read_log(tmp_path, making.log_text({}), columns=columns)
    assert (told.value.code, told.value.message) == (
        "no-rows",
        "log.csv holds no row that could be taken, and no window is set; log.csv:2: the row ends before it starts",
    )


def test_work_that_ends_years_after_the_window_is_told_with_its_hours_inside(tmp_path: Path) -> None:
    """Job 17 has a slip in the year of its end and begins two hours before October is over; 18 ends a year later, and 19 begins after the window."""
    rows = [
        {"start": "2026-10-31T22:00:00Z", "end": "2062-10-31T23:00:00Z", "gpus": "4"},
        {"start": "2026-10-31T22:00:00Z", "end": "2027-10-31T23:00:00Z", "job": "18"},
        {"start": "2027-01-01T00:00:00Z", "end": "2062-10-31T23:00:00Z", "job": "19"},
    ]
    delivery = making.read_log(tmp_path, making.log_text(*rows), **OCTOBER)
    found = {one.code: one for one in delivery.problems}
    assert sorted(found) == ["far-future", "outside-window"]
    assert (found["far-future"].row, int(found["far-future"].quantity)) == ("+1", 4 * GPU * 2 * 3600)
    assert found["far-future"].message.endswith("such as '17' at 2062-10-31T23:00:00Z")


def test_nodes_that_are_old_are_no_wonder(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"records": "capacity", "columns": {"resource": "node", "start": "start"}, "labels": {}}
    delivery = making.read_log(tmp_path, making.log_text({"start": "2015-01-01"}), **settings, **OCTOBER)
    assert delivery.problems == ()


@pytest.mark.parametrize(
    ("row", "end", "codes"),
    [
        ({"took": "7200"}, "2026-10-05T02:00:00Z", []),
        ({"took": "7201"}, "2026-10-05T02:00:01Z", []),
        ({"took": "3600"}, "2026-10-05T01:00:00Z", ["duration-differs"]),
        ({"took": ""}, "2026-10-05T02:00:00Z", []),
        ({"took": "3600", "end": ""}, "2026-10-05T01:00:00Z", []),
    ],
)
def test_a_duration_counts_and_an_end_that_is_another_one_is_told(
    row: dict[str, str], end: str, codes: list[str], tmp_path: Path
) -> None:
    rows = [*({"job": str(number), "took": "7200"} for number in range(3)), row]
    delivery = making.read_log(tmp_path, making.log_text(*rows), **TOOK)
    assert making.codes(delivery) == codes
    (own,) = [one for one in making.canonical([delivery])[0]["tables"]["usage"] if one["workload"] == "17"]
    assert own["end_s"] == end


def test_percents_that_nobody_named_are_told(tmp_path: Path) -> None:
    """45 percent of 4 GPUs, read as 45 GPUs; 8 times is believed, since processes may use more than they were given."""
    rows = [{"busy": "45"}, {"busy": "32", "job": "18"}, {"gpus": "0", "busy": "5", "job": "19"}]
    delivery = making.read_log(tmp_path, making.log_text(*rows), used_meters={"gpu": "busy"})
    (found,) = delivery.problems
    assert (found.code, found.row, int(found.quantity)) == ("unusual-quantity", "+1", 4 * GPU * 7200)
    assert "1 row states more than 10 times as much gpu used as held, such as 45 of 4 GPU" in found.message


@pytest.mark.parametrize(
    ("units", "amount", "codes"),
    [
        ({}, "65536", ["unusual-quantity"]),
        ({}, "32768", []),
        ({"units": {"memory": "GiB"}}, "65536", []),
        ({"units": {"memory": "MB"}}, "65536", []),
    ],
)
def test_memory_in_megabytes_is_told_where_nobody_named_a_unit(
    units: dict[str, Any], amount: str, codes: list[str], tmp_path: Path
) -> None:
    """65,536 GiB in one row are 64 TiB; the largest machines have 32."""
    delivery = making.read_log(tmp_path, making.log_text({"mem": amount}), meters={"memory": "mem"}, **units)
    assert making.codes(delivery) == codes
