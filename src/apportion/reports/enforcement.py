"""What a plan would change in the scheduler, line by line, with what is set now."""

from collections.abc import Sequence
from dataclasses import dataclass

from apportion.reports.report import Cell, Column, Report, Section
from apportion.reports.sums import total

COLUMNS = (
    Column("kind", "what"),
    Column("name", "name"),
    Column("setting", "setting"),
    Column("before", "now"),
    Column("after", "then"),
    Column("command", "command", quiet=True),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """`command` stands with the first setting that it changes."""

    kind: str
    name: str
    setting: str
    before: str
    after: str
    command: str = ""


def enforcement_report(
    title: str, settings: Sequence[Setting], notes: Sequence[str], more: dict[str, object]
) -> Report:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        tuple(getattr(one, column.name) or None for column in COLUMNS) for one in settings
    )
    sections = (Section("", total([]), rows, ()),) if rows else ()
    return Report("enforcement", title, "", COLUMNS, sections, "", notes=tuple(notes), more=more)
