"""The rows that a decision is about, among all that a month comes to: of a statement, a posting, or a job by its charges."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import POSTING_KEY, POSTINGS
from apportion.reports.sums import total
from apportion.verbs.transfers import Row, rows_of_owner, spread

POSTING, JOB, STATEMENT = "posting", "job", "statement"
KEY = POSTING_KEY[1:]  # the month that a posting is about is told apart from where it was booked
CHARGE = ("bill", "component", "pool", "day", "reason", "team", "project", "user")
OF_USE = ("", "no owner")  # causes of the postings that charges are inside of


class Doubted(Protocol):
    """A target, or a dispute about it."""

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def key(self) -> tuple[str, ...]: ...


def plain_rows(target: Doubted, rows: pa.Table) -> pa.Table:
    """Of a statement or a posting, which need no charges."""
    if target.kind == STATEMENT:
        return rows_of_owner(rows, target.name)
    for name, value in zip(KEY, target.key, strict=True):
        column = pc.cast(rows[name], pa.string()) if name == "day" else rows[name]
        rows = rows.filter(pc.equal(column, value))
    return rows


def left_rows(charges: pa.Table, rows: pa.Table) -> Iterator[Row]:
    """As `job_rows`, of what is left of each charge where a posting holds less than it."""
    for charge, postings in charged_postings(charges, rows):
        stands, amount = total(row["amount"] for row in postings), charge["amount"]
        if stands and (stands < 0) == (amount < 0):
            yield from parts_of(postings, min(stands, amount) if amount > 0 else max(stands, amount))


def charged_postings(charges: pa.Table, rows: pa.Table) -> Iterator[tuple[Row, list[Row]]]:
    """Each charge, by bill, component, pool, day and owner, and the postings that it lies inside of."""
    summed = (
        charges.group_by(list(CHARGE)).aggregate([("amount", "sum")]).sort_by([(name, "ascending") for name in CHARGE])
    )
    standing: dict[tuple[object, ...], list[Row]] = {}
    for row in rows.to_pylist():
        if row["cause"] in OF_USE:
            standing.setdefault(place_of(row), []).append(row)
    for charge in summed.to_pylist():
        if charge["amount_sum"]:
            yield {**charge, "amount": charge["amount_sum"]}, standing.get(place_of(charge), [])


def parts_of(postings: list[Row], amount: Decimal) -> Iterator[Row]:
    sign = 1 if amount > 0 else -1
    for posting, part in spread(
        [{**row, "amount": signed(row["amount"], sign)} for row in postings], amount.copy_abs()
    ):
        yield {**{name: posting[name] for name in POSTINGS.names}, "amount": signed(part, sign)}


def signed(amount: Decimal, sign: int) -> Decimal:
    """Every digit of it: a product would be rounded."""
    return amount if sign > 0 else amount.copy_negate()


def place_of(row: Row) -> tuple[object, ...]:
    """Where a charge is looked for: it covers what was used within a reservation and beyond it, which are two postings."""
    return tuple("usage" if row[name] == "burst" else row[name] for name in CHARGE)
