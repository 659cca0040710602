"""One figure: whatever face prints what an owner, pool, component, reason or cause comes to in a month, it prints the same text."""

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from apportion.verbs.project import Project
from tests.one_figure.faces import FACES, Figures
from tests.one_figure.world import MONTH, drawn_project

SEEDS = (1, 2, 3)


@pytest.fixture(scope="module", params=SEEDS)
def project(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return drawn_project(tmp_path_factory.mktemp("one_figure"), request.param)


@pytest.fixture(scope="module")
def printed(project: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figures]:
    return {name: face(project, MONTH, tmp_path_factory.mktemp("faces")) for name, face in FACES.items()}


def test_all_pairs_of_faces_print_the_same(printed: dict[str, Figures]) -> None:
    assert not list(differences(printed))


def differences(printed: dict[str, Figures]) -> Iterator[str]:
    for one, other in combinations(printed, 2):
        for key in sorted(printed[one].keys() & printed[other].keys()):
            if printed[one][key] != printed[other][key]:
                yield f"{key}: {one} {printed[one][key]}, {other} {printed[other][key]}"


def test_every_face_says_something_that_another_says(printed: dict[str, Figures]) -> None:
    for name, figures in printed.items():
        others = {key for other, own in printed.items() if other != name for key in own}
        assert figures.keys() & others, name
