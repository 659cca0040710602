"""`apportion backup` into a folder: a file named by project and time, and of older ones only so many."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run

OLD = ("tiny-20250101T000000Z.tar.gz", "tiny-20260101T000000Z.tar.gz")
NOT_OURS = (
    "tiny-2-20250101T000000Z.tar.gz",  # of a project called tiny-2
    "other-20250101T000000Z.tar.gz",
    "tiny-20250101T000000Z.tar.gz.sha256",
    "tiny-before.tar.gz",
    "tiny-29990101T000000Z.tar.gzabc.part",  # just being written
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "copies"
    made.mkdir()
    for name in (*OLD, *NOT_OURS, "tiny-20250101T000000Z.tar.gzx1_y.part"):
        (made / name).write_text("", "utf-8")
    return made


def test_the_newest_are_kept_and_nothing_else_goes(run: Run, posted: Path, folder: Path) -> None:
    made = run("--project", posted, "backup", folder, "--keep", 2, "-o", "json").value()
    file = Path(made["file"])
    gone = {str(folder / name) for name in (OLD[0], "tiny-20250101T000000Z.tar.gzx1_y.part")}
    assert set(made["removed"]) == gone
    assert {path.name for path in folder.iterdir()} == {OLD[1], *NOT_OURS, file.name}
    other = posted.parent / "other"
    other.mkdir()
    for name in ("apportion.toml", "policy.yaml"):
        (other / name).write_text((posted / name).read_text("utf-8"), "utf-8")
    assert run("--project", other, "backup", file, "--restore", "-o", "json").value()["head"] == made["head"]


def test_without_a_number_all_are_kept(run: Run, posted: Path, folder: Path) -> None:
    before = set(folder.iterdir())
    made = run("--project", posted, "backup", folder, "-o", "json").value()
    assert set(folder.iterdir()) == {*before, Path(made["file"])}
    assert set(made) == {"file", "head"}


def test_what_fails_removes_nothing(run: Run, posted: Path, folder: Path) -> None:
    before = set(folder.iterdir())
    damaged = next((posted / ".apportion/warehouse").rglob("*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    done = run("--project", posted, "backup", folder, "--keep", 1)
    assert "error[damaged-file]" in done.err
    assert set(folder.iterdir()) == before


def test_copies_are_kept_in_a_folder_and_made(run: Run, posted: Path, tmp_path: Path) -> None:
    refused = run("--project", posted, "backup", tmp_path / "one.tar", "--keep", 3)
    assert (refused.code, "error[no-folder]" in refused.err) == (1, True)
    assert run("--project", posted, "backup", tmp_path, "--keep", 3, "--restore").code == 2
    assert "error[no-backup]" in run("--project", posted, "backup", tmp_path, "--restore").err


def test_no_copy_is_made_of_books_that_are_not_there(run: Run, tiny: Path, folder: Path) -> None:
    before = set(folder.iterdir())
    assert "error[no-books]" in run("--project", tiny, "backup", folder, "--keep", 1).err
    assert set(folder.iterdir()) == before
    assert not (tiny / ".apportion").exists()
