"""A period in whole minor units: statements, journal and invoice are sums of these, and nothing rounds again.

A bill's exact sum is rounded once, half to even, and shared down its tree: cost centre, department, team, project, user, and last the
component, pool, reason and cause of a charge. Each node is less than one unit from its exact amount.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import BooksError
from apportion.model.currencies import grains_per_minor
from apportion.model.money import half_even, to_decimal, to_grains
from apportion.model.rows import MINOR, MINOR_KEY, RECORDED, TEXT
from apportion.model.tree import Leaf, descend

ROOT = 2  # bill and currency
TOO_LARGE = "month-too-large"
LARGEST = 2**63 - 1  # of minor units in 64 bits
APART = pa.schema(
    [*(MINOR.field(name) for name in MINOR_KEY), pa.field("run", TEXT, nullable=False), MINOR.field("amount")]
)


def minor_units(posted: pa.Table) -> pa.Table:
    """Of the postings of one period, whatever kind of run they are of; what comes to nothing is left out."""
    rows = posted.group_by(list(MINOR_KEY)).aggregate([("amount", "sum")])
    keys = zip(*(rows[name].to_pylist() for name in MINOR_KEY), strict=True)
    exact = zip(keys, map(to_grains, rows["amount_sum"].to_pylist()), strict=True)
    ordered = sorted(exact, key=lambda item: [part.encode() for part in item[0]])
    given: dict[Leaf, int] = {}
    for (_, currency), group in groupby(ordered, key=lambda item: item[0][:ROOT]):
        items, unit = list(group), grains_per_minor(currency)
        descend(items, ROOT, half_even(sum(grains for _, grains in items), unit), unit, given)
    refuse_too_large(given)
    return table_of(MINOR, [(*leaf, amount) for leaf, amount in sorted(given.items()) if amount])


def refuse_too_large(given: Mapping[Leaf, int]) -> None:
    """All of a currency together, whatever their signs: so no sum of some of them is too large either."""
    sizes: Counter[str] = Counter()
    for (_, currency, *_), amount in given.items():
        sizes[currency] += abs(amount)
    for currency, size in sorted(sizes.items()):
        if size > LARGEST:
            raise BooksError(
                "month-too-large",
                f"the month comes to {size} of the smallest units of {currency}, and at most {LARGEST} can be stated",
                hint="see whether a bill's amounts or its currency are wrong; `apportion report showback` shows them",
            )


def apart(minor: pa.Table, others: pa.Table) -> pa.Table:
    """The same amounts with those of some runs apart: each run's part of a row is rounded by itself, and the rest is of no run.

    `others` holds what such runs posted in the period: the key of a row, `run` and the exact amount.
    """
    keys = [*MINOR_KEY, "run"]
    rest = dict(
        zip(
            zip(*(minor[name].to_pylist() for name in MINOR_KEY), strict=True), minor["amount"].to_pylist(), strict=True
        )
    )
    found = others.group_by(keys).aggregate([("amount", "sum")])
    rows = []
    for *key, run, exact in zip(*(found[name].to_pylist() for name in [*keys, "amount_sum"]), strict=True):
        amount = half_even(to_grains(exact), grains_per_minor(key[1]))
        rest[tuple(key)] = rest.get(tuple(key), 0) - amount
        rows.append((*key, run, amount))
    rows += [(*key, "", amount) for key, amount in rest.items()]
    return table_of(APART, sorted(row for row in rows if row[-1]))


def round_each(posted: pa.Table) -> pa.Table:
    """Each key rounded by itself: of what is no whole bill."""
    sums = posted.group_by(list(MINOR_KEY)).aggregate([("amount", "sum")])
    exact = zip(keys_of(sums), map(to_grains, sums["amount_sum"].to_pylist()), strict=True)
    return table_of(MINOR, [(*key, half_even(grains, grains_per_minor(key[1]))) for key, grains in exact])


def add_rounding(posted: pa.Table, minor: pa.Table | None, period: str) -> pa.Table:
    """The exact postings of a period with a row of no day for each key of its minor units: what rounding adds to it or takes from it.

    So the rows of any owner, pool, component, reason or cause come to whole minor units, and the rows of a day to what was posted of it.
    Without minor units they stay as exact as they are.
    """
    if minor is None:
        return posted.select(RECORDED.names).cast(RECORDED)
    exact = posted.group_by(list(MINOR_KEY)).aggregate([("amount", "sum")])
    grains = dict(zip(keys_of(exact), map(to_grains, exact["amount_sum"].to_pylist()), strict=True))
    rows = []
    for key, amount in zip(keys_of(minor), minor["amount"].to_pylist(), strict=True):
        rows.append((key, amount * grains_per_minor(key[1]) - grains.pop(key, 0)))
    rows += [(key, -rest) for key, rest in grains.items()]
    named = [
        dict(zip(MINOR_KEY, key, strict=True), period=period, amount=to_decimal(rest)) for key, rest in rows if rest
    ]
    columns = [
        pa.array([one.get(field.name) for one in named], field.type) if named else pa.array([], field.type)
        for field in RECORDED
    ]
    return pa.concat_tables([posted.select(RECORDED.names).cast(RECORDED), pa.table(columns, schema=RECORDED)])


def dated(rows: pa.Table) -> pa.Table:
    """Without the rows that round them."""
    return rows.filter(pc.is_valid(rows["day"]))


def rounding_of(rows: pa.Table) -> pa.Table:
    """The rows that round the others."""
    return rows.filter(pc.is_null(rows["day"]))


def keys_of(rows: pa.Table) -> list[Leaf]:
    return list(zip(*(rows[name].to_pylist() for name in MINOR_KEY), strict=True))


def table_of(schema: pa.Schema, rows: Sequence[tuple[object, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema.names)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )
