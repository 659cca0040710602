"""Files are on the disk before anybody names them. A kill cannot show that, since the page cache survives it; the order of system calls can."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.faults.conftest import NewStage
from tests.faults.injection import Actors, Call
from tests.faults.story import OF_PROJECTS, STORIES, Plot, Stage

PAGE = 5000  # more than a page of the log, so that the names in it can be read
PATH = re.compile(r'[<"](/[^>"]*)[>"]')


class Disk:
    """What has been created and not yet synced, call by call."""

    def __init__(self, stage: Stage) -> None:
        self.warehouse = stage.folder / "warehouse"
        self.log = str(stage.folder / "books.db-wal")
        self.files: set[Path] = set()  # whose bytes may be lost
        self.entries: dict[Path, set[Path]] = {}  # folder -> names in it that may be lost
        self.named: dict[str, str] = {}  # file -> what was not synced when the database first named it
        self.made: set[Path] = set()
        self.unsynced_log = False

    def see(self, call: Call) -> None:
        path = Path(paths[-1]) if (paths := PATH.findall(call.text)) else Path()
        new = call.call == "openat" and "O_EXCL" in call.text
        if (new or call.call == "mkdir") and self.warehouse in path.parents and ".locks" not in path.parts:
            self.made.add(path)
            self.files |= {path} if new else set()
            self.entries.setdefault(path.parent, set()).add(path)
        elif call.call in ("fsync", "fdatasync"):
            self.files.discard(path)
            self.entries.pop(path, None)
            self.unsynced_log = self.unsynced_log and str(path) != self.log
        elif (call.call == "pwrite64" and str(path) == self.log) or f"<{self.log}>" in call.text:
            self.unsynced_log = True
            self.name(call.text)

    def name(self, page: str) -> None:
        loose = sorted(
            str(path) for path in {*self.files, *(name for names in self.entries.values() for name in names)}
        )
        for path in self.made:
            if path.name in page and path.suffix:
                self.named.setdefault(path.name, ", ".join(loose))


@pytest.mark.parametrize("story", STORIES)
def test_files_and_folders_are_synced_before_the_database_names_them(
    story: str, company: Sequence[Actors], plots: dict[str, Plot], on_sqlite: NewStage
) -> None:
    stage = on_sqlite(story)
    ending = company[0].play(story, stage, strings=PAGE)
    assert ending.code == 0
    disk, acknowledged = Disk(stage), 0
    for call in ending.calls:
        if "/acknowledged" in call.text and call.call == "openat":
            acknowledged += 1
            assert not disk.unsynced_log, "acknowledged before the log was synced"
        disk.see(call)
    files = [path for path in disk.made if path.suffix]
    assert acknowledged == plots[story].steps
    assert {path.suffix for path in files} == (set() if story in OF_PROJECTS else {".parquet", ".avro", ".json"})
    assert disk.named == {path.name: "" for path in files}


def test_exports_are_synced_before_they_are_named_and_their_names_before_they_are_told(
    company: Sequence[Actors], plots: dict[str, Plot], on_sqlite: NewStage
) -> None:
    stage = on_sqlite("export")
    loose: set[str] = set()
    named: set[str] = set()
    for call in company[0].play("export", stage, strings=PAGE).calls:
        paths = [path for path in PATH.findall(call.text.partition(") = ")[0]) if path.startswith(str(stage.out))]
        if call.call == "write" and paths:
            loose.add(paths[0])
        elif call.call == "fsync":
            loose -= {*paths}
        elif call.call == "rename" and paths:
            assert paths[0] not in loose, "named before it was synced"
            named.add(paths[1])
            loose.add(str(Path(paths[1]).parent))
        elif "/acknowledged" in call.text and call.call == "openat":
            assert loose == set(), "told before it was synced"
    assert named == {str(stage.out / name) for name, _ in plots["export"].states[-1].files}
