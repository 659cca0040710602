"""A copy of the books in one file, and books from such a copy. Both have the same head."""

from dataclasses import dataclass
from pathlib import Path

from apportion.errors import BooksError
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True)
class Copied:
    path: Path
    head: str


def backup(project: Project, path: Path) -> Copied:
    if path.exists():
        raise BooksError(
            "backup-exists", f"{path} already exists", hint="name a new file; a backup is never overwritten"
        )
    project.books.backup(path)
    return Copied(path, project.books.head())
