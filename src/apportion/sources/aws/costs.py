"""What each line costs, in five ways, from the columns that its type tells to read.

    BilledCost       unblended cost: what the invoice adds up
    EffectiveCost    amortised: `words` says by type; where a file lacks the columns for it, unblended cost
    ContractedCost   unblended cost; public price where a reservation covers the usage (AWS writes 0 then); 0 for a plan's negation,
                     whose counterpart is the covered usage
    ListCost         at public on-demand prices
    NetCost          as EffectiveCost, from the net columns, where the file has them

A savings plan's covered usage is billed at on-demand cost and taken back by a negation: their BilledCosts belong together.
EffectiveCost less BilledCost is, for the whole bill, what was amortised into it less what was paid in advance.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.aws.block import ZERO, Block
from apportion.sources.aws.words import ARN, LINE_TYPES, NET, amortising
from apportion.sources.cells.fine import minus, plus

NET_COLUMN = "line_item_net_unblended_cost"


@dataclass(frozen=True, slots=True)
class Costs:
    """`lost` are lines whose amortised cost should be there and is not; their unblended cost is taken."""

    cells: Mapping[str, pa.Array]
    lost: pa.Array


def split_rows(block: Block) -> pa.Array:
    """Rows that AWS adds for pods and tasks, beside the instance's own."""
    return block.text("split_line_item_parent_resource_id").is_valid()


def costs(block: Block, types: pa.Array, split: pa.Array) -> Costs:
    billed = block.amount("line_item_unblended_cost")
    listed = block.amount("pricing_public_on_demand_cost")
    net = block.amount(NET_COLUMN)
    effective, netted, contracted = billed, net, billed
    lost = pa.repeat(pa.scalar(False), block.count)
    for word in sorted(set(types.unique().drop_null().to_pylist()) & set(LINE_TYPES)):
        own = owned(block, types, split, word)
        if own is None:
            continue
        amount = summed(block, LINE_TYPES[word].amortised or (), own)
        lost = pc.or_(lost, pc.and_(own, amount.is_null()))
        effective = pc.if_else(own, pc.coalesce(amount, billed), effective)
        if block.has(NET_COLUMN):
            columns = tuple(after_discounts(block, name) for name in LINE_TYPES[word].amortised or ())
            netted = pc.if_else(pc.and_(own, net.is_valid()), summed(block, columns, own), netted)
        if word == "DiscountedUsage":
            contracted = pc.if_else(own, pc.coalesce(listed, contracted), contracted)
        elif word == "SavingsPlanNegation":
            contracted = pc.if_else(own, ZERO, contracted)
    found = {
        "BilledCost": billed, "EffectiveCost": effective, "ContractedCost": contracted, "ListCost": listed, "NetCost": netted,
    }  # fmt: skip
    return Costs(found, lost)


def owned(block: Block, types: pa.Array, split: pa.Array, word: str) -> pa.Array | None:
    """The rows of a type that are amortised; None where there are none, or the file has not the columns for it."""
    kind = LINE_TYPES[word]
    if kind.amortised is None or kind.commitment is None:
        return None
    own = pc.and_not(pc.fill_null(pc.equal(types, word), fill_value=False), split)
    if word == "Fee":
        own = pc.and_(own, block.text(ARN[kind.commitment]).is_valid())
    if not pc.any(own, min_count=0).as_py():
        return None
    lacking = sorted(amortising(kind.commitment) - set(block.header.columns))
    if lacking:
        block.tell(
            "not-amortised",
            f"there is no column {lacking[0]}: {word} stays at its unblended cost, which the bill adds up",
        )
        return None
    return own


def summed(block: Block, columns: tuple[str, ...], own: pa.Array) -> pa.Array:
    """The columns' sum on the rows that matter; null where none of them says anything."""
    if not columns:
        return pc.if_else(own, ZERO, None)
    parts = [(minus if name.startswith("-") else plus, block.amount(name.lstrip("-"), own)) for name in columns]
    found = pc.coalesce(*(amount for _, amount in parts)).is_valid()
    total = pc.if_else(found, ZERO, None)
    for join, amount in parts:
        total = join(total, pc.fill_null(amount, ZERO))
    return total


def after_discounts(block: Block, name: str) -> str:
    sign = "-" if name.startswith("-") else ""
    net = NET.get(name.lstrip("-"), "")
    return sign + net if block.has(net) else name
