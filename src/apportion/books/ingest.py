"""A delivery becomes evidence: all of it in one step, once, and only what lies in its window.

Tables are written first, each as an Iceberg snapshot that nobody sees yet; then one SQL transaction publishes them together with the
delivery, its problems, quarantine, scopes and the digests of every file. Until that transaction has committed nothing has happened.
"""

import json
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import select

from apportion.books import record
from apportion.books.blocks import Blocks
from apportion.books.catalog import Commit, Evidence, NewFile
from apportion.books.database import reading, writing
from apportion.books.deliveries import EQUAL_ROWS, keep_equal_rows, record_delivery
from apportion.books.locks import Locks
from apportion.books.prepare import Prepared
from apportion.books.publish import publish, published
from apportion.books.scopes import check_overlaps
from apportion.books.shapes import Receipt
from apportion.books.tables import BOUNDS, EVIDENCE, KEEPING, span
from apportion.books.window import life_keys, outside, overlaps, with_lives
from apportion.model.delivery import Delivery

Early = dict[str, list[NewFile]]


def ingest(evidence: Evidence, locks: Locks, delivery: Delivery) -> Receipt:
    prepared = Prepared(delivery)
    known = None if prepared.in_blocks else latest(evidence, prepared)
    if known is not None:
        return acknowledge(evidence, known)
    names = {*delivery.tables, "cost_lines"} if delivery.scopes else set(delivery.tables)
    with locks.hold(names or {"deliveries"}):
        with reading(evidence.engine) as connection:  # before anything is written; again when it is recorded
            check_overlaps(connection, delivery.source, prepared.scopes)
        early = write_early(evidence, prepared)
        prepared.look()
        known = latest(evidence, prepared)  # another process may have delivered the same while this one waited
        if known is None and early.keys() == prepared.in_blocks.keys():
            return take_in(evidence, prepared, early)
        evidence.discard(file for files in early.values() for file in files)
        return take_in(evidence, prepared, {}) if known is None else acknowledge(evidence, known)


def acknowledge(evidence: Evidence, known: Receipt) -> Receipt:
    """The same was delivered before. Where equal rows counted once then, it is now known that there are none."""
    table = record.deliveries
    with reading(evidence.engine) as connection:
        said = connection.scalar(select(table.c.equal_rows).where(table.c.delivery_id == known.delivery_id))
    if said != EQUAL_ROWS:
        with writing(evidence.engine) as connection:
            keep_equal_rows(connection, known.delivery_id)
    return known


def write_early(evidence: Evidence, prepared: Prepared) -> Early:
    """Rows in blocks are read once: written while they are looked at, and thrown away in the rare case that they are known already."""
    found: Early = {}
    for name, blocks in prepared.in_blocks.items():
        with reading(evidence.engine) as connection:
            metadata = published(connection, name).metadata
        found[name] = evidence.write(evidence.open(name, metadata), blocks, prepared.delivery.source)
    return found


def latest(evidence: Evidence, prepared: Prepared) -> Receipt | None:
    """The last delivery of this source that spoke of this window and these tables, if it said the very same."""
    table, window = record.deliveries, prepared.delivery.window
    mine = select(table).where(table.c.source == prepared.delivery.source)
    overlapping = mine.where(table.c.start_s < window.end_s, table.c.end_s > window.start_s)
    with reading(evidence.engine) as connection:
        rows = connection.execute(overlapping.order_by(table.c.seq.desc())).all()
    for row in rows:
        if row.digest == prepared.digest:
            counted = {name: kept.num_rows for name, kept in prepared.rows.items()}
            return Receipt(
                changed=False, delivery_id=row.delivery_id, rows=counted, replaced=dict.fromkeys(counted, 0),
                quarantined=row.quarantined, outside=prepared.outside,
            )  # fmt: skip
        if not prepared.rows or set(json.loads(row.tables)) & set(prepared.rows):
            return None
    return None


def take_in(evidence: Evidence, prepared: Prepared, early: Early) -> Receipt:
    commits: list[Commit] = []
    replaced: dict[str, int] = {}
    for name in prepared.rows:
        commit, replaced[name] = replace(evidence, name, prepared, early.get(name))
        if commit is not None:
            commits.append(commit)
    with writing(evidence.engine) as connection:
        receipt = record_delivery(connection, prepared, replaced)
        publish(connection, commits, receipt.delivery_id)
    return receipt


def replace(
    evidence: Evidence, name: str, prepared: Prepared, early: list[NewFile] | None
) -> tuple[Commit | None, int]:
    """The source's rows in the window give way to the delivered ones; rows that straddle its edge keep their outside part."""
    rows, source = prepared.rows[name], prepared.delivery.source
    touched = [
        left
        for path in candidates(evidence, name, prepared.delivery)
        if (left := set_aside(evidence, name, path, prepared))
    ]
    if not touched and not rows.num_rows:
        return None, 0
    with reading(evidence.engine) as connection:
        metadata = published(connection, name).metadata
    table = evidence.open(name, metadata)
    kept = pa.concat_tables([EVIDENCE[name].empty_table(), *(left.kept for left in touched)])
    again = KEEPING[name].cut == "none" and touched
    if again:
        rows = with_lives(rows, pa.concat_tables(left.renewed for left in touched), prepared.delivery.window)
    known = None if again else prepared.sums[name]
    added = [*evidence.write(table, kept, source), *(early or evidence.write(table, rows, source, known))]
    return evidence.commit(table, (left.path for left in touched), added), sum(left.gone for left in touched)


class Remainder(NamedTuple):
    """What a delivery leaves of an earlier file."""

    path: str
    kept: pa.Table
    gone: int
    renewed: pa.Table  # workloads that the delivery speaks of again


def set_aside(evidence: Evidence, name: str, path: str, prepared: Prepared) -> Remainder | None:
    """None: not one row of the file gives way."""
    rows, window = prepared.rows[name], prepared.delivery.window
    if not isinstance(rows, Blocks) and KEEPING[name].cut == "none":
        keys = [*KEEPING[name].key, "start_s", "end_s"]
        if not count_true(renews(evidence.read_file(name, path, keys), rows, prepared.delivery)):
            return None
        old = evidence.read_file(name, path)
        again = pc.is_in(life_keys(old), life_keys(rows))
        gone = renews(old, rows, prepared.delivery)
        return Remainder(path, old.filter(pc.invert(gone)), count_true(gone), old.filter(again))
    spans = evidence.read_file(name, path, BOUNDS[KEEPING[name].cut])
    gone = count_true(overlaps(name, spans, window.start_s, window.end_s))
    if not gone:
        return None
    first_s, last_s = span(name, spans)
    within = window.start_s <= first_s and last_s <= window.end_s
    old = EVIDENCE[name].empty_table() if within else evidence.read_file(name, path)  # mostly nothing is left of it
    return Remainder(path, outside(name, old, window), gone, old[:0])


def renews(old: pa.Table, rows: pa.Table, delivery: Delivery) -> pa.ChunkedArray:
    """Which workloads give way: those that are delivered again, and other sets of labels of the same ids that lay in the window.

    Their usage there is replaced, so that nothing has these labels any more.
    """
    again = pc.is_in(life_keys(old), life_keys(rows))
    if delivery.adds or "usage" not in delivery.tables:
        return again
    window = delivery.window
    inside = pc.and_(pc.greater_equal(old["start_s"], window.start_s), pc.less_equal(old["end_s"], window.end_s))
    return pc.or_(again, pc.and_(pc.is_in(old["workload"], value_set=pc.unique(rows["workload"])), inside))


def count_true(mask: pa.ChunkedArray) -> int:
    return pc.sum(mask).as_py() or 0


def candidates(evidence: Evidence, name: str, delivery: Delivery) -> list[str]:
    files, window = record.files, delivery.window
    query = select(files.c.path).where(files.c.table == name, files.c.part == delivery.source, files.c.live)
    if KEEPING[name].cut != "none":
        query = query.where(files.c.start_s < window.end_s, files.c.end_s > window.start_s)
    with reading(evidence.engine) as connection:
        return list(connection.scalars(query.order_by(files.c.path)))
