"""Remove files that an interrupted write left in the warehouse and that nothing names."""

from apportion.verbs.project import Project

HOUR_S = 3600


def gc(project: Project, older_than_hours: int = 24) -> list[str]:
    """Remove files that nothing points to any more; their paths. Young files are left alone: a write may be under way."""
    return project.books.gc(older_than_hours * HOUR_S)
