"""A copy of the books in one file, and books from such a copy. Both have the same head."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from apportion.books.open import copy_books
from apportion.books.open import restore as restore_books
from apportion.errors import BooksError
from apportion.model.result import Result
from apportion.verbs.project import Project

STAMP = "%Y%m%dT%H%M%SZ"
ENDING = ".tar.gz"
DAY_S = 86_400


@dataclass(frozen=True, slots=True, repr=False)
class Copied(Result):
    path: Path
    head: str
    removed: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """A project's copies in a folder, each named by its moment: `research-20261101T024700Z.tar.gz`."""

    folder: Path
    project: str

    @property
    def prefix(self) -> str:
        return re.sub(r"[^\w.]+", "-", self.project) + "-"

    def file(self, at_s: int) -> Path:
        return self.folder / f"{self.prefix}{datetime.fromtimestamp(at_s, UTC):{STAMP}}{ENDING}"

    def copies(self) -> list[Path]:
        """The oldest first."""
        return sorted(path for path, rest in self.files() if rest == ENDING)

    def leftovers(self, now_s: int) -> list[Path]:
        """What a process that was killed more than a day ago left half written."""
        until = self.file(now_s - DAY_S).name
        return [path for path, rest in self.files() if rest.endswith(".part") and path.name < until]

    def files(self) -> Iterator[tuple[Path, str]]:
        """Each with what follows the moment in its name."""
        named = re.compile(re.escape(self.prefix) + r"\d{8}T\d{6}Z(\.tar\.gz(?:\w+\.part)?)")
        for path in self.folder.iterdir():
            if known := named.fullmatch(path.name):
                yield path, known[1]


def backup(project: Project, path: str | Path, keep: int = 0) -> Copied:
    """Write the books into one file: `.tar`, or `.tar.gz` for a smaller one. Books of an earlier version are copied as they are.

    Into a folder it writes a file named by project and time; with `keep` the newest so many of this project's copies stay there.
    """
    path = Path(path)
    if path.is_dir():
        return add_to_series(project, Series(path, project.settings.name), keep)
    if keep:
        raise BooksError(
            "no-folder", f"{path} is no folder: copies are kept in one", hint="make the folder first, or leave keep out"
        )
    return copy(project, path)


def add_to_series(project: Project, series: Series, keep: int) -> Copied:
    now_s = int(time.time())
    done = copy(project, series.file(now_s))
    if not keep:
        return done
    removed = (*series.copies()[:-keep], *series.leftovers(now_s))
    for path in removed:
        path.unlink(missing_ok=True)
    return Copied(done.path, done.head, removed)


def copy(project: Project, path: Path) -> Copied:
    if path.exists():
        raise BooksError(
            "backup-exists", f"{path} already exists", hint="name a new file; a backup is never overwritten"
        )
    if not path.absolute().parent.is_dir():
        raise BooksError("no-folder", f"there is no folder {path.parent}", hint="make it first, or name another")
    return Copied(path, copy_books(*project.places(), path))


def restore(project: Project, path: str | Path) -> Copied:
    """Take books out of a backup, into the places that the project's settings name, which must hold no books yet."""
    path = Path(path)
    if not path.is_file():
        raise BooksError("no-backup", f"there is no backup {path}", hint="name a file that `apportion backup` wrote")
    return Copied(path, restore_books(path, *project.places(), key=project.names_key()).head())
