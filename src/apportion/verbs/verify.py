"""Re-hash everything the books hold and re-add every bill."""

from dataclasses import dataclass

from apportion.books.evolve import current_schema
from apportion.books.shapes import Finding
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True)
class Verified:
    """`schema` is what opened books always have: that of this version."""

    head: str
    findings: tuple[Finding, ...]
    schema: int

    @property
    def sound(self) -> bool:
        return not self.findings


def verify(project: Project, head: str | None = None) -> Verified:
    """With `head` (any report carries one) also a cut-off tail is found."""
    return Verified(project.books.head(), tuple(project.books.verify(head)), current_schema())
