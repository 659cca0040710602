"""Views for other people's tools: of the record in its database, given to those who only read them, and of the evidence for DuckDB."""

from pathlib import Path

from apportion.books.moment import moment
from apportion.books.tables import EVIDENCE
from apportion.books.views import evidence
from apportion.books.views.making import Made
from apportion.verbs.files import put
from apportion.verbs.project import Project


def views(project: Project, reader: str = "", *, names: bool = False) -> Made:
    """Made or renewed. `reader` is a role of the database that may read them and nothing else, with `names` also the one that tells of people."""
    made = project.books.views.create()
    if reader:
        project.books.views.grant(reader, names=names)
    return made


def drop_views(project: Project) -> Made:
    """Those that were there."""
    return project.books.views.drop()


def duckdb_views(project: Project) -> str:
    """Statements for DuckDB that make views of the evidence, all of it as it stood at one moment."""
    with moment():
        return evidence.duckdb_views({name: project.books.files(name) for name in EVIDENCE})


def write_duckdb_views(project: Project, to: str | Path) -> Path:
    put(Path(to), duckdb_views(project).encode())
    return Path(to)
