"""Rows that are pushed without a window: they add to what their source said, and nothing gives way to them.

A row that is there already is not taken again. The same key with other content is not believed: what was there stays, the pushed one is
kept in the quarantine. Workloads alone are renewed, as by every source: whoever pushes knows more of a life later.
"""

import json
from dataclasses import asdict
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import select

from apportion.books import record
from apportion.books.blocks import Blocks
from apportion.books.catalog import Commit, Evidence
from apportion.books.database import reading, writing
from apportion.books.deliveries import record_delivery
from apportion.books.digest import content_sum
from apportion.books.duplicates import Conflict, variants
from apportion.books.ingest import candidates, replace
from apportion.books.locks import Locks
from apportion.books.prepare import Prepared
from apportion.books.publish import publish, published
from apportion.books.shapes import Receipt
from apportion.books.tables import EVIDENCE, KEEPING
from apportion.books.window import with_lives
from apportion.errors import Problem
from apportion.model.delivery import Delivery


class Contradiction(Conflict):
    """Of what an earlier push said."""

    def problem(self, source: str) -> Problem:
        message = f"{self.table} has this key with other content, which stays; push it with a window to restate it"
        return Problem(source, "conflicting-rows", message, self.key, self.money, **self.held)


def add(evidence: Evidence, locks: Locks, delivery: Delivery) -> Receipt:
    prepared = Prepared(delivery)
    said = prepared.digest  # of all that was pushed, whatever of it is there already
    with locks.hold(delivery.tables):
        for name in delivery.tables:
            leave_new(evidence, prepared, name)
        known = (
            None
            if any(rows.num_rows for rows in prepared.rows.values())
            else added_before(evidence, delivery.source, said)
        )
        if known is not None:
            return known
        commits = [found for name in prepared.rows if (found := appended(evidence, name, prepared))]
        with writing(evidence.engine) as connection:
            receipt = record_delivery(connection, prepared, {})  # nothing can give way: no window is restated
            publish(connection, commits, receipt.delivery_id)
        return receipt


def added_before(evidence: Evidence, source: str, digest: str) -> Receipt | None:
    """Where the very same was pushed before and all of it is still there: what was said then."""
    table = record.deliveries
    same = select(table).where(table.c.source == source, table.c.digest == digest)
    with reading(evidence.engine) as connection:
        row = connection.execute(same.order_by(table.c.seq.desc()).limit(1)).first()
    if row is None:
        return None
    return Receipt(
        changed=False, delivery_id=row.delivery_id, rows=json.loads(row.rows), replaced=json.loads(row.replaced),
        quarantined=row.quarantined,
    )  # fmt: skip


def leave_new(evidence: Evidence, prepared: Prepared, name: str) -> None:
    """Takes out of the prepared rows what the books have, and puts aside what contradicts them."""
    pushed = prepared.rows[name]
    if isinstance(pushed, Blocks):
        prepared.take_whole(name, pushed.rows)
    whole: pa.Table = prepared.rows[name]
    rows = whole
    before = standing(evidence, name, prepared.delivery, rows)
    if not before.num_rows:
        return
    renewed = KEEPING[name].cut == "none"
    if renewed:
        rows = with_lives(rows, before, prepared.delivery.window)
    known = {key_of(name, row): row for row in before.to_pylist()}
    given = rows.to_pylist()
    found = [known.get(key_of(name, row)) for row in given]
    fresh = [old is None or (renewed and plain(old) != plain(row)) for old, row in zip(found, given, strict=True)]
    prepared.rows[name] = left = whole.filter(pa.array(fresh, pa.bool_()))
    prepared.sums[name] = partial(content_sum, left)
    if not renewed:
        other = [old is not None and plain(old) != plain(row) for old, row in zip(found, given, strict=True)]
        told = variants(name, rows.filter(pa.array(other, pa.bool_())))
        prepared.conflicts += [Contradiction(**asdict(one)) for one in told]


def standing(evidence: Evidence, name: str, delivery: Delivery, rows: pa.Table) -> pa.Table:
    """What the source said before of the same workloads, nodes or reservations."""
    first = KEEPING[name].key[0]
    wanted = pc.unique(rows[first])
    some = [evidence.read_file(name, path) for path in candidates(evidence, name, delivery)]
    return pa.concat_tables(
        [EVIDENCE[name].empty_table(), *(part.filter(pc.is_in(part[first], wanted)) for part in some)]
    )


def key_of(name: str, row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[column] for column in KEEPING[name].key)


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """Labels in one order."""
    return {**row, "labels": sorted(row.get("labels") or ())}


def appended(evidence: Evidence, name: str, prepared: Prepared) -> Commit | None:
    rows = prepared.rows[name]
    if not rows.num_rows:
        return None
    if KEEPING[name].cut == "none":
        return replace(evidence, name, prepared, None)[0]
    with reading(evidence.engine) as connection:
        metadata = published(connection, name).metadata
    table = evidence.open(name, metadata)
    return evidence.commit(table, (), evidence.write(table, rows, prepared.delivery.source))
