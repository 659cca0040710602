"""Money of other months beside a month's own: lines that come late, corrections, and what people moved.

vision holds 3 GPUs and speech 1 for 100 hours in September and in October, at 1.00 an hour: the month's own part never changes.
"""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.render.statement import render
from apportion.reports.statement.shape import Move, Statement, from_json, to_json
from apportion.verbs.dispute import Doubt, Settlement
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.corrections.world import POLICY, bill, closed, line, put, write

JOBS = tuple(
    f"{team}-{month},{team},2026-{month}-01T00,2026-{month}-05T04,{gpus}"
    for month in ("09", "10")
    for team, gpus in (("vision", 3), ("speech", 1))
)
GPUS = "  gpus: {costs: otherwise, meter: gpu, method: proportional}\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """September at 400.00 is closed. October has 400.00 of its own, and 8.00 for 2 September."""
    folder = write(tmp_path, GPUS, JOBS)
    bill(folder, "2026-09", line("2026-09", "400"))
    bill(folder, "2026-10", line("2026-10", "400"), line("2026-10", "8", "2026-09-02/2026-09-03"))
    found = apportion.open_project(folder)
    apportion.ingest(found)
    put(found, "2026-09")
    closed(found, "2026-09")
    put(found, "2026-10")
    return found


def one(project: Project, owner: str, month: str = "2026-10") -> Statement:
    (found,) = statements(project, Wanted(month, owner=owner))
    return found


def drivers(made: Statement) -> dict[str, int]:
    return {change.driver: change.amount for change in made.changes}


def test_a_late_line_is_a_driver_of_its_own(project: Project) -> None:
    """The hours of 2 September are no hours of October, so neither volume nor price moved."""
    assert drivers(one(project, "vision")) == {"late": 600}
    assert drivers(one(project, "speech")) == {"late": 200}


def test_a_month_of_a_zone_has_the_hours_that_utc_gives_it(tmp_path: Path) -> None:
    """A bill by UTC begins in Denver on the last day of the month before, which is none of another month."""
    folder = write(tmp_path, GPUS, JOBS, POLICY.replace("time_zone: UTC", "time_zone: America/Denver"))
    bill(folder, "2026-09", line("2026-09", "400"))
    bill(folder, "2026-10", line("2026-10", "800"))
    found = apportion.open_project(folder)
    apportion.ingest(found)
    for month in ("2026-09", "2026-10"):
        put(found, month)
    assert date(2026, 9, 30) in found.books.posted("2026-10")["day"].to_pylist()
    assert drivers(one(found, "vision")) == {"price": 30000}


def test_corrections_and_what_was_moved_are_drivers_of_their_own(project: Project) -> None:
    """September comes to 440.00: vision owes 30.00 more of it. Speech's job of October, 100.00, goes to vision."""
    bill(project.folder, "2026-09", line("2026-09", "440"))
    apportion.ingest(project)
    put(project, "2026-09")
    move(project, "job:speech-10", "vision")
    assert drivers(one(project, "vision")) == {"late": 600, "corrections": 3000, "reclasses": 10000}
    assert drivers(one(project, "speech")) == {"late": 200, "corrections": 1000, "reclasses": -10000}


def test_hours_stand_against_the_money_that_they_cost(project: Project) -> None:
    """300 hours cost 300.00, whatever else is owed in the pool: 6.00 late, 30.00 corrected, 100.00 moved."""
    bill(project.folder, "2026-09", line("2026-09", "440"))
    apportion.ingest(project)
    put(project, "2026-09")
    move(project, "job:speech-10", "vision")
    made = one(project, "vision")
    (use,) = made.usage
    assert (use.held, use.amount, use.other_hours) == ("300", 30000, 13600)
    assert from_json(to_json(made)) == made
    table = render(made, "md").decode().partition("## Held against used")[2].partition("##")[0]
    assert [cell.strip() for cell in table.splitlines()[-2].split("|")[1:-1]][-3:] == ["**300.00**", "", "**136.00**"]
    assert "usage,gpus,,other_hours,USD,136.00" in render(made, "csv").decode()


def test_where_there_is_nothing_else_the_statement_says_nothing_of_it(project: Project) -> None:
    (use,) = one(project, "vision", "2026-09").usage
    assert (use.amount, use.other_hours) == (30000, None)
    assert "other_hours" not in to_json(one(project, "vision", "2026-09"))


def test_what_was_moved_is_no_subsidy(project: Project) -> None:
    """It has a table of its own, on both sides, in every format."""
    move(project, "job:speech-10", "vision")
    here, there = one(project, "vision"), one(project, "speech")
    assert here.moves == (Move("in", "speech//speech-user", "gpus", 10000, "it did", "boss"),)
    assert there.moves == (Move("out", "vision", "gpus", -10000, "it did", "boss"),)
    for made, said in ((here, "From speech//speech-user"), (there, "To vision")):
        assert not made.adjustments
        assert from_json(to_json(made)) == made
        text = render(made, "md").decode()
        assert said in text.partition("## Moved between owners")[2]
        assert "Paid" not in text
        assert "no end" not in text
        (row,) = (line for line in render(made, "csv").decode().splitlines() if ",moves," in line)
        assert row.endswith("it did; approved by boss")


def test_a_dispute_is_about_the_figure_on_the_statement(project: Project) -> None:
    """October's statement has 30.00 of September's correction, which is no posting about October: 336.00, not 306.00."""
    bill(project.folder, "2026-09", line("2026-09", "440"))
    apportion.ingest(project)
    put(project, "2026-09")
    opened = apportion.open_dispute(project, "2026-10", Doubt("vision", "too much")).dispute
    assert one(project, "vision").owed == 33600
    assert (opened.amount, opened.part) == (Decimal(336), False)
    half = apportion.open_dispute(project, "2026-10", Doubt("speech", "too much", "50.00")).dispute
    assert (half.amount, half.part) == (Decimal(50), True)
    settled = apportion.settle(project, opened.number, Settlement("credited", "it was", "speech"))
    assert settled.posted
    assert one(project, "vision").owed == 3000  # September's part of it stands in September


def move(project: Project, what: str, to: str) -> None:
    opened = apportion.open_dispute(project, "2026-10", Doubt(what, "ran for vision"))
    apportion.settle(project, opened.dispute.number, Settlement("reclassed", "it did", to, approver="boss"))
