"""Split cost allocation: what pods and tasks take from the instances that they ran on.

AWS adds rows for pods and tasks beside the instance's own row, which stays: to add both would count the instance twice. With
`split = "pods"` a first look over the files (`look`) finds what the pods of each instance take, and here that is taken off the instance's
line. Whatever AWS's amounts add up to, the bill's total stays what it is.

    EffectiveCost                 split cost, and unused cost as a line of its own that is nobody's: idle
    BilledCost, ContractedCost    the same, where the instance was billed at its amortised cost; else they stay with the instance
    NetCost, ListCost             by their own split columns, where the file has them
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import MONEY
from apportion.sources.aws.block import ZERO, Block, plainly
from apportion.sources.bills.part import Fault
from apportion.sources.cells.fine import at_18, minus, plus

Rows = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
METHOD = "aws:split-cost-allocation"
PARENT = "split_line_item_parent_resource_id"
EFFECTIVE = ("split_line_item_split_cost", "split_line_item_unused_cost")
MOVED = {
    "EffectiveCost": EFFECTIVE,
    "BilledCost": EFFECTIVE,
    "ContractedCost": EFFECTIVE,
    "NetCost": ("split_line_item_net_split_cost", "split_line_item_net_unused_cost"),
    "ListCost": ("split_line_item_public_on_demand_split_cost", "split_line_item_public_on_demand_unused_cost"),
}
OF_NODE = ("cluster-name", "cluster_name", "eks:node", "eks_node")  # what a pod's tags say about its node
NO_POD = ("AllocatedResourceId", "AllocatedResourceName", "AllocatedTags", "PricingQuantity", "ConsumedQuantity")


@dataclass(frozen=True, slots=True)
class Taken:
    """Of one file, by row number. `amounts` are what its instances' rows give (null: nothing of that cost); `moved` says which costs its pods' rows take."""

    parents: Rows
    amounts: Mapping[str, pa.Array]
    exceeded: Rows
    children: Rows
    moved: Mapping[str, Flags]
    idle: Flags  # the row's unused cost is taken, too
    nobody: Flags  # the row names no pod: all of it is unused
    orphans: Rows
    notes: tuple[Fault, ...] = ()


def given(block: Block, cells: Mapping[str, pa.Array], taken: Taken) -> tuple[dict[str, pa.Array], pa.Array]:
    """The lines of a block once its instances have given and its pods have taken, and the row that each comes from."""
    first, count = block.part.first_row, block.count
    of_parents = inside(taken.parents, first, count)
    of_children = inside(taken.children, first, count)
    parents = taken.parents[of_parents] - first
    children = taken.children[of_children] - first
    idle = children[taken.idle[of_children] & ~taken.nobody[of_children]]
    after = dict(cells)
    unused: dict[str, pa.Array] = {}
    for name, (cost, rest) in MOVED.items():
        amounts = taken.amounts[name].filter(pa.array(of_parents))
        gives = spread(count, parents, amounts)
        own = mask(count, children[taken.moved[name][of_children]])
        takes = pc.if_else(own, pc.fill_null(at_18(block.amount(cost, own)), ZERO), ZERO)
        rested = pc.if_else(own, pc.fill_null(at_18(block.amount(rest, own)), ZERO), ZERO)
        nobodys = mask(count, children[taken.nobody[of_children]])
        takes = pc.if_else(nobodys, plus(takes, rested), takes)
        unused[name] = pc.if_else(pc.or_(own, cells[name].is_valid()), rested, None).take(pa.array(idle))
        changed = pc.or_(own, mask(count, parents[np.asarray(amounts.is_valid())]))
        after[name] = pc.if_else(changed, minus(plus(pc.fill_null(cells[name], ZERO), takes), gives), cells[name])
    told(block, taken, after, first)
    after |= allocated(block, after, children, taken.nobody[of_children])
    return with_idle(block, after, unused, idle)


def inside(rows: Rows, first: int, count: int) -> Flags:
    found: Flags = (rows >= first) & (rows < first + count)
    return found


def mask(count: int, rows: Rows) -> pa.Array:
    found = np.zeros(count, bool)
    found[rows] = True
    return pa.array(found)


def spread(count: int, rows: Rows, amounts: pa.Array) -> pa.Array:
    """Amounts on their rows, nothing elsewhere."""
    return pc.replace_with_mask(pa.repeat(ZERO, count), mask(count, rows), pc.fill_null(amounts.cast(MONEY), ZERO))


def told(block: Block, taken: Taken, after: dict[str, pa.Array], first: int) -> None:
    """Pods whose instance is not there are listed, as they carry no money; instances that give too much are marked."""
    parent = block.text(PARENT)
    orphans = taken.orphans[inside(taken.orphans, first, block.count)] - first
    block.part.mark(
        mask(block.count, orphans),
        "split-without-parent",
        lambda row: f"no line of {parent[row].as_py()} in this period gives what the row takes: it carries no money",
    )
    exceeded = taken.exceeded[inside(taken.exceeded, first, block.count)] - first
    marked = block.part.mark(
        mask(block.count, exceeded),
        "split-exceeds-parent",
        lambda _: "the rows of its pods take more than the instance costs: the line is negative",
    )
    after["problem"] = pc.coalesce(after["problem"], marked)


def allocated(block: Block, cells: Mapping[str, pa.Array], children: Rows, nobody: Flags) -> dict[str, pa.Array]:
    """A pod's line says whose resource it is a part of, and which."""
    own, pods = mask(block.count, children), mask(block.count, children[~nobody])
    resource = cells["ResourceId"]
    return {
        "ResourceId": pc.if_else(own, block.text(PARENT), resource),
        "AllocatedMethodId": pc.if_else(own, METHOD, None),
        "AllocatedResourceId": pc.if_else(pods, resource, None),
        "AllocatedResourceName": pc.if_else(pods, pc.replace_substring_regex(resource, r"^arn:[^/]*/", ""), None),
        "AllocatedTags": pc.if_else(pods, cells["Tags"].dictionary_decode(), None),
    }


def with_idle(
    block: Block, cells: Mapping[str, pa.Array], unused: Mapping[str, pa.Array], rows: Rows
) -> tuple[dict[str, pa.Array], pa.Array]:
    """A line more for each row with unused cost: the instance's, and no pod's."""
    costly = np.asarray(pc.not_equal(unused["EffectiveCost"], ZERO))
    rows = rows[costly]
    taken_rows = pa.array(rows)
    out: dict[str, pa.Array] = {}
    for name, column in cells.items():
        if name in MOVED:
            more = unused[name].filter(pa.array(costly)).cast(column.type)
        elif name in NO_POD:
            more = pa.nulls(len(rows), column.type)
        else:
            more = of_node(column.take(taken_rows)) if name == "Tags" else column.take(taken_rows)
        out[name] = pa.concat_arrays([plainly(column), plainly(more)])
    return out, pa.concat_arrays([pa.array(np.arange(block.count)), taken_rows])


def of_node(tags: pa.DictionaryArray) -> pa.Array:
    found = [
        json.dumps(
            {key: value for key, value in json.loads(text or "{}").items() if key.endswith(OF_NODE)}, sort_keys=True
        )
        for text in tags.dictionary.to_pylist()
    ]
    return pa.array(found, pa.string()).take(tags.indices)
