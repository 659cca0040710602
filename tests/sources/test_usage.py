"""Custom logs: mapped columns, running jobs, windows, workloads that many rows speak of."""

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.rows import TABLES
from apportion.model.times import Interval, Period, parse_instant, zone_named
from tests.sources import making

OCTOBER = Period(2026, 10).interval(zone_named("UTC"))


def table(delivery: Delivery, name: str = "usage") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = delivery.tables[name].to_pylist()
    return rows


@pytest.mark.parametrize(
    ("records", "settings"),
    [
        ("usage", making.STANZA),
        ("capacity", {"columns": {"resource": "node", "start": "start", "end": "end"}, "meters": {"gpu": "gpus"}}),
        (
            "reservations",
            {"columns": {"reservation": "job", "start": "start", "end": "end"}, "meters": {"gpu": "gpus"}},
        ),
        ("workloads", {"columns": {"workload": "job", "start": "start", "end": "end"}}),
    ],
)
@pytest.mark.parametrize("rows", [0, 3])
def test_a_delivery_has_the_models_schema(records: str, settings: dict[str, Any], rows: int, tmp_path: Path) -> None:
    text = making.log_text(*({"job": str(number)} for number in range(max(rows, 1))))
    making.put(tmp_path / "log.csv", text if rows else text.splitlines()[0])
    (delivery,) = making.read("usage", tmp_path, OCTOBER, path="log.csv", records=records, **settings)
    assert set(delivery.tables) == ({"usage", "workloads"} if records == "usage" else {records})
    for name, found in delivery.tables.items():
        assert found.schema.equals(TABLES[name])
        assert found.num_rows == rows
        found.validate(full=True)
    assert making.codes(delivery) == ([] if rows else ["no-rows"])


def test_csv_gzip_parquet_and_json_lines_give_the_same_rows(tmp_path: Path) -> None:
    jobs = [
        {
            **making.JOB,
            "job": f"{number}",
            "gpus": str(number % 9),
            "state": random.Random(number).choice(["FAILED", "COMPLETED", ""]),
        }
        for number in range(1, 300)
    ]
    text = making.csv_text(jobs)
    plain = making.read_log(tmp_path, text)
    packed = making.read_log(tmp_path, gzip.compress(text.encode()), "log.csv.gz")
    lines = making.read_log(
        tmp_path, "".join(json.dumps({**job, "gpus": int(job["gpus"])}) + "\n" for job in jobs), "log.ndjson"
    )
    typed = pa.Table.from_pylist([{**job, "gpus": int(job["gpus"]), "state": job["state"] or None} for job in jobs])
    pq.write_table(typed, tmp_path / "log.parquet")
    (parquet,) = making.read("usage", tmp_path, path="log.parquet", **making.STANZA)
    for other in (packed, lines, parquet):
        assert (other.tables, other.window, other.problems) == (plain.tables, plain.window, plain.problems)
    assert len(table(plain)) == sum(job["gpus"] != "0" for job in jobs)
    assert len(table(plain, "workloads")) == 299


def test_running_rows_end_with_the_window(tmp_path: Path) -> None:
    running = {"end": "", "state": "RUNNING"}
    delivery = making.read_log(tmp_path, making.log_text(running, {"job": "18"}))
    assert delivery.window == OCTOBER
    assert [row["end_s"] for row in table(delivery)] == [OCTOBER.end_s, parse_instant(making.JOB["end"])]
    assert [row["outcome"] for row in table(delivery, "workloads")] == ["running", "completed"]
    (asked,) = making.read(
        "usage", tmp_path, Interval(0, parse_instant("2026-10-06T00:00:00Z")), path="log.csv", **making.STANZA
    )
    assert table(asked)[0]["end_s"] == parse_instant("2026-10-06T00:00:00Z")
    (late,) = making.read("usage", tmp_path, Interval(0, 5), path="log.csv", **making.STANZA)
    assert table(late)[0]["end_s"] == table(late)[0]["start_s"], "what starts after the window has no length in it"


def test_the_window_is_whole_local_months(tmp_path: Path) -> None:
    text = making.log_text({"start": "2026-09-30T23:30:00", "end": "2026-10-31T23:00:00"})
    berlin = making.read_log(tmp_path, text, time_zone="Europe/Berlin")
    zone = zone_named("Europe/Berlin")
    assert berlin.window == Interval(Period(2026, 9).interval(zone).start_s, Period(2026, 10).interval(zone).end_s)
    assert making.read_log(tmp_path, text, window="2026-10").window == OCTOBER
    ends_with_it = making.log_text({"start": "2026-10-01T00:00:00Z", "end": "2026-11-01T00:00:00Z"})
    assert making.read_log(tmp_path, ends_with_it).window == OCTOBER


def test_a_stray_date_does_not_make_a_window_of_fifty_years(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        making.read_log(tmp_path, making.log_text({}, {"start": "1970-01-01T00:00:00Z"}))
    assert caught.value.code == "window-too-wide"
    stated = making.read_log(tmp_path, making.log_text({}, {"start": "1970-01-01T00:00:00Z"}), window="2026-10")
    assert stated.window == OCTOBER


def test_what_many_rows_say_of_a_workload_does_not_depend_on_their_order(tmp_path: Path) -> None:
    changes = [
        {"node": f"n{number}", "start": f"2026-10-05T0{number % 3}:00:00Z", "end": f"2026-10-05T0{number % 4 + 3}:00:00Z",
         "job": str(number % 5), "state": ["FAILED", "COMPLETED"][number % 2], "account": f"a{number % 7}"}
        for number in range(40)
    ]  # fmt: skip
    found = {
        json.dumps(making.canonical([making.read_log(tmp_path, making.log_text(*order))])[0]["tables"])
        for order in (changes, changes[::-1], changes[20:] + changes[:20])
    }
    assert len(found) == 1
    delivery = making.read_log(tmp_path, making.log_text(*changes))
    first = next(row for row in table(delivery, "workloads") if row["workload"] == "0")
    assert first["start_s"] == parse_instant("2026-10-05T00:00:00Z")
    assert first["end_s"] == parse_instant("2026-10-05T06:00:00Z")


def test_labels_json_of_repeated_workloads(tmp_path: Path) -> None:
    rows = [{**making.JOB, "node": f"n{number}", "more": json.dumps({"step": str(number)})} for number in range(3)]
    delivery = making.read_log(tmp_path, making.csv_text(rows), labels_json="more")
    told = table(delivery, "workloads")
    assert [dict(row["labels"])["step"] for row in told] == ["0", "1", "2"]
    assert [row["label_set"] for row in told] == [row["label_set"] for row in table(delivery, "usage")]
    assert len({row["label_set"] for row in told}) == 3


def test_every_other_column_as_a_label(tmp_path: Path) -> None:
    delivery = making.read_log(
        tmp_path, making.log_text({"queue": "gpu", "empty": ""}), labels="*", label_prefix="log."
    )
    assert [dict(row["labels"]) for row in table(delivery, "workloads")] == [
        {"log.account": "vision", "log.queue": "gpu"}
    ]


def test_files_with_other_columns_can_be_read_together(tmp_path: Path) -> None:
    making.put(tmp_path / "logs/1.csv", making.log_text({"queue": "gpu"}))
    making.put(tmp_path / "logs/2.csv", making.log_text({"job": "18", "partition": "big"}))
    (delivery,) = making.read("usage", tmp_path, path="logs", **{**making.STANZA, "labels": "*"})
    assert [sorted(dict(row["labels"])) for row in table(delivery, "workloads")] == [
        ["account", "queue"],
        ["account", "partition"],
    ]
    assert [file.name for file in delivery.files] == ["logs/1.csv", "logs/2.csv"]


def test_several_meters_with_their_units(tmp_path: Path) -> None:
    text = making.log_text({"mem": "1.5", "used": "25", "joules": "7200000"})
    delivery = making.read_log(
        tmp_path,
        text,
        meters={"gpu": "gpus", "memory": "mem", "energy": "joules"},
        used_meters={"gpu": "used"},
        units={"memory": "GiB", "energy": "joules", "gpu": "milli"},
        used_units={"gpu": "percent of allocated"},
    )
    assert {row["meter"]: (row["allocated"], row["used"]) for row in table(delivery)} == {
        "gpu": (4 * GPU // 1000, GPU // 1000),
        "memory": (3 * 2**29, None),
        "energy": (7_200_000, None),
    }


def test_used_amounts_may_have_another_unit(tmp_path: Path) -> None:
    delivery = making.read_log(
        tmp_path, making.log_text({"u": "900"}), used_meters={"gpu": "u"}, used_units={"gpu": "milli"}
    )
    assert table(delivery)[0]["used"] == 900 * GPU // 1000


def test_durations_are_seconds_whatever_the_times_are_counted_in(tmp_path: Path) -> None:
    columns = {"workload": "job", "start": "t", "duration": "d"}
    seconds = making.read_log(tmp_path, "job,t,d,gpus,account\n1,1790812800,90,1,a\n", columns=columns, time="epoch")
    millis = making.read_log(
        tmp_path, "job,t,d,gpus,account\n1,1790812800000,90,1,a\n", columns=columns, time="epoch_ms"
    )
    stated = making.read_log(
        tmp_path,
        "job,t,d,gpus,account\n1,1790812800000,90000,1,a\n",
        columns=columns,
        time="epoch_ms",
        units={"duration": "milliseconds"},
    )
    assert stated.tables == millis.tables
    assert seconds.tables == millis.tables
    assert table(seconds)[0]["end_s"] - table(seconds)[0]["start_s"] == 90
    assert table(seconds)[0]["resource"] == ""


def test_a_missing_column_is_named_with_its_likeness(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        making.read_log(tmp_path, making.log_text({}).replace("gpus", "gpu_s"))
    assert caught.value.code == "missing-columns"
    assert "gpus (is it gpu_s?)" in caught.value.message


def test_the_same_contents_twice_are_refused(tmp_path: Path) -> None:
    for name in ("1.csv", "2.csv"):
        making.put(tmp_path / "logs" / name, making.log_text({}))
    with pytest.raises(InputError) as caught:
        making.read("usage", tmp_path, path="logs", **making.STANZA)
    assert caught.value.code == "same-file-twice"


def test_outcomes_in_own_words_and_in_those_of_schedulers(tmp_path: Path) -> None:
    words = {
        "COMPLETED": "completed", "cancelled by 1000": "cancelled", "CANCELLED+": "cancelled", "Succeeded": "completed", "OOMKilled": "out_of_memory",
        "Evicted": "preempted", "NODE_FAIL": "node_fail", "BOOT_FAIL": "node_fail", "DEADLINE": "timeout", "kaputt": "failed",
        "??": "completed", "": "completed",
    }  # fmt: skip
    text = making.log_text(*({"job": str(number), "state": word} for number, word in enumerate(words)))
    delivery = making.read_log(tmp_path, text, outcomes={"Kaputt": "failed"})
    assert [row["outcome"] for row in table(delivery, "workloads")] == list(words.values())
    assert making.codes(delivery) == ["unknown-outcome"]


def test_a_bad_row_hides_no_other(tmp_path: Path) -> None:
    bad = [{"job": ""}, {"start": "x"}, {"end": "2026-10-04T00:00:00Z"}, {"gpus": "nan"}, {"gpus": "-1"}]
    delivery = making.read_log(tmp_path, making.log_text({}, *({"job": "x"} | change for change in bad), {"job": "y"}))
    assert sorted(row["workload"] for row in table(delivery)) == ["17", "y"]
    assert [problem.where for problem in delivery.problems] == [f"log.csv:{line}" for line in range(3, 8)]
    assert delivery.files[0].control == str(8 * GPU)


def test_an_unknown_meter_in_a_column(tmp_path: Path) -> None:
    columns = {**making.STANZA["columns"], "meter": "meter", "allocated": "gpus"}
    text = making.log_text(
        {"meter": "gpu"},
        {"meter": "gpus", "job": "2"},
        {"meter": "", "job": "3"},
        {"meter": "cpu", "job": "4", "gpus": ""},
    )
    delivery = making.read_log(tmp_path, text, columns=columns, meters={})
    assert [(row["workload"], row["meter"], row["allocated"]) for row in table(delivery)] == [("17", "gpu", 4 * GPU)]
    assert making.codes(delivery) == ["missing-amount", "missing-meter", "unknown-meter"]
