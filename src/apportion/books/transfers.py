"""What people decide: a credit or a re-attribution, posted with who gives, who receives, why and who approved it. The run's link covers it."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from sqlalchemy import Connection, func, insert, select

from apportion.books import record
from apportion.books.catalog import Evidence
from apportion.books.chain import rows_digest
from apportion.books.content import content_of
from apportion.books.database import writing
from apportion.books.ledger import link_number
from apportion.books.locks import Locks
from apportion.books.minor import keep_minor
from apportion.books.names import Names
from apportion.books.post import append, check_unmoved, known_run, post
from apportion.books.shapes import TRANSFERS, Damage, Following, Posted, Run, Transfer
from apportion.errors import BooksError, require_equal

PREFIX = "transfer "  # of a digest: such a run rests on what was decided
SAID = (
    "owner",
    "other",
    "currency",
    "amount",
    "why",
    "approver",
    "reference",
    "dispute",
)  # its run's name is chained by itself
SINCE = ("extent", "bill", "pool", "follows")  # those of books made before say none of these


def transfer(evidence: Evidence, names: Names, made: Transfer, run: Run) -> Posted:
    with writing(evidence.engine) as connection:
        posted = post_transfer(connection, names, made, run)
        keep_minor(connection, run.period)
        return posted


def post_transfer(connection: Connection, names: Names, made: Transfer, run: Run) -> Posted:
    """Part of the caller's transaction. The same again changes nothing."""
    require_equal(f"what run {run.run_id} rests on", transfer_digest(asdict(made)), run.plan_digest)
    require_equal(f"the name of run {run.run_id}", run.run_id, made.run_id)
    hidden, users = names.hidden(run.postings)
    content = content_of(replace(run, postings=hidden), {})
    known = known_run(connection, content, run)
    if known is not None:
        return known
    check_unmoved(connection, run)
    refuse_late(connection, run)
    names.learn(connection, run.about or run.period, users)
    connection.execute(insert(record.transfers).values(**asdict(made)))
    return append(connection, content)


def post_run(evidence: Evidence, locks: Locks, names: Names, run: Run, following: Following | None) -> Posted:
    """A run, and with it the decisions that follow it: all in one transaction."""

    def follow(connection: Connection, posted: Posted) -> Posted:
        decisions = following or Following("")
        if following:
            refuse_since(connection, run, following.head, *TRANSFERS)
        for made, moved in decisions.runs:
            done = post_transfer(connection, names, made, replace(moved, expected_head=posted.head))
            posted = replace(posted, head=done.head, entries=posted.entries + done.entries)
        return posted

    return post(evidence, locks, names, run, follow)


def refuse_late(connection: Connection, run: Run) -> None:
    """How much may move depends on what the month came to when it was decided."""
    refuse_since(connection, run, run.expected_head)


def refuse_since(connection: Connection, run: Run, head: str, *kinds: str) -> None:
    """Whether something was posted of a month, of these kinds or any, since the ledger had that head."""
    runs, month = record.runs, run.about or run.period
    own = (runs.c.about == month) | ((runs.c.about == "") & (runs.c.period == month))
    some = own & runs.c.kind.in_(kinds) if kinds else own
    last = connection.scalar(select(func.max(runs.c.last_seq)).where(some)) or 0
    seen = link_number(connection, head)
    if seen is None or seen < last:
        raise BooksError(
            "inputs-moved",
            f"while this was decided, something else was posted of {month}",
            hint="look at it once more, then do it again",
        )


def transfer_digest(said: Mapping[str, Any]) -> str:
    since = [said[name] for name in SINCE]
    return PREFIX + rows_digest([[*(said[name] for name in SAID), *(since if any(since) else ())]])


def read_transfers(connection: Connection) -> list[Transfer]:
    """In the order of the ledger."""
    table, runs = record.transfers, record.runs
    rows = connection.execute(select(table).join(runs, runs.c.run_id == table.c.run_id).order_by(runs.c.seq))
    return [Transfer(**row) for row in rows.mappings()]


def check_transfers(connection: Connection) -> Iterator[Damage]:
    """Each is what its run rests on, and no run that rests on one lacks it."""
    runs = record.runs
    resting = runs.c.kind.in_(TRANSFERS) & runs.c.plan_digest.startswith(PREFIX)
    known = {row.run_id: row for row in connection.execute(select(runs).where(resting))}
    for row in connection.execute(select(record.transfers)).mappings():
        run = known.pop(row["run_id"], None)
        if run is None or run.plan_digest != transfer_digest({**row}):
            yield Damage("transfer-changed", f"transfer {row['run_id']}", "it is not what was posted")
    for run_id in known:
        yield Damage("transfer-changed", f"run {run_id}", "who gave, who received and why is missing")
