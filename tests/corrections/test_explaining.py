"""Every figure that is a correction has an explanation: old and new figure, cause, both runs, and how the new one comes about."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.errors import InvariantError, ProjectError
from apportion.verbs.explain import Explanation
from apportion.verbs.explaining.story import Node, drawn
from apportion.verbs.project import Project
from tests.cli.test_explain import tamper
from tests.corrections.world import bill, closed, line, post, write

GPUS = "  gpus: {costs: otherwise, meter: gpu, method: proportional}\n"
JOBS = ("a,vision,2026-09-01T00,2026-09-01T06,4", "b,speech,2026-09-01T00,2026-09-01T06,2")  # two thirds, one third
CAUSE = "delivered after 2026-09 was closed: cost lines (cloud)"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """September came to 90, was closed, and is 120 now: vision 60 to 80, speech 30 to 40; October has a bill of 12."""
    folder = write(tmp_path_factory.mktemp("explained"), GPUS, (*JOBS, "c,vision,2026-10-01T00,2026-10-01T06,4"))
    bill(folder, "2026-09", line("2026-09", "90"))
    project = apportion.open_project(folder)
    post(project, "2026-09")
    closed(project, "2026-09")
    bill(folder, "2026-09", line("2026-09", "120"))
    post(project, "2026-09")
    return folder


@pytest.fixture
def project(once: Path, tmp_path: Path) -> Project:
    return apportion.open_project(shutil.copytree(once, tmp_path / "explained"))


def corrected(found: Explanation) -> list[Node]:
    return [node for node in found.steps if "booked" in node.facts]


def figures(node: Node) -> tuple[Any, Any, Any]:
    return tuple(node.facts[name]["USD"] for name in ("was", "now", "amount"))  # type: ignore[index]  # a map of money


def test_an_owner_of_a_month_that_holds_nothing_but_a_correction(project: Project) -> None:
    found = apportion.explain(project, "vision", "2026-10")
    assert found.title == "Corrections of 2026-09, booked in 2026-10, come to 20.00 USD for vision."
    (node,) = found.steps
    assert node.text == (f"2026-09 is corrected by 20.00 USD, booked in 2026-10: 60.00 USD became 80.00 USD; {CAUSE}")
    runs = [run.run_id for run in project.books.runs() if run.kind != "close"]
    assert [step.text for step in node.steps[:2]] == [f"run before: {runs[0]}", f"run: {runs[1]}"]
    story = "\n".join(drawn(node.steps))
    assert "gpus: 80.00 USD = usage 80.00" in story
    assert "1 cost line: 120.00 USD" in story


@pytest.mark.parametrize(("what", "was", "now"), [("pool:gpus", 90, 120), ("speech", 30, 40), ("job:b", 30, 40)])
def test_pools_and_jobs(project: Project, what: str, was: int, now: int) -> None:
    found = apportion.explain(project, what, "2026-10")
    assert [figures(node) for node in found.steps] == [(was, now, now - was)]
    assert found.figures[0].posted == now - was


def test_a_posting_that_is_a_correction(project: Project) -> None:
    entries = project.books.entries(period="2026-10", team="vision").to_pylist()
    found = apportion.explain(project, str(entries[0]["seq"]), "2026-10")
    assert (found.kind, figures(found.steps[0])) == ("posting", (60, 80, 20))
    assert found.title.startswith("Corrections of 2026-09, booked in 2026-10, come to 20.00 USD for posting")


def test_a_closed_month_is_explained_as_it_was_closed_and_says_what_corrected_it(project: Project) -> None:
    found = apportion.explain(project, "vision", "2026-09")
    assert found.figures[0].posted == 60
    assert found.title.startswith("vision owes 60.00 USD for 2026-09: posted, and the same when computed again")
    assert found.title.endswith("Corrected since by 20.00 USD: 80.00 USD now.")
    assert [figures(node) for node in corrected(found)] == [(60, 80, 20)]
    job = apportion.explain(project, "job:a", "2026-09")
    assert [figures(node) for node in corrected(job)] == [(60, 80, 20)]
    posting = project.books.entries(period="2026-09", team="speech").to_pylist()[0]["seq"]
    assert [figures(node) for node in corrected(apportion.explain(project, str(posting), "2026-09"))] == [(30, 40, 10)]


def test_a_month_with_a_bill_and_corrections_tells_both(project: Project) -> None:
    bill(project.folder, "2026-10", line("2026-10", "12"))
    post(project, "2026-10")
    found = apportion.explain(project, "vision", "2026-10")
    assert found.figures[0].posted == 12
    assert found.title.endswith("Corrections booked in 2026-10 come to 20.00 USD beside that, 32.00 USD in all.")
    assert [figures(node) for node in corrected(found)] == [(60, 80, 20)]
    only = apportion.explain(project, "speech", "2026-10")  # owes nothing of October's own
    assert [figures(node) for node in corrected(only)] == [(30, 40, 10)]
    with pytest.raises(ProjectError, match="unknown-figure"):
        apportion.explain(project, "nobody", "2026-10")


def test_two_corrections_are_told_one_after_the_other(project: Project) -> None:
    bill(project.folder, "2026-09", line("2026-09", "60"))
    post(project, "2026-09")
    found = apportion.explain(project, "vision", "2026-10")
    assert [figures(node) for node in found.steps] == [(60, 80, 20), (80, 40, -40)]
    assert found.figures[0].posted == -20


def test_a_tampered_correction_is_found(project: Project) -> None:
    seq = project.books.entries(period="2026-10", team="vision").to_pylist()[0]["seq"]
    tamper(project.folder, f"UPDATE entries SET amount = '21' WHERE seq = {seq}")
    with pytest.raises(InvariantError, match="the record is not what its cost lines and usage say"):
        apportion.explain(apportion.open_project(project.folder), "vision", "2026-10")
