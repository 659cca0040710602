"""Postings: the rounded plan as the ledger's rows, and what each day of each bill must add up to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

import pyarrow as pa

from apportion.engine.lines import Bill
from apportion.model.money import from_nanos, to_decimal, total_of
from apportion.model.rows import BILL_DAYS, POSTING_KEY, POSTINGS, RESIDUAL
from apportion.model.times import Period
from apportion.model.tree import Leaf


@dataclass(frozen=True, slots=True)
class Postings:
    postings: pa.Table
    bill_days: pa.Table
    exact: tuple[int, ...]


def make_postings(
    period: Period,
    bills: Sequence[Bill],
    exact: Mapping[Leaf, int],
    nanos: Mapping[Leaf, int],
    dust: Mapping[tuple[str, str], int],
) -> Postings:
    currencies = {bill.id: bill.currency for bill in bills}
    rows: list[tuple[tuple[str, ...], Decimal, int]] = []
    last: dict[tuple[str, str], str] = {}
    for leaf, nano in nanos.items():
        bill, component, pool, day, reason, cause, *owner = leaf
        last[bill, component] = max(day, last.get((bill, component), day))
        if nano:
            key = (str(period), bill, currencies[bill], component, pool, day, reason, cause, *owner)
            rows.append((key, from_nanos(nano), exact[leaf]))
    for (bill, component), grains in dust.items():
        if grains:
            key = (
                str(period),
                bill,
                currencies[bill],
                component,
                "",
                last[bill, component],
                "rounding",
                "",
                "",
                "",
                RESIDUAL,
                "",
                "",
            )
            rows.append((key, to_decimal(grains), grains))
    rows.sort(key=lambda row: [part.encode() for part in row[0]])
    return Postings(table_of(rows), days_of(rows), tuple(grains for _, _, grains in rows))


def table_of(rows: Sequence[tuple[tuple[str, ...], Decimal, int]]) -> pa.Table:
    columns: dict[str, list[object]] = {name: [row[0][n] for row in rows] for n, name in enumerate(POSTING_KEY)}
    columns["day"] = [date.fromisoformat(str(day)) for day in columns["day"]]
    return pa.table(columns | {"amount": [row[1] for row in rows]}, schema=POSTINGS)


def days_of(rows: Sequence[tuple[tuple[str, ...], Decimal, int]]) -> pa.Table:
    position = {name: n for n, name in enumerate(POSTING_KEY)}
    parts: dict[tuple[str, ...], list[Decimal]] = defaultdict(list)
    for key, amount, _ in rows:
        parts[tuple(key[position[name]] for name in BILL_DAYS.names[:-1])].append(amount)
    ordered = sorted(parts)
    columns: dict[str, list[object]] = {
        name: [key[n] for key in ordered] for n, name in enumerate(BILL_DAYS.names[:-1])
    }
    columns["day"] = [date.fromisoformat(str(day)) for day in columns["day"]]
    return pa.table(columns | {"amount": [total_of(parts[key]) for key in ordered]}, schema=BILL_DAYS)
