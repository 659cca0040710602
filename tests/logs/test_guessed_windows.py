"""Logs without a stated window, read again: no month of the books vanishes by a job that ran on, and nothing stays of a reading that was mended."""

from pathlib import Path

import pytest

from apportion.model.times import Interval, Period, zone_named
from apportion.verbs.ingest import Ingested, ingest
from apportion.verbs.project import open_project
from apportion.verbs.soundness import source_findings
from apportion.verbs.usage_taken import usage_by_meter

STANZA = """\
[project]
name = "small"

[[sources]]
name = "log"
kind = "usage"
path = "log.csv"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpu" }
"""
HEADER = "job,node,start,end,gpu"
SEPTEMBER = [
    "1,n1,2026-09-05 00:00:00,2026-09-06 00:00:00,1",
    "2,n1,2026-09-05 00:00:00,2026-09-06 00:00:00,2",
    "3,n1,2026-09-30 12:00:00,2026-09-30 18:00:00,1",
]
OCTOBER = ["8,n1,2026-10-05 00:00:00,2026-10-05 03:00:00,1", "9,n1,2026-09-30 12:00:00,2026-10-01 12:00:00,1"]
SACCT = "JobIDRaw|User|Account|Start|End|ElapsedRaw|State|NodeList|AllocTRES"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "apportion.toml").write_text(STANZA, "utf-8")
    return tmp_path


def read(folder: Path, rows: list[str], more: str = "") -> Ingested:
    (folder / "log.csv").write_text("\n".join([HEADER, *rows]) + "\n", "utf-8")
    return reread(folder, more)


def reread(folder: Path, more: str = "") -> Ingested:
    (folder / "apportion.toml").write_text(STANZA + more, "utf-8")
    (done,) = ingest(open_project(folder))
    return done


def hours(folder: Path, month: int, zone: str = "UTC") -> int:
    """GPU hours of the books."""
    return hours_in(folder, Period(2026, month).interval(zone_named(zone)))


def hours_in(folder: Path, window: Interval) -> int:
    units = usage_by_meter(open_project(folder).books.scan("usage"), window)
    return whole_hours(units.get(("log", "gpu"), 0))


def whole_hours(units: int) -> int:
    hours, rest = divmod(units, 504_000 * 3600)
    assert not rest
    return hours


def told(done: Ingested) -> list[tuple[str, int]]:
    return [(one.code, whole_hours(int(one.quantity or 0))) for one in done.problems if one.meter == "gpu"]


def test_a_job_that_ran_on_takes_nothing_from_the_month_before(folder: Path) -> None:
    """The log of October is put in place of September's: 78 hours stay, and 12 of job 9 are known to be missing."""
    read(folder, SEPTEMBER)
    assert hours(folder, 9) == 78
    done = read(folder, OCTOBER)
    assert (hours(folder, 9), hours(folder, 10)) == (78, 15)
    assert told(done) == [("months-kept", 12)]
    again = reread(folder)
    assert (again.changed, told(again)) == (0, [("months-kept", 12)])
    project = open_project(folder)
    assert [line.status for line in source_findings(project, project.source("log"))] == ["ok"]
    grown = read(folder, [*OCTOBER, "10,n1,2026-10-07 00:00:00,2026-10-07 01:00:00,1"])
    assert (hours(folder, 9), hours(folder, 10), told(grown)) == (78, 16, [("months-kept", 12)])


def test_nothing_is_missing_where_the_month_before_knew_of_the_job(folder: Path) -> None:
    """In September's log it still ran."""
    read(folder, [*SEPTEMBER, "9,n1,2026-09-30 12:00:00,,1"])
    assert told(read(folder, OCTOBER)) == []
    assert (hours(folder, 9), hours(folder, 10)) == (90, 15)


def test_a_month_is_replaced_where_the_log_says_more_of_it(folder: Path) -> None:
    """Job 3 was a slip; one row that lies in September shows that the log speaks for it."""
    read(folder, SEPTEMBER)
    assert told(read(folder, [*SEPTEMBER[:2], *OCTOBER])) == []
    assert (hours(folder, 9), hours(folder, 10)) == (84, 15)


def test_who_alone_is_known_of_a_month_may_be_corrected(folder: Path) -> None:
    read(folder, OCTOBER)
    assert told(read(folder, [OCTOBER[0], OCTOBER[1].replace(",1", ",4")])) == []
    assert (hours(folder, 9), hours(folder, 10)) == (48, 51)


def test_a_stated_window_is_what_is_replaced(folder: Path) -> None:
    read(folder, SEPTEMBER)
    read(folder, OCTOBER, 'window = "2026-09"\n')
    assert hours(folder, 9) == 12


@pytest.mark.parametrize(
    ("zone", "start", "end"),
    [
        ("Europe/Berlin", "2026-09-30 20:00:00", "2026-09-30 23:00:00"),
        ("America/Los_Angeles", "2026-09-01 00:00:00", "2026-09-01 03:00:00"),
    ],
)
def test_nothing_stays_of_a_zone_that_was_mended(zone: str, start: str, end: str, folder: Path) -> None:
    """At either edge of the month hours of the first reading used to stay beside those of the second."""
    read(folder, [f"1,n1,{start},{end},1", SEPTEMBER[1]])
    reread(folder, f'time_zone = "{zone}"\n')
    assert hours_in(folder, Interval(0, 2**32)) == 3 + 48
    assert hours(folder, 9, zone) == 3 + 48
    assert reread(folder, f'time_zone = "{zone}"\n').changed == 0


def test_nothing_stays_of_a_form_of_times_that_was_mended(folder: Path) -> None:
    """10/05/2026 was read as the tenth of May; June's log, which came between, stays."""
    read(folder, ["1,n1,10/05/2026 00:00,10/05/2026 03:00,1"], 'time = "%d/%m/%Y %H:%M"\n')
    june = ["7,n1,2026-06-05 00:00:00,2026-06-05 05:00:00,1"]
    us = (folder / "log.csv").read_text("utf-8")
    read(folder, june)
    (folder / "log.csv").write_text(us, "utf-8")
    reread(folder, 'time = "%m/%d/%Y %H:%M"\n')
    assert [hours(folder, month) for month in (5, 6, 10)] == [0, 5, 3]
    assert reread(folder, 'time = "%m/%d/%Y %H:%M"\n').changed == 0


def test_saved_accounting_of_slurm_keeps_the_month_before(tmp_path: Path) -> None:
    stanza = (
        '[project]\nname = "small"\n\n[[sources]]\nname = "log"\nkind = "slurm"\npath = "sacct.txt"\ncluster = "lab"\n'
    )
    (tmp_path / "apportion.toml").write_text(stanza, "utf-8")
    for rows in (SEPTEMBER, OCTOBER):
        (tmp_path / "sacct.txt").write_text("\n".join([SACCT, *map(accounted, rows)]) + "\n", "utf-8")
        (done,) = ingest(open_project(tmp_path))
    assert [hours(tmp_path, month) for month in (9, 10)] == [78, 15]
    assert ("months-kept", 12) in told(done)


def accounted(row: str) -> str:
    job, node, start, end, gpus = row.replace(" ", "T").split(",")
    return f"{job}|ann|vision|{start}|{end}||COMPLETED|{node}|cpu=1,gres/gpu={gpus},node=1"
