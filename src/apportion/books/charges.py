"""The evidence behind a run's postings: its charges, and the tags that keep the snapshots it was computed from."""

import json
from collections.abc import Iterable, Iterator

import pyarrow as pa
from sqlalchemy import Connection, select

from apportion.books import record
from apportion.books.catalog import Commit, Evidence
from apportion.books.database import reading
from apportion.books.pieces import ROWS_PER_FILE
from apportion.books.publish import published
from apportion.books.shapes import Run
from apportion.model.rows import CHARGES


def tag_inputs(evidence: Evidence, run: Run) -> Iterator[Commit]:
    """Those that the last run rests on too are tagged already, and need not be opened."""
    runs = record.runs
    with reading(evidence.engine) as connection:
        last = connection.scalar(select(runs.c.inputs).order_by(runs.c.seq.desc()).limit(1))
    for name, snapshot_id in sorted(set(run.inputs.items()) - set(json.loads(last or "{}").items())):
        with reading(evidence.engine) as connection:
            metadata = published(connection, name).metadata
        tagged = evidence.tag(evidence.open(name, metadata), snapshot_id)
        if tagged is not None:
            yield tagged


def write_charges(evidence: Evidence, run: Run) -> Iterator[Commit]:
    """They take the place of the period's earlier charges."""
    if run.charges is None:
        return
    files = record.files
    with reading(evidence.engine) as connection:
        metadata = published(connection, "charges").metadata
        earlier = list(
            connection.scalars(
                select(files.c.path).where(files.c.table == "charges", files.c.part == run.period, files.c.live)
            )
        )
    table = evidence.open("charges", metadata)
    added = [evidence.write_file(table, [(chunk, None)], run.period) for chunk in chunks(run.charges)]
    if not added and not earlier:
        return
    commit = evidence.commit(table, earlier, added)
    yield commit
    tagged = evidence.tag(table, commit.snapshot_id)
    if tagged is not None:
        yield tagged


def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            held.append(batch)
            rows += batch.num_rows
        if rows >= ROWS_PER_FILE:
            yield pa.Table.from_batches(held).cast(CHARGES)
            held, rows = [], 0
    if held:
        yield pa.Table.from_batches(held).cast(CHARGES)


def charges_snapshot(connection: Connection, as_of_s: int) -> int:
    """The snapshot of the charges as the runs until some second had left them."""
    known, runs = record.snapshots.c, record.runs.c
    mine = select(known.snapshot_id).where(known.table == "charges")
    left = mine.join(record.runs, runs.run_id == known.made_by).where(runs.posted_s <= as_of_s)
    last: int | None = connection.scalar(left.order_by(runs.seq.desc()).limit(1))
    return last if last is not None else connection.scalars(mine.where(known.made_by == "create")).one()
