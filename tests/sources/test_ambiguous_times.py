"""An hour comes twice when clocks go back, and never when they go forward: a local time in it is taken for one moment, and told."""

from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from apportion.errors import InputError, Problem
from apportion.model.times import is_ambiguous, is_skipped, parse_instant
from apportion.sources.cells.instants import instants
from apportion.sources.tco.facility.frames import Folder, read_frames
from tests.sources import making

BERLIN = ZoneInfo("Europe/Berlin")
TWICE = "2026-10-25T02:30:00"
NEVER = "2026-03-29T02:30:00"
FIRST = parse_instant(f"{TWICE}+02:00")


def told(problems: tuple[Problem, ...]) -> Counter[str]:
    return Counter(problem.code for problem in problems)


@pytest.mark.parametrize(
    ("text", "ambiguous"),
    [
        (TWICE, True),
        ("2026-10-25 02:00", True),
        ("2026-10-25T02:59:59", True),
        ("2026-10-25T03:00:00", False),
        ("2026-10-25T01:59:59", False),
        (f"{TWICE}+02:00", False),
        (f"{TWICE}Z", False),
        ("2026-03-29T02:30:00", False),
        ("2026-10-25", False),
        ("soon", False),
    ],
)
def test_which_times_name_two_moments(text: str, ambiguous: bool) -> None:
    assert is_ambiguous(text, BERLIN) == ambiguous
    for others in ([], ["2026-10-05T00:00:00Z"], ["2026-10-05T00:00:00.5"]):
        assert instants(pa.array([*others, text]), BERLIN).ambiguous == ((len(others),) if ambiguous else ())


@pytest.mark.parametrize(
    ("text", "skipped"),
    [
        (NEVER, True),
        ("2026-03-29 02:59:59", True),
        ("2026-03-29T02:00:00", False),
        ("2026-03-29T03:00:00", False),
        ("2026-03-29T03:30:00", False),
        ("2026-03-29T01:59:59", False),
        (f"{NEVER}+01:00", False),
        (f"{NEVER}Z", False),
        (TWICE, False),
        ("2026-03-29", False),
        ("soon", False),
    ],
)
def test_which_times_name_no_moment(text: str, skipped: bool) -> None:
    """The first second of the gap is the change itself, of which there is no doubt."""
    assert is_skipped(text, BERLIN) == skipped
    for others in ([], ["2026-03-29T03:30:00"], ["2026-10-05T00:00:00Z"], ["2026-10-05T00:00:00.5"]):
        assert instants(pa.array([*others, text]), BERLIN).skipped == ((len(others),) if skipped else ())


def test_skipped_times_of_other_forms() -> None:
    naive = pa.array([NEVER]).cast(pa.timestamp("s"))
    assert instants(naive, BERLIN).skipped == (0,)
    assert instants(naive.cast(pa.timestamp("s", "UTC")), BERLIN).skipped == ()
    local = pa.array(["29.03.2026 02:30", "29.03.2026 03:30"])
    assert instants(local, BERLIN, "%d.%m.%Y %H:%M").skipped == (0,)
    assert instants(pa.array([NEVER]), ZoneInfo("UTC")).skipped == ()
    apia = instants(pa.array(["2011-12-30 12:00:00", "2011-12-31 12:00:00"]), ZoneInfo("Pacific/Apia"))
    assert apia.skipped == (0,), "Samoa had no 30 December"


def test_columns_that_are_not_local() -> None:
    naive = pa.array([TWICE]).cast(pa.timestamp("s"))
    assert instants(naive, BERLIN).ambiguous == (0,)
    assert instants(naive.cast(pa.timestamp("s", "UTC")), BERLIN).ambiguous == ()
    assert instants(pa.array([str(FIRST)]), BERLIN, "epoch").ambiguous == ()
    assert instants(pa.array(["25.10.2026 02:30"]), BERLIN, "%d.%m.%Y %H:%M").ambiguous == (0,)
    assert instants(pa.array([TWICE]), ZoneInfo("UTC")).ambiguous == ()


def test_a_day_that_begins_twice_begins_once() -> None:
    """Clocks in Havana go back at one in the morning, so that midnight comes twice."""
    havana = ZoneInfo("America/Havana")
    assert instants(pa.array(["2026-11-01", "2026-11-01T00:30:00"]), havana).ambiguous == (1,)
    assert not is_ambiguous("2026-11-01", havana)


def test_logs(tmp_path: Path) -> None:
    log = making.log_text(
        {"start": TWICE, "end": "2026-10-25T04:00:00"},
        {"job": "18"},
        {"job": "19", "end": TWICE, "start": "2026-10-25"},
    )
    found = making.read_log(tmp_path, log, time_zone="Europe/Berlin")
    assert told(found.problems) == {"ambiguous-time": 2}
    assert "start '2026-10-25T02:30:00' comes twice, as clocks go back: the first is taken" in found.problems[0].message
    assert found.tables["usage"]["start_s"].to_pylist()[0] == FIRST


def test_logs_with_times_that_never_come(tmp_path: Path) -> None:
    """02:30 by the clock before the change is half past one in UTC, which the clock after it calls half past three."""
    log = making.log_text({"start": NEVER, "end": "2026-03-29T05:00:00"})
    found = making.read_log(tmp_path, log, time_zone="Europe/Berlin")
    assert told(found.problems) == {"skipped-time": 1}
    assert found.problems[0].message == (
        "start '2026-03-29T02:30:00' never comes, as clocks go forward: it counts by the clock before the change"
    )
    assert found.tables["usage"]["start_s"].to_pylist() == [parse_instant("2026-03-29T01:30:00Z")]
    rows = [
        {"start": NEVER, "end": "2026-03-29T06:00:00", "tz": zone, "job": zone}
        for zone in ("Asia/Tokyo", "Europe/Berlin")
    ]
    columns = {**making.STANZA["columns"], "zone": "tz"}
    zoned = making.read_log(tmp_path, making.log_text(*rows), columns=columns)
    assert [(one.code, one.where) for one in zoned.problems] == [("skipped-time", "log.csv:3")]


def test_logs_with_a_zone_for_each_row(tmp_path: Path) -> None:
    rows = [
        {"start": TWICE, "end": "2026-10-25T05:00:00", "tz": zone, "job": zone}
        for zone in ("Europe/Berlin", "Asia/Tokyo", "+02:00")
    ]
    columns = {**making.STANZA["columns"], "zone": "tz"}
    found = making.read_log(tmp_path, making.log_text(*rows), columns=columns)
    assert [problem.where for problem in found.problems] == ["log.csv:2"]


def test_accounting(tmp_path: Path) -> None:
    making.put(
        tmp_path / "slurm" / "sacct.txt",
        "JobIDRaw|Cluster|Submit|Start|End|Elapsed|State|NodeList|AllocTRES\n"
        f"1|lab|{TWICE}|{TWICE}|2026-10-25T04:00:00|02:30:00|COMPLETED|n1|cpu=1,node=1\n"
        "2|lab|2026-10-25T05:00:00|2026-10-25T05:00:00|2026-10-25T06:00:00|01:00:00|COMPLETED|n1|cpu=1,node=1\n",
    )
    making.put(
        tmp_path / "slurm" / "events.txt",
        "Cluster|Cluster Nodes|NodeName|Start|End|State|TRES|Reason\n"
        f"lab|n1||2026-10-01T00:00:00|Unknown||cpu=4,node=1|Cluster Registered TRES\nlab||n1|{TWICE}|2026-10-25T04:00:00|DOWN|cpu=4|gone\n",
    )
    (found,) = making.read("slurm", tmp_path, path="slurm", time_zone="Europe/Berlin")
    assert told(found.problems)["ambiguous-time"] == 2
    assert {problem.where for problem in found.problems if problem.code == "ambiguous-time"} == {
        "slurm/sacct.txt, job 1",
        "slurm, events",
    }
    for kind in ("sacct.txt", "events.txt"):
        path = tmp_path / "slurm" / kind
        text = path.read_text("utf-8").replace("2026-10-25T", "2026-03-29T").replace("2026-10-01", "2026-03-01")
        making.put(path, text)
    (spring,) = making.read("slurm", tmp_path, path="slurm", time_zone="Europe/Berlin")
    assert told(spring.problems)["skipped-time"] == 2
    assert "ambiguous-time" not in told(spring.problems)
    making.put(tmp_path / "slurm" / "events.txt", "Cluster|Cluster Nodes|NodeName|Start|End|State|TRES|Reason\n")
    (utc,) = making.read("slurm", tmp_path, path="slurm")
    assert "ambiguous-time" not in told(utc.problems)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.csv", f"user,used,time\nann,5,{TWICE}\nann,6,2026-10-26T00:00:00\n"),
        ("quota-2026-10-25T0230.csv", "user,used\nann,5\n"),
    ],
)
def test_storage(name: str, text: str, tmp_path: Path) -> None:
    making.put(tmp_path / name, text)
    settings = {"path": name, "volume": "home", "time_zone": "Europe/Berlin"}
    problems = tuple(problem for one in making.read("storage", tmp_path, **settings) for problem in one.problems)
    assert told(problems)["ambiguous-time"] == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.csv", f"user,used,time\nann,5,{NEVER}\nann,6,2026-03-30T00:00:00\n"),
        ("quota-2026-03-29T0230.csv", "user,used\nann,5\n"),
    ],
)
def test_storage_at_times_that_never_come(name: str, text: str, tmp_path: Path) -> None:
    making.put(tmp_path / name, text)
    settings = {"path": name, "volume": "home", "time_zone": "Europe/Berlin"}
    problems = tuple(problem for one in making.read("storage", tmp_path, **settings) for problem in one.problems)
    assert told(problems)["skipped-time"] == 1


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("out.csv", f"feature,user,out,in\nm,ann,{TWICE},2026-10-25T05:00:00\n", 1),
        ("seats.csv", f"feature,team,from,until,seats\nm,vision,{TWICE},2026-10-26,2\n", 1),
        ("log.txt", '1:50:00 (lmgrd) TIMESTAMP 10/25/2026\n2:30:00 (M) OUT: "m" ann@h\n4:00:00 (M) IN: "m" ann@h\n', 1),
        (
            "known.txt",
            '1:50:00 (lmgrd) TIMESTAMP 10/25/2026\n2:30:00 (M) OUT: "m" ann@h\n2:10:00 (M) IN: "m" ann@h\n4:00:00 (M) OUT: "m" bob@h\n',
            0,
        ),
    ],
)
def test_licences(name: str, text: str, count: int, tmp_path: Path) -> None:
    """A log whose lines go back within the hour shows by itself which of the two it was."""
    making.put(tmp_path / name, text)
    found = making.read("licences", tmp_path, path=name, time_zone="Europe/Berlin")
    assert told(tuple(problem for one in found for problem in one.problems))["ambiguous-time"] == count


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("out.csv", f"feature,user,out,in\nm,ann,{NEVER},2026-03-29T05:00:00\n"),
        ("seats.csv", f"feature,team,from,until,seats\nm,vision,{NEVER},2026-03-30,2\n"),
    ],
)
def test_licences_at_times_that_never_come(name: str, text: str, tmp_path: Path) -> None:
    making.put(tmp_path / name, text)
    found = making.read("licences", tmp_path, path=name, time_zone="Europe/Berlin")
    assert told(tuple(problem for one in found for problem in one.problems))["skipped-time"] == 1


@pytest.mark.parametrize(("time", "code"), [(TWICE, "ambiguous-time"), (NEVER, "skipped-time")])
def test_a_table_of_a_site_is_refused(time: str, code: str, tmp_path: Path) -> None:
    making.put(tmp_path / "prices.csv", f"start,end,price\n{time},2026-12-25T04:00:00,1\n")
    (frame,), _ = read_frames("prices.csv", Folder(tmp_path, ""), "it")
    with pytest.raises(InputError) as caught:
        frame.spans(BERLIN, 60)
    assert caught.value.code == code
