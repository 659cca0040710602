"""The company of actors, the plots, and stages set for them."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path

import pytest

from tests.books import postgres
from tests.faults.injection import Actors, actors, cannot_trace
from tests.faults.story import OF_PROJECTS, Plot, Stage, begin, former_exports, month_of_a_project, write_plots

NUMBERS = count(1)
NewStage = Callable[[str], Stage]


@pytest.fixture(scope="session")
def company() -> Iterator[Sequence[Actors]]:
    reason = cannot_trace()
    if reason:
        pytest.skip(reason)
    with actors() as first, actors() as second:
        yield (first, second)


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a closed month, and files of former exports."""
    plain, folder = (tmp_path_factory.mktemp("project") for _ in range(2))
    month_of_a_project(plain)
    shutil.copytree(plain, folder, dirs_exist_ok=True)
    (folder / "out").mkdir()
    former_exports(folder)
    shutil.copytree(folder / "out", plain / "out")
    return plain


@pytest.fixture(scope="session")
def plots(tmp_path_factory: pytest.TempPathFactory, project: Path) -> dict[str, Plot]:
    return write_plots(tmp_path_factory.mktemp("plots"), project)


@pytest.fixture(scope="session")
def stages(on_sqlite: NewStage, on_postgresql: NewStage | None) -> dict[str, NewStage]:
    """By kind of database; one that is not here is left out."""
    return {"sqlite": on_sqlite} | ({"postgresql": on_postgresql} if on_postgresql else {})


@pytest.fixture(scope="session")
def on_sqlite(tmp_path_factory: pytest.TempPathFactory, project: Path) -> NewStage:
    """A new stage, set for a story: empty, with books that have begun, or with the project."""
    folder = tmp_path_factory.mktemp("sqlite")
    begun = folder / "begun"
    begun.mkdir()
    begin(Stage(begun))
    (begun / "acknowledged").unlink()

    def new(story: str) -> Stage:
        place = folder / str(next(NUMBERS))
        if story != "begin":
            shutil.copytree(project if story in OF_PROJECTS else begun, place)
        else:
            place.mkdir()
        return Stage(place)

    return new


@pytest.fixture(scope="session")
def on_postgresql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewStage | None]:
    """The same with a database elsewhere; None where there is no server."""
    if postgres.cannot_start():
        yield None
        return
    folder = tmp_path_factory.mktemp("postgresql")
    begun = folder / "begun"
    begun.mkdir()
    with postgres.server() as socket:
        begin(Stage(begun, postgres.new_database(socket, "begun")))
        (begun / "acknowledged").unlink()

        def new(story: str) -> Stage:
            name = str(next(NUMBERS))
            if story != "begin":
                shutil.copytree(begun, folder / name)
                return Stage(folder / name, postgres.new_database(socket, name, template="begun"))
            Path(folder, name).mkdir()
            return Stage(folder / name, postgres.new_database(socket, name))

        yield new
