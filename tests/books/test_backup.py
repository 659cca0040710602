"""A copy in one file: the same head, clean, in either kind of database."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from apportion.books.open import Books, copy_books
from apportion.errors import BooksError
from tests.books import versions
from tests.books.conftest import Place
from tests.books.rows import delivery, gpu_hours, jobs, run


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
@pytest.mark.parametrize("name", ["copy.tar", "copy.tar.gz"])
def test_a_restored_copy_has_the_same_head_and_is_clean(
    full: Books, target: str, name: str, tmp_path: Path, place_of: Callable[[str], Place]
) -> None:
    full.backup(tmp_path / name)
    place = place_of(target)
    copy = place.restore(tmp_path / name)
    assert copy.head() == full.head()
    assert copy.verify(full.head()) == []
    assert copy.inputs() == full.inputs()
    assert copy.entries().equals(full.entries())
    assert (copy.problems(), copy.quarantine()) == (full.problems(), full.quarantine())
    assert jobs(copy.scan("usage")) == jobs(full.scan("usage"))
    assert all(path.startswith(place.warehouse) for path in copy.files("usage"))


def test_a_restored_copy_goes_on_by_itself(
    full: Books, tmp_path: Path, place_of: Callable[[str], Place], kind: str
) -> None:
    full.backup(tmp_path / "copy.tar")
    place = place_of(kind)
    copy = place.restore(tmp_path / "copy.tar")
    before = full.inputs()
    assert not copy.ingest(delivery(usage=gpu_hours(31))).changed
    assert copy.ingest(delivery(usage=gpu_hours(9))).changed
    copy.save_policy("v2", "policy: two\n", "policy.yaml", "two", "2026-02-01")
    copy.post(run(copy, [("bio", "1")], "102.5", run_id="run-3", plan_digest="p3"))
    assert copy.verify() == []
    assert full.inputs() == before
    assert full.verify() == []


@pytest.mark.parametrize("number", sorted(int(file.parent.name) for file in versions.VERSIONS.glob("*/books.tar.gz")))
def test_books_of_an_earlier_schema_are_copied_as_the_version_that_made_them_would(
    number: int, place: Place, place_of: Callable[[str], Place], tmp_path: Path
) -> None:
    """And stay as they are: a copy before an upgrade upgrades nothing."""
    original = versions.VERSIONS / str(number) / "books.tar.gz"
    versions.make_books(place.url, Path(place.warehouse), number, original)
    for file in (tmp_path / "first.tar", tmp_path / "second.tar"):
        head = copy_books(place.url, place.warehouse, file)
        assert versions.members(file) == versions.members(original)
    restored = place_of(place.kind).restore(tmp_path / "second.tar")
    assert restored.verify(head) == []


def test_there_is_no_copy_of_no_books(place: Place, tmp_path: Path) -> None:
    with pytest.raises(BooksError, match="no-books"):
        copy_books(place.url, place.warehouse, tmp_path / "copy.tar")
    assert list(tmp_path.glob("copy*")) == []


def test_nothing_is_overwritten(full: Books, full_place: Place, tmp_path: Path) -> None:
    full.backup(tmp_path / "copy.tar")
    head = full.head()
    with pytest.raises(BooksError, match="books-exist"):
        full_place.restore(tmp_path / "copy.tar")
    assert full.head() == head
    assert full.verify() == []


def changed(path: Path, edit: Callable[[str, bytes], bytes | None]) -> None:
    """Rewrites an archive member by member."""
    with tarfile.open(path) as archive:
        members = {member.name: archive.extractfile(member) for member in archive}
        bodies = {name: file.read() for name, file in members.items() if file}
    with tarfile.open(path, "w") as archive:
        for name, body in bodies.items():
            new = edit(name, body)
            if new is not None:
                member = tarfile.TarInfo(name)
                member.size = len(new)
                archive.addfile(member, io.BytesIO(new))


def flip(wanted: str) -> Callable[[str, bytes], bytes]:
    return lambda name, body: body[:-9] + bytes([body[-9] ^ 1]) + body[-8:] if name.endswith(wanted) else body


def escape(name: str, body: bytes) -> bytes:
    """The same files under names that lead out of the warehouse."""
    if name != "contents.json":
        return body
    contents = json.loads(body)
    contents["files"]["warehouse/../../outside"] = "00"
    return json.dumps(contents).encode()


@pytest.mark.parametrize(
    "edit",
    [
        flip(".parquet"),
        flip(".avro"),
        flip(".metadata.json"),
        flip("entries.jsonl"),
        escape,
        lambda name, body: None if name.endswith(".parquet") else body,
    ],
    ids=["data", "manifest", "metadata", "entries", "escape", "missing"],
)
def test_a_changed_copy_is_refused_and_can_be_tried_again(
    full: Books, edit: Callable[[str, bytes], bytes | None], tmp_path: Path, place_of: Callable[[str], Place], kind: str
) -> None:
    full.backup(tmp_path / "good.tar")
    full.backup(tmp_path / "bad.tar")
    changed(tmp_path / "bad.tar", edit)
    place = place_of(kind)
    with pytest.raises(BooksError, match="damaged-backup"):
        place.restore(tmp_path / "bad.tar")
    assert place.restore(tmp_path / "good.tar").verify() == []


def test_a_cut_off_copy_is_refused(full: Books, tmp_path: Path, place_of: Callable[[str], Place]) -> None:
    full.backup(tmp_path / "copy.tar.gz")
    whole = (tmp_path / "copy.tar.gz").read_bytes()
    place = place_of("sqlite")
    for length in (0, 10, len(whole) // 2, len(whole) * 3 // 4):
        (tmp_path / "cut.tar.gz").write_bytes(whole[:length])
        with pytest.raises(BooksError, match="damaged-backup"):
            place.restore(tmp_path / "cut.tar.gz")


def test_a_damaged_file_is_not_copied_as_if_it_were_well(full: Books, tmp_path: Path) -> None:
    file = Path(full.files("usage")[0])
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(BooksError, match="damaged-file"):
        full.backup(tmp_path / "copy.tar")
    assert list(tmp_path.glob("copy*")) == []
