"""Reports over time: byte-seconds equal those of the schedule that the files were written from."""

import gzip
import hashlib
import json
import os
import random
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import ApportionError, InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval, instant_text, parse_instant
from apportion.sources.storage import SOURCE, probe
from tests.sources.making import codes, put, read

START = parse_instant("2026-10-01T00:00:00Z")
HOUR, DAY = 3600, 86_400
OCTOBER = Interval(START, START + 31 * DAY)


def stamp(second: int) -> str:
    return instant_text(second).replace(":", "").replace("-", "")


def byte_seconds(delivery: Delivery, column: str = "allocated", window: Interval | None = None) -> dict[str, int]:
    """By workload, cut to the window as the books do."""
    bounds = window or delivery.window
    found: dict[str, int] = {}
    for row in delivery.tables["usage"].to_pylist():
        seconds = min(row["end_s"], bounds.end_s) - max(row["start_s"], bounds.start_s)
        found[row["workload"]] = found.get(row["workload"], 0) + row[column] * seconds
    return found


def repquota(levels: dict[str, int], volume: str = "/dev/sda1") -> str:
    rows = [f"{name:<10} -- {kib:>9} {0:>7} {0:>7}        1     0     0" for name, kib in levels.items()]
    return "\n".join(
        [f"*** Report for user quotas on device {volume}", "User used soft hard grace", "-" * 40, *rows, ""]
    )


@pytest.mark.parametrize("seed", [3, 14, 159])
def test_a_month_of_daily_reports_equals_the_schedule(tmp_path: Path, seed: int) -> None:
    """Names come and go, sizes change; a report is missing now and then for less than a week."""
    dice = random.Random(seed)
    names = [f"u{number}" for number in range(12)]
    times, truth = [], dict.fromkeys(names, 0)
    at_s = START
    while at_s < OCTOBER.end_s:
        times.append(at_s)
        at_s += dice.choice([6, 12, 24, 24, 24, 40]) * HOUR
    estimated = 0
    for at_s, after in zip(times, [*times[1:], None], strict=True):
        levels = {name: dice.choice([0, 7, dice.randrange(10**9)]) for name in names if dice.random() < 0.8}
        until = min(at_s + 26 * HOUR, OCTOBER.end_s) if after is None else after
        estimated += after is not None and after - at_s > 26 * HOUR and bool(levels)
        for name, kib in levels.items():
            truth[name] += kib * 1024 * (until - at_s)
        put(tmp_path / f"quota/home-{stamp(at_s)}.txt", repquota(levels))
    (found,) = read("storage", tmp_path, OCTOBER, path="quota")
    seen = {f"storage/dev/sda1/user/{name}": total for name, total in truth.items()}
    assert byte_seconds(found) == seen
    assert codes(found).count("estimated") == estimated
    assert {row["used"] - row["allocated"] for row in found.tables["usage"].to_pylist()} == {0}


def test_months_are_deliveries_and_the_same_files_give_the_same(tmp_path: Path) -> None:
    for day in range(40):
        put(tmp_path / f"quota/home-{stamp(START + day * DAY)}.txt", repquota({"alice": 100 + day // 10}))
    found = read("storage", tmp_path, path="quota")
    assert [instant_text(one.window.start_s) for one in found] == ["2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"]
    assert sum(byte_seconds(one)["storage/dev/sda1/user/alice"] for one in found) == 1024 * (
        (100 + 101 + 102) * 10 * DAY + 103 * (9 * DAY + 26 * HOUR)
    )
    assert found[0].tables["usage"].num_rows == 4, "equal levels that follow each other are one row"
    put(tmp_path / f"quota/home-{stamp(START + 40 * DAY)}.txt", repquota({"alice": 1}))
    again = read("storage", tmp_path, path="quota")
    assert again[0].tables["usage"] == found[0].tables["usage"], "a report of November changes nothing of October"
    assert (again[0].files, again[0].problems) == (found[0].files, found[0].problems)
    (tmp_path / f"quota/home-{stamp(START + 40 * DAY)}.txt").unlink()
    again = read("storage", tmp_path, path="quota")
    assert [one.tables["usage"] for one in again] == [one.tables["usage"] for one in found]


def test_a_long_silence_is_bridged_for_a_week_and_listed(tmp_path: Path) -> None:
    for day in (0, 10, 11):
        put(tmp_path / f"quota/{stamp(START + day * DAY)}.txt", repquota({"alice": 1, "bob": 1}))
    (found,) = read("storage", tmp_path, OCTOBER, path="quota")
    (problem,) = found.problems
    assert problem.code == "estimated"
    assert (
        "2026-10-01T00:00:00Z to 2026-10-11T00:00:00Z (240 h): the 2 levels by user are held until 2026-10-08T00:00:00Z"
        in problem.message
    )
    assert byte_seconds(found)["storage/dev/sda1/user/bob"] == 1024 * (7 * DAY + DAY + 26 * HOUR)


def test_a_name_that_a_whole_report_no_longer_lists_is_gone(tmp_path: Path) -> None:
    for day, levels in enumerate([{"alice": 4, "bob": 4}, {"bob": 4}, {"alice": 1, "bob": 4}]):
        put(tmp_path / f"quota/{stamp(START + day * DAY)}.txt", repquota(levels))
    (found,) = read("storage", tmp_path, OCTOBER, path="quota")
    assert byte_seconds(found)["storage/dev/sda1/user/alice"] == 1024 * (4 * DAY + 26 * HOUR)
    ends = {row["name"]: (row["outcome"], row["end_s"]) for row in found.tables["workloads"].to_pylist()}
    assert ends["alice"] == ("running", START + 2 * DAY + 26 * HOUR)


def test_reports_of_single_names_do_not_end_each_other(tmp_path: Path) -> None:
    for day in range(3):
        for number, name in enumerate(("alice", "bob")):
            text = f"Disk quotas for usr {name} (uid {number}):\n Filesystem kbytes quota limit grace\n /lustre {4 + number} 0 16 - 1 0 0 -\n"
            put(tmp_path / f"quota/{name}-{stamp(START + day * DAY + number * 5)}.txt", text)
    (found,) = read("storage", tmp_path, OCTOBER, path="quota", held="quota")
    assert byte_seconds(found) == {
        f"storage/lustre/user/{name}": 16 * 1024 * (2 * DAY + 26 * HOUR) for name in ("alice", "bob")
    }
    assert byte_seconds(found, "used")["storage/lustre/user/bob"] == 5 * 1024 * (2 * DAY + 26 * HOUR)
    labels = [dict(row["labels"]) for row in found.tables["workloads"].to_pylist()]
    assert labels == [{"storage.user": name, "storage.volume": "lustre"} for name in ("alice", "bob")]
    assert set(found.tables["usage"]["resource"].to_pylist()) == {"storage/lustre"}


def test_whoever_is_over_quota_holds_what_is_used(tmp_path: Path) -> None:
    put(
        tmp_path / "r-2026-10-01.csv",
        "volume,user,used,quota\nhome,alice,900,500\nhome,bob,100,500\nhome,eve,100,none\n",
    )
    (found,) = read("storage", tmp_path, OCTOBER, path="r-2026-10-01.csv", held="quota")
    assert [(row["allocated"], row["used"]) for row in found.tables["usage"].to_pylist()] == [
        (900, 900),
        (500, 100),
        (100, 100),
    ]


def test_users_and_groups_of_one_volume_are_counted_once(tmp_path: Path) -> None:
    text = repquota({"alice": 1}) + repquota({"vision": 1}).replace("user quotas", "group quotas")
    put(tmp_path / "2026-10-01.txt", text)
    with pytest.raises(InputError, match="by group and by user") as refused:
        read("storage", tmp_path, OCTOBER, path="2026-10-01.txt")
    assert refused.value.code == "counted-twice"
    (found,) = read("storage", tmp_path, OCTOBER, path="2026-10-01.txt", by="group")
    assert found.tables["workloads"]["workload"].to_pylist() == ["storage/dev/sda1/group/vision"]


def test_two_levels_at_one_time_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "q/a-2026-10-01.txt", repquota({"alice": 1}))
    put(tmp_path / "q/b-2026-10-01.txt", repquota({"alice": 2}))
    with pytest.raises(
        InputError, match=r"two levels at 2026-10-01T00:00:00Z: in q/a-2026-10-01.txt and in q/b-2026-10-01.txt"
    ):
        read("storage", tmp_path, path="q")


def test_times_of_reports(tmp_path: Path) -> None:
    for name in (
        "q/x-2026-10-01.txt",
        "q/x_20261002T0600Z.txt",
        "q/1790985600.txt",
        "q/2026-10-04_06-30-00.txt",
        "q/nameless.txt",
    ):
        put(tmp_path / name, repquota({"alice": int(name.encode().hex(), 16) % 1000}))
    written = START + 4 * DAY
    os.utime(tmp_path / "q/nameless.txt", (written, written))
    (found,) = read("storage", tmp_path, Interval(START - DAY, OCTOBER.end_s), path="q", time_zone="Europe/Berlin")
    starts = [instant_text(row["start_s"]) for row in found.tables["usage"].to_pylist()]
    assert starts == [
        "2026-09-30T22:00:00Z",
        "2026-10-02T06:00:00Z",
        "2026-10-03T00:00:00Z",
        "2026-10-04T04:30:00Z",
        "2026-10-05T00:00:00Z",
    ]
    assert [problem.where for problem in found.problems if problem.code == "time-of-file"] == ["q/nameless.txt"]


def test_a_table_with_times_of_its_own(tmp_path: Path) -> None:
    text = "when,fs,group,gib,cap\n2026-10-01T00:00:00Z,/data/,vision,2,4\n2026-10-01T12:00:00Z,/data/,vision,3,4\n"
    text += "2026-10-01T12:00:00Z,/data/,,1,\nsome day,/data/,x,1,\n"
    put(tmp_path / "du.csv", text)
    columns = {"time": "when", "volume": "fs", "used": "gib", "quota": "cap"}
    (found,) = read("storage", tmp_path, OCTOBER, path="du.csv", columns=columns, unit="GiB", held="quota")
    assert byte_seconds(found, "used") == {"storage/data/group/vision": 2**30 * (2 * 12 * HOUR + 3 * 26 * HOUR)}
    assert codes(found) == ["malformed-row", "malformed-row"]


def test_capacity_of_a_file_system(tmp_path: Path) -> None:
    put(
        tmp_path / "q/df-2026-10-01.txt",
        "Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/a 1000 1 999 1% /users\n",
    )
    put(tmp_path / "q/home-2026-10-01.txt", repquota({"alice": 1}, "/users"))
    (found,) = read("storage", tmp_path, OCTOBER, path="q")
    (row,) = found.tables["capacity"].to_pylist()
    assert (row["resource"], row["meter"], row["amount"], row["state"]) == (
        "storage/users",
        "storage",
        1000 * 1024,
        "up",
    )
    assert found.tables["usage"]["resource"].to_pylist() == ["storage/users"]


OBJECTS = [
    ("vision/imagenet/a.tar", 100, "STANDARD"),
    ("vision/imagenet/b.tar", 11, "STANDARD"),
    ("vision/old/c.tar", 1000, "GLACIER"),
    ("my+team/%C3%A9tude/d", 7, "STANDARD"),
    ("top.txt", 3, "STANDARD"),
    ("vision/gone", None, None),
]


def inventory(base: Path, form: str, day: int = 0) -> None:
    """A manifest and one data file, as the store lays them out."""
    keys, sizes, tiers = zip(*OBJECTS, strict=True)
    name = f"part{day}.{'csv.gz' if form == 'CSV' else 'parquet'}"
    path = base / "inv/ml-data/daily/data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if form == "CSV":
        rows = [f'"ml-data","{key}","{"" if size is None else size}","{tier or ""}"' for key, size, tier in OBJECTS]
        path.write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))
    else:
        plain = [key.replace("my+team/%C3%A9tude", "my team/étude") for key in keys]
        pq.write_table(
            pa.table(
                {
                    "bucket": ["ml-data"] * len(plain),
                    "key": plain,
                    "size": pa.array(sizes, pa.int64()),
                    "storage_class": tiers,
                }
            ),
            path,
        )
    manifest = {
        "sourceBucket": "ml-data", "destinationBucket": "arn:aws:s3:::inv", "version": "2016-11-30", "fileFormat": form,
        "creationTimestamp": str((START + day * DAY) * 1000), "fileSchema": "Bucket, Key, Size, StorageClass",
        "files": [{"key": f"ml-data/daily/data/{name}", "size": path.stat().st_size, "MD5checksum": hashlib.md5(path.read_bytes()).hexdigest()}],
    }  # fmt: skip
    put(base / f"inv/ml-data/daily/2026-10-{day + 1:02}T00-00Z/manifest.json", json.dumps(manifest))


@pytest.mark.parametrize("form", ["CSV", "Parquet"])
@pytest.mark.parametrize("depth", [1, 2])
def test_an_inventory_by_prefix_and_class(tmp_path: Path, form: str, depth: int) -> None:
    inventory(tmp_path, form)
    (found,) = read("storage", tmp_path, OCTOBER, path="inv", prefix_depth=depth)
    rows = {(row["workload"], row["resource"]): row["used"] for row in found.tables["usage"].to_pylist()}
    deep = {"storage/ml-data/prefix/vision/imagenet@STANDARD": 111, "storage/ml-data/prefix/vision/old@GLACIER": 1000,
            "storage/ml-data/prefix/my team/étude@STANDARD": 7, "storage/ml-data/prefix/vision@STANDARD": 0}  # fmt: skip
    flat = {
        "storage/ml-data/prefix/vision@STANDARD": 111,
        "storage/ml-data/prefix/vision@GLACIER": 1000,
        "storage/ml-data/prefix/my team@STANDARD": 7,
    }
    expected = {**(flat if depth == 1 else deep), "storage/ml-data/prefix//@STANDARD": 3}
    assert {workload: used for (workload, _), used in rows.items()} == expected
    assert {resource for _, resource in rows} == {"storage/ml-data/STANDARD", "storage/ml-data/GLACIER"}
    labels = {dict(row["labels"])["storage.prefix"] for row in found.tables["workloads"].to_pylist()}
    assert ("vision" in labels) is True


def test_an_inventory_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    inventory(tmp_path, "CSV")
    data = tmp_path / "inv/ml-data/daily/data/part0.csv.gz"
    kept = data.read_bytes()
    data.write_bytes(kept[:-1])
    with pytest.raises(InputError, match="MD5"):
        read("storage", tmp_path, path="inv")
    data.unlink()
    with pytest.raises(InputError, match=r"lists part0.csv.gz, which is not there"):
        read("storage", tmp_path, path="inv")


def now() -> Interval:
    end = int(time.time()) // 60 * 60
    return Interval(end - DAY, end)


def asking(script: str, **settings: Any) -> dict[str, Any]:
    return {"command": [sys.executable, "-c", script], **settings}


def test_a_command_is_run_and_its_report_kept(tmp_path: Path) -> None:
    """Day after day: the first tells nothing of what was before, the second ends it."""
    first = now()
    script = f"print({repquota({'alice': 5})!r}, end='')"
    (found,) = read("storage", tmp_path, first, **asking(script))
    (kept,) = (tmp_path / "storage/it").iterdir()
    assert kept.name == f"it-{stamp(first.end_s)}.txt"
    assert kept.read_text(encoding="utf-8") == repquota({"alice": 5})
    assert found.tables["usage"].num_rows == 0
    second = Interval(first.end_s, first.end_s + 600)
    (found,) = read("storage", tmp_path, second, **asking(script.replace("5", "7")))
    assert byte_seconds(found) == {"storage/dev/sda1/user/alice": 5 * 1024 * 600}
    (again,) = read("storage", tmp_path, Interval(first.end_s, first.end_s + 300), path="storage/it")
    assert byte_seconds(again) == {"storage/dev/sda1/user/alice": 5 * 1024 * 300}


def test_a_command_is_not_asked_about_the_past(tmp_path: Path) -> None:
    (found,) = read("storage", tmp_path, OCTOBER, **asking("raise SystemExit(1)"))
    assert found.tables["usage"].num_rows == 0
    assert codes(found) == ["not-measured"]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import sys; print('half'); sys.exit('quota: no such file system')", "command-failed"),
        ("import time; time.sleep(60)", "too-slow"),
        ("print('quota: no such file system')", "unknown-form"),
        ("pass", "empty-file"),
    ],
)
def test_a_command_that_fails_leaves_no_report(tmp_path: Path, script: str, code: str) -> None:
    with pytest.raises(InputError) as refused:
        read("storage", tmp_path, now(), **asking(script, timeout_s=1 if code == "too-slow" else 120))
    assert refused.value.code == code
    assert not (tmp_path / "storage").exists()


@pytest.mark.parametrize("change", [{"keep": "../elsewhere"}, {"keep": "storage/*.txt"}, {"path": "storage"}])
def test_a_command_needs_a_folder_of_the_project(tmp_path: Path, change: dict[str, str]) -> None:
    with pytest.raises(ProjectError, match=r"must be a folder inside the project|has no path"):
        read("storage", tmp_path, now(), **asking("print(1)", **change))


def test_what_check_says(tmp_path: Path) -> None:
    settings = {"name": "home", "kind": "storage", "path": "q"}
    (missing,) = probe(settings, tmp_path)
    assert (missing.status, missing.text) == ("wrong", "there is no file q")
    (not_yet,) = probe({"name": "home", "kind": "storage", "command": "repquota /users"}, tmp_path)
    assert (not_yet.status, not_yet.fix) == ("note", "apportion ingest")
    put(tmp_path / "q/2026-10-01.txt", repquota({"alice": 1}))
    (old,) = probe(settings, tmp_path)
    assert old.status == "note"
    assert old.fix == "save a new report to q"
    put(tmp_path / "q/2026-10-02.txt", "nothing of the kind\n")
    (wrong,) = probe(settings, tmp_path)
    assert wrong.status == "wrong"


def test_the_stanza_that_init_writes_is_accepted(tmp_path: Path) -> None:
    every = SOURCE.stanza.replace("# ssh", "ssh").replace("# by", "by").replace("# held", "held")
    (settings,) = tomllib.loads(every)["sources"]
    with pytest.raises(ApportionError) as refused:
        list(SOURCE.read(settings, tmp_path, now()))
    assert refused.value.code in ("unreachable", "login-refused", "no-command"), (
        "the settings are fine; there is no such machine"
    )
    saved = SOURCE.stanza.replace("command =", "# command =").replace("# path", "path").replace("# by", "by")
    (settings,) = tomllib.loads(saved)["sources"]
    put(tmp_path / "reports/2026-10-01.txt", repquota({"alice": 1}))
    found = [item for item in SOURCE.read(settings, tmp_path, None) if isinstance(item, Delivery)]
    assert found[0].tables["usage"].num_rows == 1
