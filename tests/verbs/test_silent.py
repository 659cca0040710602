"""Days that a source says nothing of: what counts is what ran, not what started."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import apportion
from apportion.model.times import parse_period
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.silent import silent_days
from apportion.verbs.world import pins_of
from tests.corrections.world import bill, line, put, write

GPUS = "  gpus: {costs: otherwise, meter: gpu, method: proportional}\n"
MONTH = "2026-10"


def new(folder: Path, *jobs: str) -> Project:
    write(folder, GPUS, jobs)
    bill(folder, MONTH, line(MONTH, "300"))
    project = apportion.open_project(folder)
    apportion.ingest(project)
    return project


def told(project: Project) -> list[str]:
    return [one.text for one in apportion.check(project, MONTH).checks if one.what == "usage"]


def covered(project: Project) -> tuple[bool, str]:
    put(project, MONTH)
    (look,) = (one for one in apportion.close(project, MONTH).looks if one.name == "covered")
    return look.good, look.text


def test_a_job_of_the_whole_month_starts_once_and_runs_on_every_day(tmp_path: Path) -> None:
    project = new(tmp_path, "a,vision,2026-09-20T00,2026-11-01T00,2")
    assert told(project) == []
    assert covered(project) == (True, "usage on every day")


def test_days_after_the_end_of_long_jobs_are_told(tmp_path: Path) -> None:
    """300 hours from the 1st end on the 13th at noon: 18 days are left."""
    project = new(tmp_path, "a,vision,2026-10-01T00,2026-10-13T12,2")
    said = "jobs: no row on 18 days: 2026-10-14, 2026-10-15, 2026-10-16, 2026-10-17, 2026-10-18 and 13 more"
    assert told(project) == [said]
    assert covered(project) == (False, said)


def test_a_source_that_tells_of_its_nodes_is_there_though_nothing_ran(tmp_path: Path) -> None:
    """Capacity that another source tells says nothing of the jobs' files; that of the same source does."""
    project = new(tmp_path, "a,vision,2026-10-01T00,2026-10-31T00,2")
    computed = compute(project, parse_period(MONTH), project.policy, pins_of(project))
    assert list(silent_days(computed)) == ["jobs: no row on 1 day: 2026-10-31"]
    capacity = computed.world.capacity
    names = pa.array(["jobs"] * len(capacity), capacity.schema.field("source").type)
    told = capacity.set_column(capacity.schema.get_field_index("source"), "source", names)
    assert not list(silent_days(replace(computed, world=replace(computed.world, capacity=told))))
