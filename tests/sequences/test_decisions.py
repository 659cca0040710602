"""Decisions on jobs that are corrected later, in any order with deliveries, runs and the close: every team owes what the plain model says."""

from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.errors import ProjectError
from apportion.verbs.adjust import Wish
from apportion.verbs.dispute import Doubt, Settlement, open_dispute, settle
from apportion.verbs.lower import lower
from apportion.verbs.project import Project
from tests.conftest import LONG
from tests.corrections.world import bill, closed, line, put, write
from tests.disputes.test_following import HEAD, OCTOBER, POOLS, SEPTEMBER
from tests.sequences.deciding import JOBS, Choice, Month, Step, corrects_a_decision, draw

NUMBERS = range(60) if LONG else (4,)
MANY = 400


def deliver(project: Project, hours: dict[str, int]) -> None:
    ends = {job: f"2026-09-{5 + some // 24:02}T{some % 24:02}" for job, some in hours.items() if some}
    write(
        project.folder,
        POOLS,
        [f"{job},{JOBS[job]},2026-09-05T00,{end},2" for job, end in ends.items()]
        or ["0,a,2026-08-01T00,2026-08-01T01,1"],
        HEAD,
    )
    apportion.ingest(project)


def decide(project: Project, step: Step) -> None:
    what, name, other, amount = step
    if name not in JOBS:
        apportion.adjust(project, SEPTEMBER, Wish(name, other, str(amount), "agreed", reference=project.books.head()))
        return
    opened = open_dispute(project, SEPTEMBER, Doubt(f"job:{name}", "not ours"))
    outcome = "reclassed" if what == "move" else "credited"
    settle(project, opened.dispute.number, Settlement(outcome, "agreed", other, str(amount) if amount else "all"))


def apply(project: Project, month: Month) -> None:
    _, short = month.owed(month.hours)
    if short and month.hours != month.applied:
        with pytest.raises(ProjectError, match="would move more than is left"):
            put(project, SEPTEMBER)
        assert len(lower(project, SEPTEMBER, "agreed")) == len(short)
        month.lower(short)
    put(project, SEPTEMBER)
    month.applied = dict(month.hours)


def take(project: Project, month: Month, step: Step) -> None:
    what, name, other, amount = step
    if what == "hours":
        month.hours[name] = amount
        deliver(project, month.hours)
    elif what == "apply":
        apply(project, month)
    elif what == "close" and SEPTEMBER not in project.books.closed_periods():
        closed(project, SEPTEMBER)
    elif what in ("move", "spare") and month.allows(step):
        decide(project, step)
        month.choices.append(Choice(what, name, other, amount))


def owed(project: Project) -> dict[str, Decimal]:
    """By team, in September and in what is booked for it in October."""
    found: dict[str, Decimal] = {}
    for period in (SEPTEMBER, OCTOBER):
        for row in project.books.posted(period).to_pylist():
            found[row["team"]] = found.get(row["team"], Decimal(0)) + row["amount"]
    return {team: amount for team, amount in found.items() if amount and not team.startswith("_")}


@pytest.mark.parametrize("number", NUMBERS)
def test_every_team_owes_what_the_plain_model_says(number: int, tmp_path: Path) -> None:
    month = Month()
    write(tmp_path, POOLS, ["0,a,2026-08-01T00,2026-08-01T01,1"], HEAD)
    bill(tmp_path, SEPTEMBER, line(SEPTEMBER, "28800"))
    project = apportion.open_project(tmp_path)
    deliver(project, month.hours)
    for step in draw(number):
        take(project, month, step)
        expected, _ = month.owed(month.applied)
        assert owed(project) == {team: amount for team, amount in expected.items() if amount}, step
    assert project.books.verify() == []


def test_enough_sequences_correct_a_job_that_was_decided_on() -> None:
    share = sum(corrects_a_decision([*draw(number)]) for number in range(MANY)) / MANY
    assert share >= 0.05
    assert all(corrects_a_decision([*draw(number)]) for number in NUMBERS if not LONG)
