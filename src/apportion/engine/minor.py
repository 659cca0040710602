"""A period in whole minor units: statements, journal and invoice are sums of these, and nothing rounds again.

A bill's exact sum is rounded once, half to even, and shared down its tree: cost centre, department, team, project, user, and last the
component, pool, reason and cause of a charge. Each node is less than one unit from its exact amount.
"""

from itertools import groupby

import pyarrow as pa

from apportion.engine.rounding import Leaf, descend
from apportion.model.currencies import grains_per_minor
from apportion.model.money import half_even, to_grains
from apportion.model.rows import MINOR, MINOR_KEY

ROOT = 2  # bill and currency


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
    kept = [(*leaf, amount) for leaf, amount in sorted(given.items()) if amount]
    columns = list(zip(*kept, strict=True)) if kept else [()] * len(MINOR.names)
    return pa.table([pa.array(column, field.type) for column, field in zip(columns, MINOR, strict=True)], schema=MINOR)
