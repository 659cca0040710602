"""Pools that serve others hand their money on before anything is shared; it stays what it was (bill, component, days) and is shared where it ends."""

from decimal import Decimal
from math import lcm

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.account import cumulative
from apportion.model.money import GRAINS_PER_ATTO, to_decimal, to_grains
from apportion.policy.document import Policy
from apportion.policy.services import Parts, ends_of


def hand_on(tranches: pa.Table, policy: Policy) -> pa.Table:
    """The same money, where every pool that serves has passed its own on."""
    ends = ends_of(policy.pools)
    if not ends:
        return tranches
    serving = pc.is_in(tranches["pool"], value_set=pa.array(list(ends), pa.string()))
    handed = [row for row in tranches.filter(serving).to_pylist() for row in parted(row, ends[row["pool"]])]
    return pa.concat_tables([
        tranches.filter(pc.invert(serving)),
        pa.Table.from_pylist(handed, schema=tranches.schema),
    ])  # fmt: skip


def parted(row: dict[str, object], ends: Parts) -> list[dict[str, object]]:
    """Whole attos, adding up."""
    below = lcm(*(part.denominator for part in ends.values()))
    amount = row["amount"]
    attos = to_grains(amount) // GRAINS_PER_ATTO if isinstance(amount, Decimal) else 0
    parts = cumulative(attos, [int(ends[end] * below) for end in sorted(ends)])
    return [
        row | {"pool": end, "amount": to_decimal(part * GRAINS_PER_ATTO)}
        for end, part in zip(sorted(ends), parts, strict=True)
        if part
    ]
