"""Who changed the books, when, what and why."""

from collections.abc import Sequence

from apportion.books.audit import Note
from apportion.model.times import instant_text
from apportion.render.listing import Listing
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.project import Project


def audit(project: Project, what: Sequence[str] = ()) -> Listing[Note]:
    """Who changed the books, when, what and why. Oldest first; with `what`, notes of those deeds alone, such as `run` or `delivery`."""
    found = [note for note in project.books.audit() if not what or note.what in what]
    return Listing(found, lambda: audit_sheet(found))


def audit_sheet(notes: Sequence[Note]) -> Sheet:
    columns = tuple(Column(name, name) for name in ("when", "who", "what", "why", "detail"))
    rows = tuple((instant_text(note.at_s), note.who, note.what, note.why, note.detail) for note in notes)
    return Sheet(f"{counted(len(notes), 'change')} of the books.", (Table(columns, rows),), {"notes": notes})
