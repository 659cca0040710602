"""What a run says, in the ledger's own form: sorted rows of text and exact amounts, and their digests."""

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, select

from apportion.books import record
from apportion.books.chain import BILL_DAY, rows_digest
from apportion.books.shapes import Run
from apportion.errors import BooksError
from apportion.model.money import plain
from apportion.model.rows import BILL_DAYS, MONEY, POSTINGS, TEXT

Totals = dict[tuple[str, ...], Decimal]
Posting = tuple[str, ...]  # in the order of POSTINGS: the day in ISO form, the amount in canonical digits
KEY = BILL_DAY[:-1]


@dataclass(frozen=True, slots=True)
class Content:
    run: Run
    inputs: str
    rests_on: str
    postings: list[Posting]
    bill_days: Totals
    bill_days_sha256: str
    sha256: str


def content_of(run: Run, rests_on: Mapping[str, str]) -> Content:
    """`rests_on` are the digests of the run's inputs, by table."""
    postings = ledger_rows(run.postings, POSTINGS, run)
    days = totals((row[:-1], row[-1]) for row in ledger_rows(run.bill_days, BILL_DAYS, run))
    inputs = json.dumps(run.inputs, sort_keys=True)
    stated = json.dumps(dict(rests_on), sort_keys=True)
    days_sha256 = bill_days_digest(days)
    said = (run.kind, run.period, run.about, run.cause, run.plan_digest, run.policy_version, stated, days_sha256)
    strange = {row[0] for row in postings} - {run.period}
    if strange:
        raise refuse(
            run, f"is of {run.period} and has postings of {', '.join(sorted(strange))}", "post each period by itself"
        )
    return Content(run, inputs, stated, postings, days, days_sha256, rows_digest([said, *postings]))


def first_sha256(content: Content) -> str:
    """Of a run by the first rule: it was named by its snapshots."""
    run = content.run
    said = (run.period, run.plan_digest, run.policy_version, content.inputs, content.bill_days_sha256)
    return rows_digest([said, *content.postings])


def bill_days_digest(days: Totals) -> str:
    return rows_digest((*key, amount) for key, amount in days.items())


def ledger_rows(table: pa.Table, schema: pa.Schema, run: Run) -> list[Posting]:
    try:
        columns = [column.to_pylist() for column in table.select(schema.names).cast(schema).columns]
    except (pa.ArrowInvalid, KeyError, ValueError) as error:
        raise refuse(run, f"has a table that does not fit: {error}", "hand over the model's Arrow schemas") from error
    if any(column.null_count for column in table.columns):
        raise refuse(run, "has empty names or amounts", "hand over the model's Arrow schemas")
    for place, field in enumerate(schema):
        if field.type == MONEY:
            columns[place] = list(map(plain, columns[place]))
        elif field.type == pa.date32():
            columns[place] = list(map(dt.date.isoformat, columns[place]))
        elif any("\0" in text for text in columns[place]):
            raise refuse(run, "has a NUL character in a name", "clean the label that the policy reads")
    return sorted(zip(*columns, strict=True))


def refuse(run: Run, what: str, hint: str) -> BooksError:
    return BooksError("invalid-run", f"run {run.run_id} {what}", hint=hint)


def totals(rows: Iterable[tuple[tuple[str, ...], str]]) -> Totals:
    """Exact sums per key, without those that come to nothing. Arrow reads and adds the digits; Python only groups."""
    keys: dict[tuple[str, ...], int] = {}
    groups: list[int] = []
    amounts: list[str] = []
    for key, amount in rows:
        groups.append(keys.setdefault(key, len(keys)))
        amounts.append(amount)
    table = pa.table({"group": pa.array(groups, pa.int64()), "amount": pa.array(amounts, TEXT).cast(MONEY)})
    sums = table.group_by("group").aggregate([("amount", "sum")]).sort_by("group")["amount_sum"].to_pylist()
    return {key: amount for key, amount in zip(keys, sums, strict=True) if amount}


def as_posted(text: str) -> str:
    """The canonical digits of an amount as the database writes it: PostgreSQL gives all 18 places."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def day_totals(postings: Iterable[Posting]) -> Totals:
    """Per bill, currency, component and day. `postings` are in the order of POSTINGS."""
    key = itemgetter(*(POSTINGS.names.index(name) for name in KEY))
    return totals((key(row), row[-1]) for row in postings)


def input_digests(connection: Connection, inputs: Mapping[str, int]) -> dict[str, str]:
    """Of the rows of each snapshot, whatever their files."""
    table = record.snapshots
    known = {(row.table, row.snapshot_id): row.digest for row in connection.execute(select(table))}
    return {name: known.get((name, at), f"unknown snapshot {at}") for name, at in inputs.items()}


def evidence_digests(connection: Connection, names: Iterable[str]) -> dict[str, str]:
    """Of the files that are live now: what the postings of a run rest on, byte for byte."""
    files = record.files
    return {
        name: files_digest(connection.execute(select(files).where(files.c.table == name, files.c.live)))
        for name in sorted(names)
    }


def files_digest(rows: Iterable[Any]) -> str:
    return rows_digest((row.path, row.sha256, row.rows, row.control) for row in rows)
