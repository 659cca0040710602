"""Statements of a small organisation, against numbers worked by hand, and the sums that must always hold."""

from pathlib import Path

import pytest

import apportion
from apportion.errors import ProjectError
from apportion.reports.statement.shape import LEVELS, Change, Line, Statement, from_json, to_json
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.sources import making
from tests.stating.world import POLICY, line, new_project, post, write_bill

MONTHS = ("2026-09", "2026-10", "2026-11")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """September and October are closed; September's cards are restated afterwards, from 100 to 110; November has a new rule."""
    folder = tmp_path_factory.mktemp("stating")
    found = new_project(folder)
    post(found, "2026-09")
    assert apportion.close(found, "2026-09", override="small").closed
    post(found, "2026-10")
    write_bill(folder, "2026-09", "110")
    post(found, "2026-09")
    assert apportion.close(found, "2026-10", override="small").closed
    rules = (
        "{team: vision, percent: -10, sponsor: platform, why: a hard year, until: 2026-12-31}",
        "{team: platform, cap: 9000, sponsor: finance, why: a ceiling}",  # which it never reaches
    )
    rule = f"adjustments: [{', '.join(rules)}]\n"
    making.put(folder / "policy.yaml", POLICY.replace("2026-01-01", "2026-11-01") + rule)
    again = apportion.open_project(folder)
    post(again, "2026-11")
    return again


def one(project: Project, month: str, owner: str, level: str = "team") -> Statement:
    (found,) = statements(project, Wanted(month, level, owner))
    return found


def every(project: Project, month: str) -> list[Statement]:
    return [made for level in LEVELS for made in statements(project, Wanted(month, level))]


@pytest.mark.parametrize("month", MONTHS)
def test_every_section_adds_up_to_what_is_owed(project: Project, month: str) -> None:
    for made in every(project, month):
        assert sum(line.amount for line in made.summary) == made.owed
        for part in made.parts:
            assert sum(line.amount for line in part.lines) == made.owed
            assert (
                made.before is None
                or part.lines[0].before is None
                or sum(line.before or 0 for line in part.lines) == made.before
            )
        assert not made.children or sum(line.amount for line in made.children) == made.owed
        assert not made.workloads or sum(line.amount for line in made.workloads) == made.owed
        assert made.before is None or sum(change.amount for change in made.changes) == made.owed - made.before
        assert from_json(to_json(made)) == made


@pytest.mark.parametrize("month", MONTHS)
def test_statements_add_up_to_the_bills_and_to_what_is_booked(project: Project, month: str) -> None:
    posted = project.books.posted(month)["amount"].to_pylist()
    bill = int((sum(posted) * 100).to_integral_value())
    teams = statements(project, Wanted(month))
    assert sum(made.owed for made in teams) == sum(made.charged for made in teams) == bill
    for level in ("department", "cost_centre"):
        parents = statements(project, Wanted(month, level))
        assert sum(made.owed for made in parents) == bill
        for made in parents:
            assert {line.name: line.amount for line in made.children} == {
                child.owner: child.owed
                for child in statements(project, Wanted(month, child_level(level)))
                if is_child(child, made, project, month)
            }


def child_level(level: str) -> str:
    return LEVELS[LEVELS.index(level) + 1]


def is_child(child: Statement, parent: Statement, project: Project, month: str) -> bool:
    """As the policy says: department research has cost centre 100, central has 900."""
    of_department = {"research": {"vision", "speech"}, "central": {"platform"}}
    of_centre = {"100": {"research"}, "900": {"central"}}
    return child.owner in {**of_department, **of_centre}[parent.owner]


def test_volume_and_price(project: Project) -> None:
    """Sixty GPU-hours at 1.00 became 120 at 1.20: 60 more for volume, 24 for price."""
    made = one(project, "2026-10", "vision")
    drivers = {(change.driver, change.pool): change.amount for change in made.changes}
    assert drivers == {("volume", "gpus"): 6000, ("price", "gpus"): 2400, ("corrections", "gpus"): 600}
    other = one(project, "2026-10", "speech")
    drivers = {(change.driver, change.pool): change.amount for change in other.changes}
    assert drivers == {("volume", "gpus"): -1000, ("price", "gpus"): 600, ("corrections", "gpus"): 400}


def test_a_correction_says_what_was_and_what_is(project: Project) -> None:
    made = one(project, "2026-10", "vision")
    (correction,) = made.corrections
    assert (correction.about, correction.was, correction.now, correction.amount) == ("2026-09", 6000, 6600, 600)
    assert "cost lines" in correction.cause
    assert [run.kind for run in project.books.runs() if run.run_id in correction.runs] == ["plan", "correction"]
    assert Line("corrections of earlier months", 600, 0) in made.summary


def test_what_the_policy_changed(project: Project) -> None:
    """The same work at the same prices, and ten percent less: the sponsor has them."""
    made, sponsor = one(project, "2026-11", "vision"), one(project, "2026-11", "platform")
    assert [change for change in made.changes if change.driver == "policy"] == [Change("policy", "gpus", -1440)]
    assert [change for change in sponsor.changes if change.driver == "policy"] == [Change("policy", "gpus", 1440)]
    (mine,), (theirs,) = made.adjustments, sponsor.adjustments
    assert (mine.side, mine.other, mine.amount, mine.why, mine.until) == (
        "received",
        "platform",
        -1440,
        "a hard year",
        "2026-12-31",
    )
    assert (theirs.side, theirs.other, theirs.amount) == ("given", "vision", 1440)
    assert theirs.why == "a hard year; a cap bounds own charges, this comes on top"


def test_modes_and_carriers(project: Project) -> None:
    """Speech is only shown its cost; the platform carries it, and what nobody owns."""
    speech, platform, vision = (one(project, "2026-09", name) for name in ("speech", "platform", "vision"))
    assert (speech.mode, speech.charged, speech.number, speech.owed) == ("showback", 0, "", 7001)
    assert (platform.owed, platform.carried, platform.charged) == (999, 7001, 8000)
    assert platform.summary == (Line("owned by nobody, carried for all", 999, None),)
    assert (vision.charged, vision.number, platform.number) == (6000, "AP-2026-000002", "AP-2026-000001")
    assert one(project, "2026-10", "platform").number == "AP-2026-000003"
    assert one(project, "2026-11", "vision").number == ""


def test_use_waste_and_workloads(project: Project) -> None:
    """A quarter of what was held was not used."""
    made = one(project, "2026-09", "vision")
    (use,) = made.usage
    assert (use.pool, use.unit, use.held, use.used, use.amount, use.waste) == ("gpus", "GPU", "60", "45", 6000, 1500)
    top = made.workloads[0]
    assert (top.workload, top.name, top.project, top.user, top.amount, top.waste) == (
        "2026-09-vision-1",
        "train-x",
        "p1",
        "u1",
        5000,
        1250,
    )
    phases = next(part for part in made.parts if part.by == "phase")
    assert {line.name: line.amount for line in phases.lines} == {"training": 5000, "(none)": 1000}


def test_a_budget_runs_over_its_quarter(project: Project) -> None:
    (september,), (november,) = one(project, "2026-09", "vision").budgets, one(project, "2026-11", "vision").budgets
    assert (september.per, september.amount, september.spent, september.left) == ("quarter", 20000, 6000, 14000)
    assert november.spent == one(project, "2026-10", "vision").owed + one(project, "2026-11", "vision").owed


def test_what_was_issued_stays_word_for_word(project: Project, tmp_path: Path) -> None:
    kept = [text for level in LEVELS for text in project.books.statements("2026-09", level)]
    assert kept
    assert all(from_json(text).before is None and not from_json(text).corrections for text in kept)
    assert one(project, "2026-09", "vision").owed == 6000
    assert not one(project, "2026-09", "vision").is_draft
    assert one(project, "2026-11", "vision").is_draft
    project.books.backup(tmp_path / "books.tar")
    assert apportion.verify(project).sound


def test_as_the_books_stood(project: Project) -> None:
    """On a day before anything was posted there is nothing to state."""
    with pytest.raises(ProjectError, match="nothing-posted"):
        statements(project, Wanted("2026-11", as_of="2026-01-01"))


def test_owners_and_levels_that_are_not_there(project: Project) -> None:
    with pytest.raises(ProjectError, match="unknown-owner") as wrong:
        statements(project, Wanted("2026-09", "team", "visoin"))
    assert "vision" in str(wrong.value)
    with pytest.raises(ProjectError, match="unknown-owner"):
        statements(project, Wanted("2026-11", "team", "visoin"))
    with pytest.raises(ProjectError, match="unknown-level"):
        statements(project, Wanted("2026-09", "galaxy"))
    assert one(project, "2026-09", "vision/p1", "project").owed == 5000
    assert one(project, "2026-09", "u2", "user").owed == 2000


def test_a_month_that_comes_to_nothing_in_cents_says_so(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    making.put(tmp_path / "bills" / "2026-09.csv", making.bill_text(line("2026-09", "0.001", Tags='{"team":"vision"}')))
    apportion.ingest(project)
    apportion.plan(project, "2026-09")
    apportion.apply(project, "2026-09")
    with pytest.raises(ProjectError, match="every amount is less than one minor unit"):
        list(statements(project, Wanted("2026-09")))
