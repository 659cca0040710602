"""A first look over all files of a bill, a few columns only: what the pods and tasks of each instance take from its lines.

An instance is found by its id, account and period. Where several lines bill it in a period (a savings plan covers half of it), each gives
in proportion to its amortised cost. AWS tells of unused capacity on each pod's row; where it does so in a row that names no pod, that row
counts and the pods' do not.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import MONEY
from apportion.sources.aws.block import ZERO, Block
from apportion.sources.aws.costs import costs, split_rows
from apportion.sources.aws.header import Header, header_of
from apportion.sources.aws.split import MOVED, PARENT, Flags, Rows, Taken
from apportion.sources.aws.weights import UNITS, kind_of
from apportion.sources.bills.part import Fault, Part
from apportion.sources.cells.fine import at_18, plus
from apportion.sources.files.flow import flowing
from apportion.sources.files.paths import InputFile

BETWEEN = "\x1f"
COVERED = ("Usage", "DiscountedUsage", "SavingsPlanCoveredUsage")
TOLERANCE = 1e-6  # AWS's amounts are binary: what is off by less adds up
SCALE = 10**18


def look(files: Sequence[InputFile]) -> dict[str, Taken]:
    """What was found, by file name."""
    seen: list[tuple[pa.Table, pa.Table]] = []
    for number, file in enumerate(files):
        headers: list[Header] = []

        def wanted(names: Sequence[str], file: InputFile = file, headers: list[Header] = headers) -> Sequence[str]:
            headers.append(header_of(names, file))
            return [
                own
                for name, own in headers[0].columns.items()
                if name not in ("product", "resource_tags", "cost_category")
            ]

        first = 0
        with flowing(file, wanted) as flow:
            for table in flow.blocks:
                seen.append(rows(Block(Part(flow.where, table, first, []), headers[0]), number))
                first += table.num_rows
    if not seen:
        return {}
    children = pa.concat_tables([table for table, _ in seen])
    parents = pa.concat_tables([table for _, table in seen])
    found = match(children, parents.filter(pc.is_in(parents["key"], children["key"].unique())))
    return {file.name: taken for file, taken in zip(files, of_files(found, len(files)), strict=True)}


def rows(block: Block, file: int) -> tuple[pa.Table, pa.Table]:
    """Rows of pods and tasks, and rows of what they may have run on."""
    types, split = block.text("line_item_line_item_type"), split_rows(block)
    resource, parent = block.text("line_item_resource_id"), block.text(PARENT)
    keys = pc.binary_join_element_wise(
        pc.if_else(split, parent, resource),
        block.text("line_item_usage_account_id"),
        *(pc.cast(block.part.instants(block.header.columns[name]), pa.string()) for name in ("line_item_usage_start_date", "line_item_usage_end_date")),
        BETWEEN,
    )  # fmt: skip
    place = {
        "file": pa.repeat(pa.scalar(file), block.count),
        "row": pa.array(np.arange(block.count) + block.part.first_row),
        "key": keys,
    }
    usage_type = block.text("line_item_usage_type")
    child = {
        **place,
        "nobody": pc.fill_null(pc.or_kleene(resource.is_null(), pc.equal(resource, parent)), fill_value=True),
    }
    child |= {
        column: pc.fill_null(at_18(block.amount(column, split)), ZERO) for pair in MOVED.values() for column in pair
    }
    child |= {
        "usage_type": usage_type,
        "usage": pc.cast(pc.fill_null(block.amount("split_line_item_split_usage", split), ZERO), pa.float64()),
    }
    compute = pc.or_kleene(
        pc.not_equal(block.text("line_item_product_code"), "AmazonEC2"),
        pc.starts_with(block.text("line_item_operation"), "RunInstances"),
    )
    own = pc.and_(pc.is_in(types, pa.array(COVERED)), pc.fill_null(compute, fill_value=False))
    instance = pc.and_not(pc.and_(own, keys.is_valid()), split)
    tie = pc.binary_join_element_wise(types, usage_type, BETWEEN, null_handling="replace", null_replacement="")
    own_costs = {name: at_18(column) for name, column in costs(block, types, split).cells.items()}
    return pa.table(child).filter(split), pa.table({**place, "tie": tie, **own_costs}).filter(instance)


class Matched:
    """Children and parents by the number of the instance and period that they share."""

    def __init__(self, children: pa.Table, parents: pa.Table) -> None:
        names = parents["key"].unique()
        codes = pc.index_in(children["key"], names)
        self.orphans = children.filter(codes.is_null())
        self.children = children.filter(codes.is_valid())
        self.child: Rows = numbers(codes.drop_null())
        self.parents = parents
        self.parent: Rows = numbers(pc.index_in(parents["key"], names))
        self.count = len(names)

    def none(self, bad: pa.ChunkedArray) -> Flags:
        """Groups none of whose parents has the flag."""
        found: Flags = (
            np.bincount(self.parent, weights=np.asarray(pc.fill_null(bad, fill_value=True)), minlength=self.count) == 0
        )
        return found


def match(children: pa.Table, parents: pa.Table) -> tuple[Matched, dict[str, pa.Array], dict[str, Flags], Flags]:
    found = Matched(children, parents)
    nobody = np.asarray(found.children["nobody"])
    explicit = np.bincount(found.child[nobody], minlength=found.count) > 0
    idle: Flags = nobody | ~explicit[found.child]
    effective = parents["EffectiveCost"]
    amounts: dict[str, pa.Array] = {}
    moved: dict[str, Flags] = {}
    for name, (cost, rest) in MOVED.items():
        same = name in ("NetCost", "ListCost")
        bad = parents[name].is_null() if same else pc.not_equal(parents[name], effective)
        moves = found.none(bad)
        moved[name] = moves[found.child]
        taken = plus(
            found.children[cost].combine_chunks(),
            pc.if_else(pa.array(idle), found.children[rest].combine_chunks(), ZERO),
        )
        totals = summed(pc.if_else(pa.array(moved[name]), taken, ZERO), found.child, found.count)
        amounts[name] = pc.if_else(pa.array(moves[found.parent]), shared(totals, found), None)
    return found, amounts, moved, idle


def numbers(column: pa.ChunkedArray) -> Rows:
    return np.asarray(column.combine_chunks()).astype(np.int64) if len(column) else np.zeros(0, np.int64)


def summed(values: pa.Array, groups: Rows, count: int) -> pa.Array:
    """By group, in their order."""
    sums = pa.table({"group": groups, "value": values}).group_by("group").aggregate([("value", "sum")])
    at = np.zeros(count, bool)
    at[numbers(sums["group"])] = True
    ordered = sums.sort_by("group")["value_sum"].combine_chunks().cast(MONEY)
    return pc.replace_with_mask(pa.repeat(ZERO, count), pa.array(at), ordered)


def shared(totals: pa.Array, found: Matched) -> pa.Array:
    """What each parent gives: all of it, or its share where an instance has several lines."""
    out = totals.take(pa.array(found.parent))
    several = np.bincount(found.parent, minlength=found.count)[found.parent] > 1
    if not several.any():
        return out
    chosen = np.flatnonzero(several)
    rows_of: dict[int, list[int]] = {}
    for row in chosen.tolist():
        rows_of.setdefault(int(found.parent[row]), []).append(row)
    weights = dict(zip(chosen.tolist(), found.parents["EffectiveCost"].take(pa.array(chosen)).to_pylist(), strict=True))
    ties = dict(zip(chosen.tolist(), found.parents["tie"].take(pa.array(chosen)).to_pylist(), strict=True))
    given: dict[int, Decimal] = {}
    for group, own in rows_of.items():
        own.sort(key=lambda row: (ties[row], weights[row]))
        given |= zip(own, in_proportion(totals[group].as_py(), [weights[row] for row in own]), strict=True)
    return pc.replace_with_mask(out, pa.array(several), pa.array([given[row] for row in chosen.tolist()], MONEY))


def in_proportion(total: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Exact: floors at the 18th place, and what is left goes to the largest remainders."""
    whole = int(total * SCALE)
    parts = [max(int(weight * SCALE), 0) for weight in weights]
    if not sum(parts):
        parts = [1] * len(parts)
    shares = [divmod(whole * part, sum(parts)) for part in parts]
    left = whole - sum(share for share, _ in shares)
    order = sorted(range(len(parts)), key=lambda number: -shares[number][1])
    more = set(order[:left])
    return [Decimal(share + (number in more)).scaleb(-18) for number, (share, _) in enumerate(shares)]


def of_files(found: tuple[Matched, dict[str, pa.Array], dict[str, Flags], Flags], count: int) -> Iterator[Taken]:
    matched, amounts, moved, idle = found
    costs_of = floats(matched.parents["EffectiveCost"])
    have = np.bincount(matched.parent, weights=costs_of, minlength=matched.count)
    take = np.bincount(matched.parent, weights=floats(amounts["EffectiveCost"]), minlength=matched.count)
    over = (take > have + TOLERANCE * np.maximum(np.abs(have), TOLERANCE))[matched.parent]
    parent_file, child_file, orphan_file = (
        numbers(table["file"]) for table in (matched.parents, matched.children, matched.orphans)
    )
    parent_row, child_row, orphan_row = (
        numbers(table["row"]) for table in (matched.parents, matched.children, matched.orphans)
    )
    nobody = np.asarray(matched.children["nobody"])
    for file in range(count):
        parents, children = parent_file == file, child_file == file
        yield Taken(
            parent_row[parents],
            {name: amount.filter(pa.array(parents)) for name, amount in amounts.items()},
            parent_row[parents & over],
            child_row[children],
            {name: flags[children] for name, flags in moved.items()},
            idle[children],
            nobody[children],
            orphan_row[orphan_file == file],
            odd_weights(matched) if file == 0 else (),
        )


def floats(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.float64]:
    return np.asarray(pc.cast(column, pa.float64()))


def odd_weights(found: Matched) -> tuple[Fault, ...]:
    """Instances whose accelerators, cores and memory are not priced by AWS's weights: their split is another than documented."""
    kinds = found.children["usage_type"].combine_chunks().dictionary_encode()
    weights = np.array([UNITS.get(kind_of(word), 0) for word in kinds.dictionary.to_pylist()] or [0], float)
    weight = weights[np.asarray(kinds.indices)] if len(kinds) else np.zeros(0)
    units = np.asarray(found.children["usage"]) * weight
    cost = floats(found.children[MOVED["EffectiveCost"][0]])
    priced = units > 0
    price = cost[priced] / units[priced]
    low, high = np.full(found.count, np.inf), np.full(found.count, -np.inf)
    np.minimum.at(low, found.child[priced], price)
    np.maximum.at(high, found.child[priced], price)
    odd = int(((high - low) > TOLERANCE * np.abs(high)).sum())
    message = (
        f"in {odd} instance periods the split rows are not priced by AWS's weights of accelerators, cores and memory"
    )
    return (Fault(-1, "odd-split-weights", message),) if odd else ()
