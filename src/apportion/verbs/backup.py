"""A copy of the books in one file, and books from such a copy. Both have the same head."""

from dataclasses import dataclass
from pathlib import Path

from apportion.books.open import restore as restore_books
from apportion.errors import BooksError
from apportion.model.result import Result
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True, repr=False)
class Copied(Result):
    path: Path
    head: str


def backup(project: Project, path: str | Path) -> Copied:
    """Write the books into one file: `.tar`, or `.tar.gz` for a smaller one."""
    path = Path(path)
    if path.exists():
        raise BooksError(
            "backup-exists", f"{path} already exists", hint="name a new file; a backup is never overwritten"
        )
    if not path.absolute().parent.is_dir():
        raise BooksError("no-folder", f"there is no folder {path.parent}", hint="make it first, or name another")
    project.books.backup(path)
    return Copied(path, project.books.head())


def restore(project: Project, path: str | Path) -> Copied:
    """Take books out of a backup, into the places that the project's settings name, which must hold no books yet."""
    path = Path(path)
    if not path.is_file():
        raise BooksError("no-backup", f"there is no backup {path}", hint="name a file that `apportion backup` wrote")
    return Copied(path, restore_books(path, *project.places(), key=project.names_key()).head())
