"""Logs that need understanding: nested, in zones and units of their own, computed; and those made to do harm."""

import json
import random
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import ApportionError, InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import Period, zone_named
from tests.sources import making

OCTOBER = Period(2026, 10).interval(zone_named("UTC"))
ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", None)
NESTED: dict[str, Any] = {
    "explode": "job.tasks",
    "time_zone": "Asia/Tokyo",
    "columns": {
        "workload": "concat(job.id, '.', job.tasks.rank)",
        "run": "job.id",
        "resource": "job.tasks.host.name",
        "start": "job.begin",
        "duration": "job.minutes * 60",
        "zone": "job.zone",
    },
    "meters": {"gpu": "job.tasks.gpus * job.scale", "cpu": "job.tasks.host.cores / 2"},
    "labels": {"account": "lower(coalesce(job.account, 'nobody'))"},
}


def schedule(seed: int) -> list[dict[str, Any]]:
    """Jobs with tasks; what they used follows from it, before any log is written."""
    dice = random.Random(seed)
    jobs = []
    for number in range(40):
        tasks = [
            {"rank": rank, "gpus": dice.randint(1, 8), "host": {"name": f"n{dice.randint(1, 9)}", "cores": dice.randint(1, 64)}}
            for rank in range(dice.randint(1, 4))
        ]  # fmt: skip
        begin = datetime(2026, 10, dice.randint(1, 30), dice.randint(0, 23), dice.randint(0, 59))  # noqa: DTZ001 - local
        jobs.append({
            "id": f"j{number}", "begin": begin.isoformat(sep=" "), "minutes": dice.randint(1, 500), "zone": dice.choice(ZONES),
            "scale": dice.choice(["1", "0.5", "0.25", "2"]), "account": dice.choice(["Vision", "speech", None]), "tasks": tasks,
        })  # fmt: skip
    return jobs


def truth(jobs: list[dict[str, Any]]) -> set[tuple[Any, ...]]:
    rows = set()
    for job in jobs:
        local = datetime.fromisoformat(job["begin"]).replace(tzinfo=ZoneInfo(job["zone"] or "Asia/Tokyo"))
        start = int(local.timestamp())
        end = start + job["minutes"] * 60
        for task in job["tasks"]:
            who = (f"{job['id']}.{task['rank']}", task["host"]["name"], start, end)
            rows.add((*who, "gpu", int(task["gpus"] * Fraction(job["scale"]) * GPU)))
            rows.add((*who, "cpu", task["host"]["cores"] * 500))
    return rows


def seen(delivery: Delivery) -> set[tuple[Any, ...]]:
    names = ("workload", "resource", "start_s", "end_s", "meter", "allocated")
    return {tuple(row[name] for name in names) for row in delivery.tables["usage"].to_pylist()}


def read(folder: Path, name: str, **settings: Any) -> Delivery:
    (delivery,) = making.read("usage", folder, OCTOBER, path=name, **settings)
    return delivery


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_nested_logs_give_what_was_scheduled_whatever_the_format(seed: int, tmp_path: Path) -> None:
    jobs = schedule(seed)
    expected = truth(jobs)
    making.put(tmp_path / "a.jsonl", "".join(json.dumps({"job": job}) + "\n" for job in jobs))
    making.put(tmp_path / "b.json", json.dumps([{"job": job} for job in jobs], indent=1))
    making.put(tmp_path / "c.csv", making.csv_text([{"job": json.dumps(job)} for job in jobs]))
    pq.write_table(pa.Table.from_pylist([{"job": job} for job in jobs]), tmp_path / "d.parquet")
    for name in ("a.jsonl", "b.json", "c.csv", "d.parquet"):
        delivery = read(tmp_path, name, **NESTED)
        assert seen(delivery) == expected, name
        assert not delivery.problems
        accounts = {row["workload"]: dict(row["labels"])["account"] for row in delivery.tables["workloads"].to_pylist()}
        assert accounts["j0.0"] == (jobs[0]["account"] or "nobody").lower()


def test_one_document_with_an_array_in_it(tmp_path: Path) -> None:
    jobs = schedule(5)
    making.put(tmp_path / "a.json", json.dumps({"meta": {"version": 3}, "jobs": jobs}))
    settings = {
        "explode": "jobs",
        "columns": {"workload": "jobs.id", "start": "jobs.begin", "duration": "jobs.minutes * 60"},
        "meters": {"gpu": "jobs.tasks[0].gpus"},
    }
    found = read(tmp_path, "a.json", **settings)
    assert {row[0]: row[-1] for row in seen(found)} == {job["id"]: job["tasks"][0]["gpus"] * GPU for job in jobs}


def test_a_column_of_the_very_name_is_never_an_expression(tmp_path: Path) -> None:
    making.put(tmp_path / "a.csv", "job,gpus * nodes,a.b,start - end,end\nx,3,n7,2026-10-01 00:00,2026-10-01 01:00\n")
    settings = {
        "columns": {"workload": "job", "resource": "a.b", "start": "start - end", "end": "end"},
        "meters": {"gpu": "gpus * nodes"},
    }
    ((workload, resource, _, _, _, gpus),) = seen(read(tmp_path, "a.csv", **settings))
    assert (workload, resource, gpus) == ("x", "n7", 3 * GPU)


def test_all_labels_are_the_columns_that_no_expression_reads(tmp_path: Path) -> None:
    making.put(tmp_path / "a.csv", "job,start,gpus,nodes,team,site\nx,2026-10-01 00:00,1,2,vision,eu\n")
    columns = {"workload": "concat(job, '-', site)", "start": "start"}
    delivery = read(tmp_path, "a.csv", columns=columns, meters={"gpu": "gpus * nodes"}, labels="*")
    assert [dict(row["labels"]) for row in delivery.tables["workloads"].to_pylist()] == [{"team": "vision"}]


def test_hours_of_gpus_become_gpus(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "from": "2026-10-01T00:00:00Z", "to": "2026-10-01T08:00:00Z", "gpu_hours": "12", "mem": "1.5 TB"}
    ]
    making.put(tmp_path / "a.csv", making.csv_text(rows))
    settings = {
        "columns": {"workload": "id", "start": "from", "end": "to"},
        "meters": {"gpu": "gpu_hours * 3600 / (to - `from`)", "memory": "mem"},
    }
    assert {row[-2]: row[-1] for row in seen(read(tmp_path, "a.csv", **settings))} == {
        "gpu": 3 * GPU // 2,
        "memory": 15 * 10**11,
    }


@pytest.mark.parametrize(
    ("unit", "cell", "expected"),
    [
        ("kubernetes", "64Gi", 64 * 2**30), ("kubernetes", "2G", 2 * 10**9), ("kubernetes", "1048576", 2**20),
        ("slurm", "4G", 4 * 2**30), ("slurm", "512", 512 * 2**20), ("GB", "3 GiB", 3 * 2**30), (None, "1.5 tib", 3 * 2**39),
        (None, "17 B", 17), (None, "900KB", 900_000), (None, "900 kB", 900_000), (None, "3 MB", 3 * 10**6), (None, "2 KiB", 2**11), ("B", "17", 17),
        ("KB", "2", 2000), ("PB", "1", 10**15),
        (None, "4G", None), ("slurm", "4000Mn", None), (None, "many", None), (None, "-1 GB", None),
    ],
)  # fmt: skip
def test_amounts_with_their_unit_beside_them(unit: str | None, cell: str, expected: int | None, tmp_path: Path) -> None:
    making.put(tmp_path / "a.csv", f"job,start,mem\nx,2026-10-01 00:00,{cell}\n")
    units = {"units": {"memory": unit}} if unit else {}
    delivery = read(tmp_path, "a.csv", columns={"workload": "job", "start": "start"}, meters={"memory": "mem"}, **units)
    assert [row[-1] for row in seen(delivery)] == ([] if expected is None else [expected])
    told = [
        problem for problem in delivery.problems if problem.code != "unusual-quantity"
    ]  # a byte of memory is hard to believe
    assert bool(told) == (expected is None)


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"meters": {"gpu": "gpus *"}}, "invalid-expression", "meters.gpu 'gpus *' is no column and no expression: expected a column"),
        ({"meters": {"gpu": "power(gpus, 9)"}}, "invalid-expression", "there is no function 'power'"),
        ({"meters": {"gpu": "gpus * nodez"}}, "missing-columns", "lacks nodez (is it nodes?)"),
        ({"meters": {"gpu": "GPU hours"}}, "missing-columns", "lacks GPU hours"),
        ({"meters": {"gpu": "gpu-count"}}, "missing-columns", "lacks gpu-count"),
        ({"explode": "gpus + 1"}, "invalid-expression", "expected the path of an array"),
        ({"explode": "taskz"}, "missing-columns", "lacks taskz"),
        ({"time": "%Q"}, "invalid-setting", "time must be"),
        ({"time": "%H:%M"}, "invalid-setting", "a format with a year"),
        ({"time_zone": "+25:00"}, "unknown-time-zone", "further from UTC"),
        ({"units": {"duration": "fortnights"}}, "unknown-unit", "a duration is not counted in"),
    ],
)  # fmt: skip
def test_a_wrong_stanza_is_refused_with_its_setting(
    settings: dict[str, Any], code: str, words: str, tmp_path: Path
) -> None:
    making.put(tmp_path / "a.csv", "job,start,gpus,nodes\nx,2026-10-01 00:00,1,2\n")
    whole = {"columns": {"workload": "job", "start": "start"}, "meters": {"gpu": "gpus"}} | settings
    with pytest.raises(ApportionError) as refused:
        read(tmp_path, "a.csv", **whole)
    assert refused.value.code == code
    assert words in refused.value.message
    assert isinstance(refused.value, InputError | ProjectError)


def test_an_end_that_cannot_be_computed_is_not_a_job_that_still_runs(tmp_path: Path) -> None:
    making.put(tmp_path / "a.csv", "job,start,took\nx,2026-10-01 00:00,soon\ny,2026-10-01 00:00,60\n")
    columns = {"workload": "job", "start": "start", "end": "start + took"}
    delivery = read(tmp_path, "a.csv", columns=columns, meters={"gpu": "1"})
    assert [(row[0], row[3] - row[2]) for row in seen(delivery)] == [("y", 60)]
    assert [(one.code, one.message, one.where) for one in delivery.problems] == [
        ("no-value", "start + took: 'soon' is not a number", "a.csv:2"),
    ]


STANZA: dict[str, Any] = {"columns": {"workload": "a.b", "start": "s"}, "meters": {"gpu": "1"}}


@pytest.mark.parametrize("depth", [120, 900, 100_000])
def test_deep_json_is_refused_and_the_rest_is_read(depth: int, tmp_path: Path) -> None:
    deep = '{"a": ' + "[" * depth + "]" * depth + ', "s": "2026-10-01 00:00"}'
    sound = '{"a": {"b": "x"}, "s": "2026-10-01 00:00"}'
    making.put(tmp_path / "a.jsonl", f"{deep}\n{sound}\n")
    delivery = read(tmp_path, "a.jsonl", **STANZA)
    assert [row[0] for row in seen(delivery)] == ["x"]
    assert making.codes(delivery) == ["malformed-row"]
    making.put(tmp_path / "b.json", f"[{deep}]")
    with pytest.raises(InputError, match=r"nested"):
        read(tmp_path, "b.json", **STANZA)
    making.put(tmp_path / "c.csv", making.csv_text([{"a": "[" * depth + "]" * depth, "s": "2026-10-01 00:00"}]))
    assert making.codes(read(tmp_path, "c.csv", **STANZA)) == ["no-rows", "no-value"]


def test_an_array_that_repeats_a_long_text_is_refused(tmp_path: Path) -> None:
    making.put(
        tmp_path / "a.jsonl", json.dumps({"s": "2026-10-01 00:00", "long": "x" * 2**20, "items": list(range(5000))})
    )
    settings = {"explode": "items", "columns": {"workload": "items", "start": "s"}, "meters": {"gpu": "1"}}
    assert len(seen(read(tmp_path, "a.jsonl", **settings))) == 5000
    with pytest.raises(InputError) as refused:
        read(tmp_path, "a.jsonl", labels={"long": "long"}, **settings)
    assert refused.value.code == "too-large"


def test_numbers_that_would_fill_the_memory_are_refused(tmp_path: Path) -> None:
    cells = ["1e100", "1e999999999", "9" * 5000, "1/0", "NaN"]
    making.put(
        tmp_path / "a.csv",
        making.csv_text([{"a.b": n, "s": "2026-10-01 00:00", "g": cell} for n, cell in enumerate(cells)]),
    )
    delivery = read(tmp_path, "a.csv", columns={"workload": "a.b", "start": "s"}, meters={"gpu": "g * 1 + 0"})
    assert not seen(delivery)
    assert {problem.code for problem in delivery.problems} == {"no-value"}
    assert len(delivery.problems) == len(cells)
