"""Re-hash everything the books hold and re-add every bill."""

from dataclasses import dataclass

from apportion.books.evolve import current_schema
from apportion.books.shapes import Damage
from apportion.model.result import Result
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True, repr=False)
class Verified(Result):
    """`schema` is what opened books always have: that of this version."""

    head: str
    findings: tuple[Damage, ...]
    schema: int

    @property
    def sound(self) -> bool:
        return not self.findings


def verify(project: Project, head: str | None = None) -> Verified:
    """Hash the books again and add up every bill. With `head` (any report carries one) also a cut-off tail is found."""
    return Verified(project.books.head(), tuple(project.books.verify(head)), current_schema())


@sheet_of.register
def verified_sheet(done: Verified) -> Sheet:
    title = "The books are whole." if done.sound else f"The books are broken: {counted(len(done.findings), 'finding')}."
    columns = (Column("code", "code"), Column("where", "where"), Column("message", "what"))
    rows = tuple((finding.code, finding.where, finding.message) for finding in done.findings)
    value = {"sound": done.sound, "head": done.head, "schema": done.schema, "findings": done.findings}
    return Sheet(title, (Table(columns, rows),), value, (f"ledger head {done.head}   schema {done.schema}",))
