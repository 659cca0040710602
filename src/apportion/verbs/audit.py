"""Who changed the books, when, what and why."""

from collections.abc import Sequence

from apportion.books.audit import Note
from apportion.verbs.project import Project


def audit(project: Project, what: Sequence[str] = ()) -> tuple[Note, ...]:
    """Oldest first; with `what`, notes of those deeds alone, such as `run` or `delivery`."""
    return tuple(note for note in project.books.audit() if not what or note.what in what)
