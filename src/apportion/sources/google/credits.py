"""The credits of a row. What lowers the price of its usage is part of its cost; what Google gives is a line of its own.

    part of the price   committed use discounts (resources and spend), sustained use, negotiated and reseller discounts, subscriptions,
                        the free tier, and the offset that takes the used part off the fee of a commitment
    a line of its own   PROMOTION, and any type that is not known here: ChargeCategory Credit

So the billed cost of all lines of a file is the sum of its `cost` and of all `credits.amount`.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.sources.cells.fine import WIDER, minus, plus
from apportion.sources.cells.text import text
from apportion.sources.google.fields import Fields, Records

COMMITTED = ("COMMITTED_USAGE_DISCOUNT", "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE")
OFFSET = "FEE_UTILIZATION_OFFSET"
PRICE = (
    *COMMITTED, OFFSET, "SUSTAINED_USAGE_DISCOUNT", "DISCOUNT", "RESELLER_MARGIN", "SUBSCRIPTION_BENEFIT", "FREE_TIER",
)  # fmt: skip
NAMES = ("type", "name", "full_name", "id", "amount")


@dataclass(frozen=True, slots=True)
class Credits:
    """`given` are the credits that are lines of their own, with their amount exact."""

    net: pa.Array  # what is left of each row's cost
    given: Records
    commitment: pa.Array  # rows of `committed`, null where the row has no committed use discount
    committed: Records
    offset: pa.Array  # which rows have an OFFSET

    def of_commitment(self, name: str) -> pa.Array:
        return text(self.committed.fields[name]).take(self.commitment)


def credits_of(fields: Fields, cost: pa.Array) -> Credits:
    found = fields.records("credits", NAMES)
    part, count = fields.part, fields.part.count
    if found.bad:
        raise InputError(
            "invalid-number",
            f"credits {str(fields.cells('credits')[found.bad[0]].as_py())[:40]!r} is no list of credits",
            where=part.where(found.bad[0]),
            hint="nothing of this file was taken: correct it, or fetch it again",
        )
    amounts = part.exact(found.fields["amount"], "credits.amount", lambda number: int(found.rows[number]))
    types = text(found.fields["type"])
    every = Records(found.rows, {**found.fields, "type": types, "amount": amounts})
    priced = pc.fill_null(pc.is_in(types, pa.array(PRICE)), fill_value=False)
    committed = every.where(pc.is_in(types, pa.array(COMMITTED)))
    first = np.full(count, -1)
    first[committed.rows[::-1]] = np.arange(len(committed.rows))[::-1]
    offset = np.zeros(count, bool)
    offset[every.where(pc.equal(types, OFFSET)).rows] = True
    return Credits(
        reduced(cost, every.where(priced)),
        every.where(pc.invert(priced)),
        pa.array(first, mask=first < 0),
        committed,
        pa.array(offset),
    )


def reduced(cost: pa.Array, discounts: Records) -> pa.Array:
    """Cost and discounts of each row, added exactly."""
    if not len(discounts.rows):
        return cost
    amounts = discounts.fields["amount"]
    table = pa.table({"row": discounts.rows, "amount": amounts.cast(WIDER[amounts.type])})
    sums = table.group_by("row").aggregate([("amount", "sum")])
    place = pc.index_in(pa.array(np.arange(len(cost))), value_set=sums["row"].combine_chunks())
    off = sums["amount_sum"].combine_chunks().cast(amounts.type).take(place)
    return pc.if_else(off.is_valid(), plus(pc.coalesce(cost, minus(off, off)), off), cost)
