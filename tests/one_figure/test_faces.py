"""One figure: whatever face prints what an owner, pool, component, reason or cause comes to in a month, it prints the same text."""

import shutil
from collections.abc import Iterator
from decimal import Decimal
from itertools import combinations
from pathlib import Path

import pytest

import apportion
from apportion.books.shapes import PLAN
from apportion.verbs.project import Project
from tests.one_figure.faces import FACES, Figures, of_reports, of_statements, written
from tests.one_figure.world import MONTH, drawn_project

SEEDS = (1, 2, 3)
Printed = dict[str, Figures]


@pytest.fixture(scope="module", params=[*(f"corrected {seed}" for seed in SEEDS[:2]), f"plain {SEEDS[2]}"])
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    kind, seed = request.param.split()
    return drawn_project(tmp_path_factory.mktemp("one_figure") / "project", int(seed), corrected=kind == "corrected")


@pytest.fixture(scope="module")
def printed(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Printed:
    return {name: face(project, MONTH, tmp_path_factory.mktemp("faces")) for name, face in FACES.items()}


def differences(printed: Printed) -> Iterator[str]:
    for one, other in combinations(printed, 2):
        for key in sorted(printed[one].keys() & printed[other].keys()):
            if printed[one][key] != printed[other][key]:
                yield f"{key}: {one} {printed[one][key]}, {other} {printed[other][key]}"


def test_all_pairs_of_faces_print_the_same(printed: Printed) -> None:
    assert not list(differences(printed))


def test_every_face_says_something_that_another_says(project: Project, printed: Printed) -> None:
    alone = any(run.period == MONTH and run.kind != PLAN for run in project.books.runs())
    for name, figures in printed.items():
        others = {key for other, own in printed.items() if other != name for key in own}
        assert figures.keys() & others or (name == "plan" and alone), name


def test_totals_are_the_sums_of_what_stands_above_them(project: Project) -> None:
    for by in ("team", "project", "user", "pool", "component", "reason", "cause"):
        for section in apportion.report(project, "showback", MONTH, by=by).sections:
            amounts = [whole(row[-2], section.currency) for row in section.rows]
            assert sum(amounts) == section.bill
            assert section.totals[-2] == section.bill


def whole(amount: object, currency: str) -> Decimal:
    """Refuses an amount that has more digits than its currency."""
    text = written(str(amount), currency)
    assert len(text.partition(".")[2]) in (0, 2), text
    return Decimal(str(amount))


def test_a_close_changes_no_figure_and_the_ledger_holds(project: Project, printed: Printed, tmp_path: Path) -> None:
    shutil.copytree(project.folder, tmp_path / "copy")
    again = apportion.open_project(tmp_path / "copy")
    assert apportion.close(again, MONTH, override="drawn").closed
    assert of_reports(again, MONTH, tmp_path) == printed["report, as CSV"]
    assert of_statements(again, MONTH, tmp_path) == printed["statements"]
    assert apportion.verify(again).sound
