"""Erasures again: each is in the audit chain, and each file that it rewrote is the one that it wrote."""

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Connection, Row, select

from apportion.books import record
from apportion.books.erase import FACTS, all_details, made_by
from apportion.books.shapes import Damage

MARK = "erase-"


def check_erasures(connection: Connection) -> Iterator[Damage]:
    audit, files, table = record.audit, record.files, record.rewritten
    noted = list(connection.scalars(select(audit.c.detail).where(audit.c.what == "erase").order_by(audit.c.id)))
    done = list(all_details(connection))
    for said in sorted(set(done) ^ set(noted)):
        yield Damage("erasure-changed", said.partition(":")[0], "what it did is not what was noted, or was not noted")
    if len(done) != len(noted):
        yield Damage("erasure-changed", "erasures", "some are missing or were added")
    rows = connection.execute(select(table)).all()
    again = {row.was_path for row in rows}
    known = {row.path: row for row in connection.execute(select(files))}
    numbers = set(connection.scalars(select(record.erasures.c.number)))
    for row in rows:
        if row.erasure not in numbers:
            yield Damage(
                "erasure-changed", made_by(row.erasure), "a file was rewritten by an erasure that is not there"
            )
        if row.path in again:
            continue
        now = known.get(row.path)
        if now is None or facts_of(now) != facts_of(row):
            yield Damage("file-record-changed", row.path, "what is recorded of it is not what the erasure wrote")


def facts_of(row: Any, prefix: str = "") -> tuple[Any, ...]:
    return tuple(getattr(row, prefix + fact) for fact in FACTS)


class Earlier:
    """What files were when a snapshot was published: before the erasures that came after it."""

    def __init__(self, connection: Connection) -> None:
        rows = connection.execute(select(record.rewritten)).all()
        self.of: Mapping[str, Row[Any]] = {row.path: row for row in rows}

    def file(self, now: Any, after: int) -> Any:
        """As it was when so many erasures had been made."""
        while (step := self.of.get(now.path)) is not None and step.erasure > after:
            now = SimpleNamespace(**dict(zip(FACTS, facts_of(step, "was_"), strict=True)))
        return now


def ages(order: Sequence[int], history: Sequence["Row[Any]"]) -> dict[int, int]:
    """How many erasures had been made when each snapshot was; `order` is that in which they were."""
    makers = {row.snapshot_id: row.made_by for row in history}
    found, last = {}, 0
    for snapshot_id in order:
        maker = makers.get(snapshot_id, "")
        last = int(maker.removeprefix(MARK)) if maker.startswith(MARK) else last
        found[snapshot_id] = last
    return found
