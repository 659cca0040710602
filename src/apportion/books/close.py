"""A period is closed: once, with what it comes to in minor units, as a link of the chain. From then on nothing is posted in it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select

from apportion.books import record
from apportion.books.agreed import packed, unpacked
from apportion.books.audit import note
from apportion.books.beside import CHECK, check_beside, keep_beside, told_beside
from apportion.books.catalog import Evidence
from apportion.books.chain import rows_digest, told
from apportion.books.content import Content, Totals, bill_days_digest, totals
from apportion.books.database import reading, writing
from apportion.books.documents import (
    check_documents,
    check_numbers,
    hidden,
    keep,
    kept_of,
    read_kept,
    shown_kept,
    told_rows,
)
from apportion.books.hooks import News, tell
from apportion.books.ledger import link_number
from apportion.books.minor import merge_minor, store_minor
from apportion.books.names import Names, shown
from apportion.books.post import is_closed, moved, posted_rows, run_row
from apportion.books.shapes import CLOSE, Closed, Damage, Kept, Run
from apportion.books.shapes import Close as Closing
from apportion.errors import BooksError, require_equal
from apportion.model.currencies import grains_per_minor
from apportion.model.money import half_even, plain, to_decimal, to_grains
from apportion.model.rows import BILL_DAYS, MINOR, POSTINGS

BILL = slice(POSTINGS.names.index("bill"), POSTINGS.names.index("currency") + 1)


def close(evidence: Evidence, names: Names, closing: Closing) -> Closed:
    """The same close again changes nothing; another one of a closed period is refused."""
    rows, known = names.hidden(closing.minor.select(MINOR.names).cast(MINOR))
    minor = merge_minor(rows)
    documents, users = hidden(closing.documents, names, known)
    checks = {**closing.checks, **({CHECK: told_beside(closing.beside)} if closing.beside else {})}
    closing = replace(closing, documents=documents, checks=checks)
    with writing(evidence.engine) as connection:
        if is_closed(connection, closing.period):
            return closed_before(connection, closing, minor)
        run = run_of(closing)
        check_unmoved(connection, run)
        require_equal(f"{closing.period} in minor units", rounded(connection, closing.period), sums_of(minor))
        check_numbers(connection, closing.documents)
        row = run_row(connection, content_of(run, closing, minor), 0)
        row["head_after"] = row["hash"]
        connection.execute(insert(record.runs), [row])
        names.learn(connection, closing.period, users)
        said = json.dumps(checks, sort_keys=True)
        connection.execute(
            insert(record.closes).values(period=closing.period, run_id=run.run_id, checks=said, minor=packed(minor))
        )
        keep(connection, closing.period, closing.documents)
        if closing.beside:
            keep_beside(connection, closing.period, closing.beside)
        connection.execute(delete(record.periods).where(record.periods.c.period == closing.period))
        connection.execute(insert(record.periods).values(period=closing.period, status="closed"))
        note(connection, "run", told(row), closing.why)
        store_minor(connection, closing.period, minor)
        for news in (closed_news(closing, minor, row["head_after"]), *statement_news(closing)):
            tell(connection, news)
    found = read_close(evidence, closing.period)
    assert found is not None
    return found


def closed_news(closing: Closing, minor: pa.Table, head: str) -> News:
    """Told in the transaction that closes: who is told of a close finds it, and no close goes untold."""
    rows = minor.group_by(["team", "currency"]).aggregate([("amount", "sum")]).to_pylist()
    owed = sorted((row["team"], row["currency"], in_units(row["amount_sum"], row["currency"])) for row in rows)
    sums = {unit: sum(row["amount_sum"] for row in rows if row["currency"] == unit) for _, unit, _ in owed}
    return News(
        "period.closed",
        closing.period,
        {"period": closing.period, "policy": closing.policy_version, "link": f"/statements?period={closing.period}"},
        teams=tuple({"team": team, "currency": unit, "amount": amount} for team, unit, amount in owed),
        whole={
            "head": head,
            "totals": [{"currency": unit, "amount": in_units(sums[unit], unit)} for unit in sorted(sums)],
        },
    )


def statement_news(closing: Closing) -> Iterator[News]:
    """One for each team and currency: what it owes, and what of it is charged."""
    for one in closing.documents:
        if one.level != "team":
            continue
        said = json.loads(one.text)
        yield News(
            "statement.issued",
            f"{closing.period} {one.owner} {one.currency}",
            {
                "team": one.owner,
                "period": closing.period,
                "currency": one.currency,
                "owed": in_units(said["owed"], one.currency),
                "charged": in_units(one.amount, one.currency),
                "mode": said["mode"],
                "number": one.label,
                "link": f"/statements/{closing.period}/{quote(one.owner, safe='')}",
            },
            team=one.owner,
        )


def in_units(minor: int, currency: str) -> str:
    return plain(to_decimal(minor * grains_per_minor(currency)))


def closed_before(connection: Connection, closing: Closing, minor: pa.Table) -> Closed:
    known, body = stored(connection, closing.period), record.closes.c
    kept = connection.scalar(select(body.minor).where(body.period == closing.period))
    if known is not None and kept is not None and (unpacked(kept).equals(minor) or known.minor.equals(closing.minor)):
        return known
    raise BooksError(
        "period-closed", f"period {closing.period} is closed", hint="correct it with postings in an open period"
    )


def run_of(closing: Closing) -> Run:
    return Run(
        run_id=f"{closing.period}-close", period=closing.period, plan_digest="", policy_version=closing.policy_version, inputs={},
        postings=POSTINGS.empty_table(), bill_days=BILL_DAYS.empty_table(), expected_head=closing.expected_head, kind=CLOSE, cause=closing.why,
    )  # fmt: skip


def content_of(run: Run, closing: Closing, minor: pa.Table) -> Content:
    documents = [kept_of(document) for document in closing.documents]
    return Content(run, "{}", "{}", [], {}, bill_days_digest({}), close_digest(closing.checks, minor, documents))


def close_digest(checks: Mapping[str, str], minor: pa.Table, documents: Sequence[Kept]) -> str:
    rows = zip(*(column.to_pylist() for column in minor.columns), strict=True)
    said = ("checks", *(f"{name}={said}" for name, said in sorted(checks.items())))
    return rows_digest([said, *rows, *told_rows(documents)])


def check_unmoved(connection: Connection, run: Run) -> None:
    """Nothing was posted in the period since its minor units were made."""
    runs = record.runs
    last = connection.scalar(select(func.max(runs.c.last_seq)).where(runs.c.period == run.period))
    seen = link_number(connection, run.expected_head)
    if last is None:
        raise BooksError("nothing-posted", f"nothing is posted in {run.period}", hint="plan and apply it first")
    if seen is None or seen < last:
        raise moved(run, "something else was posted in this period")


def rounded(connection: Connection, period: str, *conditions: ColumnElement[bool]) -> dict[tuple[str, ...], int]:
    """What each bill of a period comes to, rounded once."""
    sums: Totals = totals((row[BILL], row[-1]) for row in posted_rows(connection, period, *conditions))
    found = {key: half_even(to_grains(amount), grains_per_minor(key[1])) for key, amount in sums.items()}
    return {key: amount for key, amount in found.items() if amount}


def sums_of(minor: pa.Table) -> dict[tuple[str, ...], int]:
    rows = minor.group_by(["bill", "currency"]).aggregate([("amount", "sum")]).to_pylist()
    return {(row["bill"], row["currency"]): row["amount_sum"] for row in rows if row["amount_sum"]}


def read_close(evidence: Evidence, period: str) -> Closed | None:
    with reading(evidence.engine) as connection:
        return stored(connection, period)


def stored(connection: Connection, period: str) -> Closed | None:
    closes, runs = record.closes, record.runs
    both = select(closes, runs.c.policy_version, runs.c.cause, runs.c.head_after, runs.c.posted_s).join(
        runs, runs.c.run_id == closes.c.run_id
    )
    row = connection.execute(both.where(closes.c.period == period)).one_or_none()
    if row is None:
        return None
    minor = shown(connection, unpacked(row.minor), period)
    return Closed(
        period, row.run_id, row.policy_version, minor, json.loads(row.checks), row.cause, row.head_after, row.posted_s,
        shown_kept(connection, period),
    )  # fmt: skip


def check_closes(connection: Connection) -> Iterator[Damage]:
    """Each close is what its link says, and each bill in it what was posted until then, rounded once."""
    runs = record.runs
    known = {row.run_id: row for row in connection.execute(select(runs).where(runs.c.kind == CLOSE))}
    for row in connection.execute(select(record.closes)).all():
        run, where = known.pop(row.run_id, None), f"close of {row.period}"
        found: Any = stored(connection, row.period)
        if run is None or found is None or run.period != row.period:
            yield Damage("close-changed", where, "no link of the ledger knows it")
            continue
        if close_digest(found.checks, unpacked(row.minor), read_kept(connection, row.period)) != run.content_sha256:
            yield Damage("close-changed", where, "its minor units, checks or statements were changed")
        if rounded(connection, row.period, record.entries.c.seq < run.seq) != sums_of(found.minor):
            yield Damage("close-changed", where, "its minor units do not add up to the bills")
        if not is_closed(connection, row.period):
            yield Damage("close-changed", where, "the period is open again")
    for run_id in known:
        yield Damage("close-changed", f"run {run_id}", "what was closed is missing")
    yield from check_documents(connection)
    yield from check_beside(connection)
