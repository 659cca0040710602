"""Traces of real clusters from log to plan: what each owner held is what others counted, exactly."""

from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import apportion
from apportion.model.times import Period, instant_text
from apportion.verbs.plan import Planned
from tests.traces.project import MISSING, TRACES, Line, facts, write_lisa, write_log, write_project

pytestmark = pytest.mark.skipif(not TRACES.exists(), reason=MISSING)
MONTHS = ("2017-09", "2017-10", "2017-11", "2017-12")


def month(period: str, amount: int, zone: str = "UTC", resource: str = "") -> Line:
    year, number = (int(part) for part in period.split("-"))
    bounds = Period(year, number).interval(ZoneInfo(zone))
    return Line(instant_text(bounds.start_s), instant_text(bounds.end_s), Decimal(amount), resource)


def owed(planned: Planned) -> dict[str, Decimal]:
    """By team, over all days."""
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in planned.plan.postings.to_pylist():
        found[row["team"]] += row["amount"]
    return dict(found)


def nonzero(amounts: dict[str, int]) -> dict[str, Decimal]:
    return {owner: Decimal(amount) for owner, amount in amounts.items() if amount}


PHILLY = """
[[sources]]
name = "jobs"
kind = "usage"
path = "log.parquet"
columns = {workload = "job", resource = "site", start = "timestamp", duration = "duration"}
meters = {gpu = "num_gpus"}
labels = {team = "cluster"}
"""


def test_philly_month_by_month(tmp_path: Path) -> None:
    """82,247 jobs of 15 virtual clusters; jobs that cross a month's end are cut there."""
    known = facts("philly")
    write_log(
        tmp_path / "log.parquet",
        "select row_number() over () as job, 'philly' as site, * from {jobs}",
        jobs="philly/jobs.parquet",
    )
    bills = [month(period, known["by_month_split"][period]) for period in MONTHS]
    policy = {"effective": "2017-09-01", "zone": "UTC", "rule": "meter: gpu, method: proportional"}
    project = apportion.open_project(write_project(tmp_path, PHILLY, policy, bills))
    assert [one.problems for one in apportion.ingest(project)] == [(), ()]
    total = Decimal(0)
    for period in MONTHS:
        found = owed(apportion.plan(project, period))
        assert found == nonzero(known["by_month_and_group_split"][period])
        total += sum(found.values())
    assert total == known["total_gpu_seconds"]


HELIOS = """
[[sources]]
name = "{records}"
kind = "usage"
path = "log.parquet"
records = "{records}"
time_zone = "Asia/Shanghai"
columns = {{{columns}resource = "vc", start = "time", duration = "seconds"}}
meters = {{gpu = "{gpus}"}}
"""


def test_helios_minute_by_minute(tmp_path: Path) -> None:
    """16 virtual clusters with GPUs of their own, each minute a row: used and idle as the samples say, the outage included."""
    known, zone = facts("helios_earth"), "Asia/Shanghai"
    write_log(
        tmp_path / "log.parquet", "select *, 60 as seconds from {minutes}", minutes="helios_earth/vc_minute.parquet"
    )
    usage = (
        HELIOS.format(records="usage", columns='workload = "vc", ', gpus="running_gpu_num") + 'labels = {team = "vc"}\n'
    )
    capacity = HELIOS.format(records="capacity", columns="", gpus="total_gpu_num")
    bills = [month("2020-05", seen["capacity_gpu_seconds"], zone, vc) for vc, seen in known["by_vc"].items()]
    policy = {"effective": "2020-05-01", "zone": zone, "rule": "meter: gpu, scope: resource, slot: period"}
    project = apportion.open_project(write_project(tmp_path, usage + capacity, policy, bills))
    assert [one.problems for one in apportion.ingest(project)] == [(), (), ()]
    found = owed(apportion.plan(project, "2020-05"))
    assert found.pop("_idle") == known["idle_gpu_seconds"]
    assert found == nonzero({vc: seen["gpu_seconds"] for vc, seen in known["by_vc"].items()})
    assert sum(found.values()) == known["total_gpu_seconds"]


OPENB = """
[[sources]]
name = "pods"
kind = "usage"
path = "log.parquet"
time = "epoch"
columns = {workload = "name", resource = "cluster", start = "scheduled_time", end = "deletion_time", outcome = "pod_phase"}
meters = {gpu = "milli"}
units = {gpu = "milli"}
labels = {team = "qos"}
"""


def test_openb_with_shared_gpus(tmp_path: Path) -> None:
    """6,203 pods, half of them on a part of a GPU, over five months in one bill; pods that never ran are listed."""
    known = facts("openb2023")
    write_log(
        tmp_path / "log.parquet",
        "select *, num_gpu * gpu_milli as milli, 'openb' as cluster from {pods}",
        pods="openb2023/pods.parquet",
    )
    whole = Line("1970-01-01T00:00:00Z", "1970-06-01T00:00:00Z", Decimal(known["total_gpumilli_seconds"]))
    policy = {"effective": "1970-01-01", "zone": "UTC", "rule": "meter: gpu, method: proportional"}
    project = apportion.open_project(write_project(tmp_path, OPENB, policy, [whole]))
    _, pods = apportion.ingest(project)
    codes = ["invalid-time"] * known["rows_missing_start_or_end"]
    assert [problem.code for problem in pods.problems] == [*codes, "mostly-far-past"], "its clock begins at 0"
    found = owed(apportion.plan(project, "1970-03"))
    assert found == nonzero({qos: seen["unit_seconds"] for qos, seen in known["by_group"].items()})


def test_lisa_every_half_minute(tmp_path: Path) -> None:
    """2,323,475 rows: what 16 cores were held is the trace's total; what of it was used is measured, so it is no more than that."""
    known = facts("surf_lisa")["tasks_week"]
    project = apportion.open_project(write_lisa(tmp_path))
    assert [one.problems for one in apportion.ingest(project)] == [(), (), ()]
    planned = apportion.plan(project, "2022-10")
    pool = planned.plan.trace.pools["cluster"]
    assert pool.market is not None
    held = sum(
        amounts[1] for cells in pool.market.demand.values() for loads in cells.values() for amounts in loads.values()
    )
    assert held == known["total_cpu_seconds"] * 1000
    assert sum(owed(planned).values()) == Decimal(known["capacity_units"] * 31 * 86_400)
