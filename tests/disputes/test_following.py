"""Decisions follow what a month comes to: a job that was moved or credited is moved or credited as it is now, worked out by hand.

One node of 8 GPUs, 28,800 for the 720 hours of September: 5.00 for a GPU-hour, whatever runs.
"""

from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.books.shapes import ALL, CREDIT, LOWERED, RECLASS
from apportion.errors import ProjectError
from apportion.verbs.adjust import Wish
from apportion.verbs.dispute import Doubt, Settlement, open_dispute, settle
from apportion.verbs.lower import lower
from apportion.verbs.project import Project
from tests.corrections.world import bill, closed, line, owed, post, put, write

SEPTEMBER, OCTOBER = "2026-09", "2026-10"
HEAD = """\
policy: small
effective: 2026-01-01
currency: USD
time_zone: UTC
teams: {a: {cost_centre: "1"}, b: {cost_centre: "2"}, c: {cost_centre: "3"}, office: {cost_centre: "9"}}
owners: [{when: {team: "*"}, team: "{team}"}]
pools:
"""
POOLS = "  gpus: {costs: otherwise, usage: {node: n1}, meter: gpu, method: capacity_rate, idle: central}\n"
OTHER = "1,a,2026-09-02T00,2026-09-03T00,2"  # 48 GPU-hours: 240


def jobs(*hours: int, job: str = "2026-06b", team: str = "b") -> list[str]:
    """A job on 4 GPUs, beside another one, for so many hours."""
    ends = [f"2026-09-{5 + hour // 24:02}T{hour % 24:02}" for hour in hours]
    return [OTHER, *(f"{job},{team},2026-09-05T00,{end},4" for end in ends)]


def started(folder: Path, hours: int) -> Project:
    write(folder, POOLS, jobs(hours), HEAD)
    bill(folder, SEPTEMBER, line(SEPTEMBER, "28800"))
    project = apportion.open_project(folder)
    post(project, SEPTEMBER)
    return project


def shrink(project: Project, hours: int) -> None:
    """Late usage says that the job ran for so many hours."""
    write(project.folder, POOLS, jobs(hours), HEAD)
    apportion.ingest(project)


def settled(project: Project, outcome: str, other: str, amount: str = ALL, what: str = "job:2026-06b") -> None:
    opened = open_dispute(project, SEPTEMBER, Doubt(what, "not ours"))
    settle(project, opened.dispute.number, Settlement(outcome, "agreed", other, amount))


def teams(project: Project, *months: str) -> dict[str, Decimal]:
    found: dict[str, Decimal] = {}
    for month in months or (SEPTEMBER, OCTOBER):
        for (team,), amount in owed(project, month, "team").items():
            found[team] = found.get(team, Decimal(0)) + amount
    return {team: amount for team, amount in found.items() if amount and not team.startswith("_")}


def kinds(project: Project) -> list[tuple[str, str, str]]:
    return [(run.kind, run.period, run.about) for run in project.books.runs() if run.kind != "close"]


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_job_that_was_moved_is_moved_as_it_is_now(tmp_path: Path, is_closed: bool) -> None:
    """2,000 are c's; 400 hours become 300: c owes 1,500 of that job and b nothing."""
    project = started(tmp_path, 100)
    assert teams(project) == {"a": 240, "b": 2000}
    settled(project, "reclassed", "c")
    assert teams(project) == {"a": 240, "c": 2000}
    if is_closed:
        closed(project, SEPTEMBER)
    shrink(project, 75)
    planned = apportion.plan(project, SEPTEMBER)
    text = "dispute 1 (job 2026-06b, from b to c): 2,000.00 USD became 1,500.00 USD"
    assert [one.text for one in planned.follows] == [text]
    done = apportion.apply(project, SEPTEMBER, made=planned.plan)
    assert done.followed == (text,)
    assert teams(project) == {"a": 240, "c": 1500}
    booked, about = (OCTOBER, SEPTEMBER) if is_closed else (SEPTEMBER, "")
    if is_closed:
        assert teams(project, SEPTEMBER) == {"a": 240, "c": 2000}
        assert teams(project, OCTOBER) == {"c": -500}
    assert kinds(project)[-1] == (RECLASS, booked, about)
    first, followed = project.books.transfers()
    assert (first.extent, first.amount) == (ALL, Decimal(2000))
    assert (followed.follows, followed.amount, followed.dispute) == (first.run_id, Decimal(-500), 1)
    assert project.books.verify() == []
    assert not put(project, SEPTEMBER).posted


def test_explain_says_what_a_team_owes_with_what_people_decided(tmp_path: Path) -> None:
    """2,000 of b are c's, late usage makes them 1,500: the headline ends at what the ledger says, in both months."""
    project = started(tmp_path, 100)
    settled(project, "reclassed", "c")
    closed(project, SEPTEMBER)
    shrink(project, 75)
    put(project, SEPTEMBER)
    b, c = (apportion.explain(project, team, SEPTEMBER).title for team in "bc")
    assert b.startswith("b owes 2,000.00 USD for 2026-09: posted, ")
    assert "Decisions booked in 2026-09 come to -2,000.00 USD beside that, 0.00 USD in all." in b
    assert b.endswith("Corrected since by 0.00 USD: 0.00 USD now.")
    assert c.startswith("c owes nothing for 2026-09: posted, ")
    assert c.endswith("2,000.00 USD in all. Corrected since by -500.00 USD: 1,500.00 USD now.")
    late = apportion.explain(project, "b", OCTOBER).title
    assert late.endswith("Decisions booked in 2026-10 come to 500.00 USD beside that, 0.00 USD in all.")


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_sponsor_pays_what_the_job_comes_to_now(tmp_path: Path, is_closed: bool) -> None:
    """400 are the office's; the job shrinks to 100: so are those."""
    project = started(tmp_path, 20)
    assert teams(project) == {"a": 240, "b": 400}
    settled(project, "credited", "office")
    assert teams(project) == {"a": 240, "office": 400}
    if is_closed:
        closed(project, SEPTEMBER)
    shrink(project, 5)
    put(project, SEPTEMBER)
    assert teams(project) == {"a": 240, "office": 100}
    shrink(project, 8)
    put(project, SEPTEMBER)
    assert teams(project) == {"a": 240, "office": 160}
    assert [run.kind for run in project.books.runs()].count(CREDIT) == 3
    assert project.books.verify() == []


def test_an_amount_stays_where_enough_is_left(tmp_path: Path) -> None:
    project = started(tmp_path, 20)
    settled(project, "credited", "office", "50")
    apportion.adjust(project, SEPTEMBER, Wish("b", "a", "30", "a trial"))
    closed(project, SEPTEMBER)
    shrink(project, 10)
    done = put(project, SEPTEMBER)
    assert done.followed == ()
    assert teams(project) == {"a": 270, "b": 120, "office": 50}


def test_an_amount_larger_than_what_is_left_stops_apply_until_it_is_lowered(tmp_path: Path) -> None:
    """300 of 400 are the office's. 100 are left: it says so, and with a reason the office pays those; 300 once there is as much."""
    project = started(tmp_path, 20)
    settled(project, "credited", "office", "300")
    closed(project, SEPTEMBER)
    before = project.books.head()
    shrink(project, 5)
    planned = apportion.plan(project, SEPTEMBER)
    with pytest.raises(ProjectError) as stopped:
        apportion.apply(project, SEPTEMBER, made=planned.plan)
    assert stopped.value.code == "decision-too-large"
    assert stopped.value.message == (
        "1 decision on 2026-09 would move more than is left: dispute 1 (job 2026-06b, credited to b, paid by office): "
        "300.00 USD was decided, 100.00 USD is left"
    )
    assert project.books.head() == before
    assert lower(project, SEPTEMBER, "the office agrees") == (
        "dispute 1 (job 2026-06b, credited to b, paid by office)",
    )
    put(project, SEPTEMBER)
    assert teams(project) == {"a": 240, "office": 100}
    shrink(project, 30)
    put(project, SEPTEMBER)
    assert teams(project) == {"a": 240, "b": 300, "office": 300}
    assert [one.why for one in project.books.transfers() if one.extent == LOWERED] == ["the office agrees"]
    assert project.books.verify() == []


def test_decisions_see_what_those_before_them_left(tmp_path: Path) -> None:
    """The job is c's, then half of what c owes is the office's: both follow, and the second is of an amount."""
    project = started(tmp_path, 100)
    settled(project, "reclassed", "c")
    apportion.adjust(project, SEPTEMBER, Wish("c", "office", "1600", "a trial"))
    assert teams(project) == {"a": 240, "c": 400, "office": 1600}
    shrink(project, 75)
    planned = apportion.plan(project, SEPTEMBER)
    with pytest.raises(ProjectError, match=r"credit-\w+ \(what c owes, credited to c, paid by office\): 1,600.00 USD"):
        apportion.apply(project, SEPTEMBER, made=planned.plan)
    shrink(project, 90)
    put(project, SEPTEMBER)
    assert teams(project) == {"a": 240, "c": 200, "office": 1600}


def test_a_statement_and_a_posting_follow(tmp_path: Path) -> None:
    """All that a owes goes to the office; of b's postings, one that no longer stands moves nothing."""
    project = started(tmp_path, 24)
    settled(project, "reclassed", "office", what="statement:a")
    seq = next(row["seq"] for row in project.books.entries(period=SEPTEMBER, team="b").to_pylist())
    settled(project, "reclassed", "c", what=f"posting:{seq}")
    assert teams(project) == {"c": 480, "office": 240}
    closed(project, SEPTEMBER)
    write(
        project.folder, POOLS, ["1,a,2026-09-02T00,2026-09-03T00,1", "2026-06b,b,2026-09-06T00,2026-09-06T10,4"], HEAD
    )
    post(project, SEPTEMBER)
    assert teams(project) == {"b": 200, "office": 120}
    assert project.books.verify() == []
