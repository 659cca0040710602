"""apportion.toml: defaults, places, and where books lie."""

from pathlib import Path

import pytest

from apportion.errors import ProjectError
from apportion.verbs.project import Project, open_project
from apportion.verbs.settings import nearest, read_settings


def write(folder: Path, text: str) -> Path:
    file = folder / "apportion.toml"
    file.write_text(text, "utf-8")
    return file


def test_an_empty_file_is_a_project_named_after_its_folder(tmp_path: Path) -> None:
    settings = read_settings(write(tmp_path, ""))
    assert (settings.name, settings.policy, settings.sources) == (tmp_path.name, "policy.yaml", ())


def test_books_lie_in_the_project_unless_told_otherwise(tmp_path: Path) -> None:
    write(tmp_path, "")
    assert open_project(tmp_path).places() == (
        f"sqlite:///{tmp_path}/.apportion/books.db",
        f"{tmp_path}/.apportion/warehouse",
    )


@pytest.mark.parametrize(
    ("books", "expected"),
    [
        ('url = "sqlite:///x/b.db"\nwarehouse = "w"', ("sqlite:///{0}/x/b.db", "{0}/w")),
        ('url = "sqlite:////abs/b.db"', ("sqlite:////abs/b.db", "{0}/.apportion/warehouse")),
        ('url = "postgresql+psycopg://u@h/d"\nwarehouse = "s3://b/p"', ("postgresql+psycopg://u@h/d", "s3://b/p")),
    ],
)
def test_relative_places_are_the_projects(tmp_path: Path, books: str, expected: tuple[str, str]) -> None:
    settings = read_settings(write(tmp_path, f"[books]\n{books}\n"))
    assert Project(tmp_path, settings).places() == tuple(place.format(tmp_path) for place in expected)


def test_sources_keep_all_their_settings_and_their_line(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        '[[sources]]\nname = "a"\nkind = "k"\n\n[sources.labels]\nx = "y"\n\n[[sources]]\nname = "b"\nkind = "k"\n',
    )
    first, second = read_settings(file).sources
    assert first.settings == {"name": "a", "kind": "k", "labels": {"x": "y"}}
    assert (first.where, second.where) == (f"{file}:1", f"{file}:8")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("[engine]\nthreads = true\n", "wrong-kind", ":2"),
        ('[engine]\nthreads = "2"\n', "wrong-kind", ":2"),
        ('[engine]\nname = "sparc"\n', "unknown-engine", ":2"),
        ('[engine]\n\nmaster = "local[0]"\n', "unknown-engine", ":3"),
        ('[engine]\nmemory = "lots"\n', "wrong-kind", ":2"),
        ("project = 1\n", "wrong-kind", ":1"),
        ("sources = 1\n", "wrong-kind", ":1"),
        ("sources = [1]\n", "wrong-kind", ":1"),
        ('[[sources]]\nname = "a"\n', "incomplete-source", ":1"),
        ('[[sources]]\nname = 1\nkind = "k"\n', "wrong-kind", ":2"),
        ("[books]\n\nulr = 1\n", "unknown-key", ":3"),
    ],
)
def test_every_mistake_has_its_line(tmp_path: Path, text: str, code: str, line: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ProjectError) as caught:
        read_settings(file)
    assert caught.value.code == code
    assert caught.value.where.endswith(line)


def test_bytes_that_are_no_text_and_files_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "apportion.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ProjectError, match="not UTF-8"):
        read_settings(tmp_path / "apportion.toml")
    with pytest.raises(ProjectError, match="cannot be read"):
        read_settings(tmp_path)


def test_nearest_words() -> None:
    assert nearest("nmae", ["name", "kind"]) == "did you mean 'name'?"
    assert nearest("zzz", ["name", "kind"], "keys") == "keys: name, kind"
    assert nearest("zzz", []) == "there are: none"
