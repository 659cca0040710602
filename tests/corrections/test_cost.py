"""What a job of a closed month cost is what stands now: as it was corrected, with what people decided of it.

a has 4 GPUs for 6 hours and b 2, of a bill of 90: 60 and 30. Once September is closed a is told to have run for 12 hours: 72 and 18.
"""

import json
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.render.cost import cost_sheet, cost_value
from apportion.render.json import dumps
from apportion.verbs.dispute import Doubt, Settlement
from apportion.verbs.project import Project
from tests.corrections.world import bill, closed, line, post, put, write

GPUS = "  gpus: {costs: otherwise, meter: gpu, method: proportional}\n"
A, B = "a,vision,2026-09-01T00,2026-09-01T06,4", "b,speech,2026-09-01T00,2026-09-01T06,2"
LATE = "corrected in 2026-10: delivered after 2026-09 was closed: usage (jobs), workloads (jobs)"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = write(tmp_path, GPUS, (A, B))
    bill(folder, "2026-09", line("2026-09", "90"))
    made = apportion.open_project(folder)
    post(made, "2026-09")
    closed(made, "2026-09")
    write(folder, GPUS, (A.replace("01T06", "01T12"), B))
    apportion.ingest(made)
    return made


def test_before_it_is_corrected_it_is_what_was_posted(project: Project) -> None:
    found = apportion.cost(project, "a")
    assert (found.status, found.totals[0].owed) == ("final", Decimal(60))


def test_a_corrected_job_costs_what_stands_now(project: Project) -> None:
    put(project, "2026-09")
    found = apportion.cost(project, "a")
    assert (found.status, found.totals[0].direct, found.totals[0].owed) == ("final", Decimal(72), Decimal(72))
    ((_, views),) = found.views
    assert views.held == 48
    (share,) = found.shares
    assert (share.period, share.why, share.history) == ("2026-09", "posted and corrected", (LATE,))
    assert f"2026-09: {LATE}" in "\n".join(cost_sheet(found).notes)
    assert sum(apportion.cost(project, job).totals[0].owed for job in "ab") == 90


def test_what_was_moved_and_what_followed_is_told(project: Project) -> None:
    """60.00 went to speech, and when September was corrected 12.00 more."""
    opened = apportion.open_dispute(project, "2026-09", Doubt("job:a", "ran for speech")).dispute
    apportion.settle(project, opened.number, Settlement("reclassed", "it did", "speech"))
    put(project, "2026-09")
    found = apportion.cost(project, "a")
    said = "2026-09: 72.00 USD of it moved from vision//vision-user to speech, booked in 2026-10, dispute 1: it did"
    assert [one.text for one in found.decided] == [said]
    assert said in "\n".join(cost_sheet(found).notes)
    assert json.loads(dumps(cost_value(found)))["decided"][0]["amount"] == "72"
    assert found.totals[0].owed == 72
    assert apportion.cost(project, "a", "2026-09").decided == found.decided
    assert not apportion.cost(project, "b").decided


def test_a_later_plan_makes_it_an_estimate_again(project: Project) -> None:
    put(project, "2026-09")
    write(project.folder, GPUS, (A.replace("01T06", "01T18"), B))
    apportion.ingest(project)
    apportion.plan(project, "2026-09")
    found = apportion.cost(project, "a")
    assert (found.status, found.totals[0].owed) == ("estimated", Decimal(72))
    assert found.shares[0].why == "corrected, but a later plan says otherwise"
