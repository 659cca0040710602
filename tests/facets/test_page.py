"""The page of work: the reports of the command line, each value leading to its runs and each run to its explanation."""

import pytest

from apportion.errors import ProjectError
from apportion.verbs.project import Project
from apportion.web.ask import Ask
from apportion.web.desk import Desk
from apportion.web.page import Page, Rows
from apportion.web.pages.facets import facet_page
from apportion.web.viewer import viewer_of
from tests.web.conftest import PEOPLE


@pytest.fixture(scope="module")
def desk(project: Project) -> Desk:
    return Desk(project.folder)


def shown(desk: Desk, **query: str) -> tuple[Page, list[Rows]]:
    page = facet_page(
        Ask(desk, viewer_of(PEOPLE["admin"]), "/facets", {name: [value] for name, value in query.items()})
    )
    return page, [block for block in page.blocks if isinstance(block, Rows)]


def test_a_facet_is_chosen_and_each_value_leads_to_its_runs(desk: Desk) -> None:
    page, (values, runs, known) = shown(desk, period="2026-10", by="family")
    assert [row[0] for row in values.table.rows] == ["qwen", "llama", "resnet", "(not set)", "(of no workload)"]
    assert values.links["amount"][0] == "/facets?period=2026-10&by=family&value=qwen"
    assert values.links["amount"][-1] == ""
    assert runs.links["run"][0].startswith("/runs/slurm%2Fhpc%2F3?")
    assert runs.links["amount"][0] == "/explain?period=2026-10&what=job%3Aslurm%2Fhpc%2F3"
    assert known.links["facet"][0] == "/facets?period=2026-10&by=phase"
    assert page.command == "apportion report runs --period 2026-10"


@pytest.mark.parametrize(
    ("value", "runs"), [("qwen", {"slurm/hpc/3", "slurm/hpc/4"}), ("(not set)", {f"slurm/hpc/{n}" for n in (5, 7, 9)})]
)
def test_a_value_shows_its_runs_alone(desk: Desk, value: str, runs: set[str]) -> None:
    page, (_, found, _) = shown(desk, period="2026-10", by="family", value=value)
    assert {row[0] for row in found.table.rows} == runs
    assert page.command.endswith(f"--where family={'qwen' if value == 'qwen' else ''}")


def test_there_is_no_such_facet(desk: Desk) -> None:
    with pytest.raises(ProjectError, match="no facet 'colour'"):
        shown(desk, period="2026-10", by="colour")
