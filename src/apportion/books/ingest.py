"""A delivery becomes evidence: all of it in one step, once, and only what lies in its window.

Tables are written first, each as an Iceberg snapshot that nobody sees yet; then one SQL transaction publishes them together with the
delivery, its problems, quarantine, scopes and the digests of every file. Until that transaction has committed nothing has happened.
"""

import hashlib
import json
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from functools import cache, cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Connection, Table, func, insert, select, update

from apportion.books import record
from apportion.books.catalog import Commit, Evidence
from apportion.books.database import reading, writing
from apportion.books.digest import content_sum
from apportion.books.duplicates import Conflict, settle
from apportion.books.locks import Locks
from apportion.books.publish import publish, published
from apportion.books.scopes import check_overlaps, record_scopes, role_of, stated_scopes
from apportion.books.shapes import Receipt
from apportion.books.tables import KEEPING, fit
from apportion.books.window import inside, outside, overlaps
from apportion.model.delivery import Delivery


class Prepared:
    """A delivery's rows as they will be kept. Their content is summed beside the other work, and waited for when it is needed."""

    def __init__(self, delivery: Delivery) -> None:
        role_of(delivery)  # refused now rather than after the work
        self.delivery = delivery
        self.rows: dict[str, pa.Table] = {}
        self.outside: dict[str, int] = {}
        self.sums: dict[str, Future[int]] = {}
        self.conflicts: list[Conflict] = []
        for name in sorted(delivery.tables):
            settled, doubtful = settle(name, fit(name, delivery.tables[name], delivery.source))
            rows = settled if KEEPING[name].cut == "none" else inside(name, settled, delivery.window)
            self.rows[name] = rows
            self.outside[name] = settled.num_rows - rows.num_rows
            self.sums[name] = summing().submit(content_sum, rows)
            self.conflicts += doubtful

    @cached_property
    def digest(self) -> str:
        """What was said, whatever the order and the files it came in."""
        delivery = self.delivery
        said = {
            "source": delivery.source,
            "window": [delivery.window.start_s, delivery.window.end_s],
            "tables": {name: [rows.num_rows, f"{self.sums[name].result():032x}"] for name, rows in self.rows.items()},
            "conflicts": sorted(json.dumps(asdict(conflict), sort_keys=True) for conflict in self.conflicts),
            "problems": sorted(json.dumps(asdict(problem), sort_keys=True) for problem in delivery.problems),
            "scopes": sorted(json.dumps(asdict(scope), sort_keys=True) for scope in delivery.scopes),
        }
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


@cache
def summing() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="digest")


def ingest(evidence: Evidence, locks: Locks, delivery: Delivery) -> Receipt:
    prepared = Prepared(delivery)
    known = latest(evidence, prepared)
    if known is not None:
        return known
    names = {*delivery.tables, "cost_lines"} if delivery.scopes else set(delivery.tables)
    with locks.hold(names or {"deliveries"}):
        known = latest(evidence, prepared)  # another process may have delivered the same while this one waited
        return take_in(evidence, prepared) if known is None else known


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


def take_in(evidence: Evidence, prepared: Prepared) -> Receipt:
    delivery = prepared.delivery
    scopes = stated_scopes(delivery)
    with reading(
        evidence.engine
    ) as connection:  # refused before anything is written, and looked at again when it counts
        check_overlaps(connection, delivery.source, scopes)
    commits: list[Commit] = []
    replaced: dict[str, int] = {}
    for name in prepared.rows:
        commit, replaced[name] = replace(evidence, name, prepared)
        if commit is not None:
            commits.append(commit)
    with writing(evidence.engine) as connection:
        record_scopes(connection, delivery.source, delivery.window, scopes)
        receipt = record_delivery(connection, prepared, replaced)
        publish(connection, commits, receipt.delivery_id)
    return receipt


def replace(evidence: Evidence, name: str, prepared: Prepared) -> tuple[Commit | None, int]:
    """The source's rows in the window give way to the delivered ones; rows that straddle its edge keep their outside part."""
    rows, delivery = prepared.rows[name], prepared.delivery
    removed, kept, count = set_aside(evidence, name, rows, delivery)
    if not removed and not rows.num_rows:
        return None, 0
    with reading(evidence.engine) as connection:
        metadata = published(connection, name).metadata
    table = evidence.open(name, metadata)
    added = evidence.write(table, kept, delivery.source) + evidence.write(
        table, rows, delivery.source, prepared.sums[name].result
    )
    return evidence.commit(table, removed, added), count


def set_aside(evidence: Evidence, name: str, rows: pa.Table, delivery: Delivery) -> tuple[list[str], pa.Table, int]:
    """Which files the delivery touches, what of their rows stays, and how many rows give way."""
    removed, kept, count = [], [rows.schema.empty_table()], 0
    for path in candidates(evidence, name, delivery):
        if KEEPING[name].cut == "none":
            ids = evidence.read_file(name, path, [*KEEPING[name].key])
            gone = count_true(renewed(name, ids, rows))
        else:
            old = evidence.read_file(name, path)
            gone = count_true(overlaps(name, old, delivery.window.start_s, delivery.window.end_s))
        if not gone:
            continue
        old = evidence.read_file(name, path)
        left = (
            old.filter(pc.invert(renewed(name, old, rows)))
            if KEEPING[name].cut == "none"
            else outside(name, old, delivery.window)
        )
        removed.append(path)
        kept.append(left)
        count += gone
    return removed, pa.concat_tables(kept), count


def renewed(name: str, old: pa.Table, rows: pa.Table) -> pa.ChunkedArray:
    (key,) = KEEPING[name].key
    return pc.is_in(old[key], rows[key])


def count_true(mask: pa.ChunkedArray) -> int:
    return pc.sum(mask).as_py() or 0


def candidates(evidence: Evidence, name: str, delivery: Delivery) -> list[str]:
    files, window = record.files, delivery.window
    query = select(files.c.path).where(files.c.table == name, files.c.part == delivery.source, files.c.live)
    if KEEPING[name].cut != "none":
        query = query.where(files.c.start_s < window.end_s, files.c.end_s > window.start_s)
    with reading(evidence.engine) as connection:
        return list(connection.scalars(query.order_by(files.c.path)))


def record_delivery(connection: Connection, prepared: Prepared, replaced: Mapping[str, int]) -> Receipt:
    delivery, table = prepared.delivery, record.deliveries
    seq = (connection.scalar(select(func.max(table.c.seq))) or 0) + 1
    delivery_id = f"d{seq:06d}-{prepared.digest[:12]}"
    rows = {name: part.num_rows for name, part in prepared.rows.items()}
    supersede(connection, prepared, delivery_id)
    connection.execute(
        insert(table).values(
            seq=seq, delivery_id=delivery_id, source=delivery.source, start_s=delivery.window.start_s, end_s=delivery.window.end_s,
            tables=json.dumps(sorted(rows)), digest=prepared.digest, rows=json.dumps(rows), replaced=json.dumps(dict(replaced)),
            quarantined=len(prepared.conflicts), received_s=int(time.time()),
        )
    )  # fmt: skip
    record_role(connection, delivery)
    tied = {"delivery_id": delivery_id, "source": delivery.source}
    told = [*delivery.problems, *(conflict.problem(delivery.source) for conflict in prepared.conflicts)]
    insert_all(connection, record.problems, [{**tied, **readable(asdict(problem))} for problem in told])
    held = [
        {"table": conflict.table, "key": conflict.key, "content": conflict.content} for conflict in prepared.conflicts
    ]
    insert_all(connection, record.quarantine, [{**tied, **readable(row)} for row in held])
    insert_all(
        connection, record.delivered_files, [{"delivery_id": delivery_id, **asdict(file)} for file in delivery.files]
    )
    return Receipt(
        changed=True, delivery_id=delivery_id, rows=rows, replaced=dict(replaced),
        quarantined=len(prepared.conflicts), outside=prepared.outside,
    )  # fmt: skip


def insert_all(connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
    if rows:
        connection.execute(insert(table), rows)


def readable(row: dict[str, str]) -> dict[str, str]:
    """PostgreSQL takes no NUL in a text, and a bad row may well have one."""
    return {name: text.replace("\0", "\ufffd") for name, text in row.items()}


def record_role(connection: Connection, delivery: Delivery) -> None:
    """A source's role is what it last stated with its scopes; a delivery without any says nothing about it."""
    table, role = record.sources, role_of(delivery)
    known = connection.execute(select(table.c.role).where(table.c.name == delivery.source)).one_or_none()
    if known is None:
        connection.execute(insert(table).values(name=delivery.source, role=role))
    elif delivery.scopes:
        connection.execute(update(table).where(table.c.name == delivery.source).values(role=role))


def supersede(connection: Connection, prepared: Prepared, delivery_id: str) -> None:
    """Earlier deliveries of which nothing is left: their problems are no longer anybody's."""
    table, window = record.deliveries, prepared.delivery.window
    covered = select(table.c.seq, table.c.tables).where(
        table.c.source == prepared.delivery.source, table.c.superseded_by.is_(None),
        table.c.start_s >= window.start_s, table.c.end_s <= window.end_s,
    )  # fmt: skip
    for row in connection.execute(covered).all():
        if set(json.loads(row.tables)) <= set(prepared.rows):
            connection.execute(update(table).where(table.c.seq == row.seq).values(superseded_by=delivery_id))
