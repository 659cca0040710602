"""Re-hash everything the books hold and re-add every bill."""

from dataclasses import dataclass

from apportion.books.shapes import Finding
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True)
class Verified:
    head: str
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        return not self.findings


def verify(project: Project, head: str | None = None) -> Verified:
    """With `head` (any report carries one) also a cut-off tail is found."""
    return Verified(project.books.head(), tuple(project.books.verify(head)))
