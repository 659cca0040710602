"""Views of the record for other people's tools: made in its database, and given to those who only read them."""

from apportion.books.views.making import Made
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
