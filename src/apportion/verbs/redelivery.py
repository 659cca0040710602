"""Deliveries to ingest again: rows of them were set aside or counted once by rules that a later release changed, and are not in the tables."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apportion.books.deliveries import EQUAL_ROWS
from apportion.model.times import instant_text
from apportion.reports.words import counted
from apportion.sources.pushed import KIND as PUSHED
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True)
class Redelivery:
    """A delivery that counts still, and the command that brings its rows again."""

    source: str
    start: str
    end: str
    delivery_id: str
    why: str
    command: str


def redeliveries(project: Project) -> tuple[Redelivery, ...]:
    """Those made before equal rows of usage were kept, in the order in which they came; what is ingested again is no longer one of them."""
    kinds = {source.name: source.kind for source in project.sources}
    return tuple(
        Redelivery(
            row["source"],
            instant_text(row["start_s"]),
            instant_text(row["end_s"]),
            row["delivery_id"],
            reason_of(row),
            command_of(row, kinds.get(row["source"], "")),
        )
        for row in project.books.deliveries()
        if row["superseded_by"] is None and row["equal_rows"] != EQUAL_ROWS and is_doubtful(row)
    )


def is_doubtful(row: dict[str, Any]) -> bool:
    return bool(row["quarantined"]) or "usage" in row["tables"]


def reason_of(row: dict[str, Any]) -> str:
    aside = [f"{counted(row['quarantined'], 'row')} set aside"] if row["quarantined"] else []
    once = ["equal rows of usage counted once"] if "usage" in row["tables"] else []
    return ", ".join([*aside, *once])


def command_of(row: dict[str, Any], kind: str) -> str:
    if kind == PUSHED:
        return f"push them again as source {row['source']}"
    if not kind:
        return f"name {row['source']} in apportion.toml again, then apportion ingest {row['source']}"
    first, last = (datetime.fromtimestamp(at, UTC).strftime("%Y-%m") for at in (row["start_s"], row["end_s"] - 1))
    return f"apportion ingest {row['source']} --period {first if first == last else f'{first}..{last}'}"
