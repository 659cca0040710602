"""An actual and an amortised export of the same bill as one: every row of either counts once in its own cost, and what stands in both is one line.

Two rows are the same when they agree in everything but costs and prices; of several such, those of equal cost belong together, then the rest in
order of cost. BilledCost adds up to the actual files and EffectiveCost to the amortised ones, whatever was matched.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.money import plain
from apportion.model.rows import COSTS, MONEY, SECOND
from apportion.sources.azure.exports import ACTUAL, AMORTISED, UNKNOWN, ZERO, alone, committed, counted, lacking, put
from apportion.sources.bills.bill import Bill
from apportion.sources.bills.identity import said_by
from apportion.sources.bills.part import Fault
from apportion.sources.cells.money import total
from apportion.sources.cells.text import rows_where
from apportion.sources.files.sheet import STEP

PRICES = tuple(
    f"{currency}{name}" for currency in ("", "PricingCurrency") for name in ("ListUnitPrice", "ContractedUnitPrice")
)
APART = (*COSTS, *PRICES, "PricingCurrencyEffectiveCost")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an export: `key` is what it says apart from money."""

    key: bytes
    cost: Decimal
    at: int


@dataclass(frozen=True, slots=True)
class View:
    """One of the two exports: all its lines, and which are of billing periods that the other has too."""

    lines: pa.Table
    inside: pa.ChunkedArray

    def rows(self) -> list[Row]:
        bare = self.lines
        for name in APART:
            bare = put(bare, name, pa.nulls(len(bare), MONEY))
        keys = [
            hashlib.blake2b(row, digest_size=16).digest()
            for first in range(0, len(bare), STEP)
            for row in said_by(bare.slice(first, STEP).combine_chunks(), "")
        ]
        costs = self.lines["BilledCost"].to_pylist()
        return [Row(keys[at], costs[at] or Decimal(0), at) for at in rows_where(self.inside.combine_chunks())]


def paired(actual: Sequence[Bill], amortised: Sequence[Bill]) -> list[Bill]:
    first, second = views(actual, amortised)
    twins = matched(first.rows(), second.rows())
    found = [*with_effect(actual, first, second, twins), *left_over(amortised, second, set(twins.values()))]
    notes = tuple(differences(first, second, twins))
    return [replace(found[0], faults=(*found[0].faults, *notes)), *found[1:]]


def views(actual: Sequence[Bill], amortised: Sequence[Bill]) -> tuple[View, View]:
    both = [
        pa.concat_tables([bill.lines for bill in bills], promote_options="permissive") for bills in (actual, amortised)
    ]
    periods = [set(pc.unique(lines["billing_start_s"].drop_null()).to_pylist()) for lines in both]
    shared = pa.array(sorted(periods[0] & periods[1]), SECOND)
    first, second = (View(lines, pc.is_in(lines["billing_start_s"], shared)) for lines in both)
    return first, second


def matched(first: Iterable[Row], second: Iterable[Row]) -> dict[int, int]:
    """Rows of the first to rows of the second: equal ones, then those that differ in cost."""
    waiting: dict[tuple[bytes, Decimal], list[Row]] = defaultdict(list)
    for row in second:
        waiting[row.key, row.cost].append(row)
    twins: dict[int, int] = {}
    rest: dict[bytes, list[Row]] = defaultdict(list)
    for row in first:
        if equal := waiting.get((row.key, row.cost)):
            twins[row.at] = equal.pop().at
        else:
            rest[row.key].append(row)
    others: dict[bytes, list[Row]] = defaultdict(list)
    for rows in waiting.values():
        for row in rows:
            others[row.key].append(row)
    for key, rows in rest.items():
        pairs = zip(sorted(rows, key=by_cost), sorted(others[key], key=by_cost), strict=False)
        twins |= {mine.at: theirs.at for mine, theirs in pairs}
    return twins


def by_cost(row: Row) -> Decimal:
    return row.cost


def with_effect(bills: Sequence[Bill], own: View, other: View, twins: Mapping[int, int]) -> list[Bill]:
    """The actual lines with what the amortised export says of them."""
    twin = pa.array([twins.get(at) for at in range(len(own.lines))], SECOND)
    lines = own.lines
    for name, otherwise in (("EffectiveCost", ZERO), ("PricingCurrencyEffectiveCost", UNKNOWN)):
        told = pc.if_else(twin.is_valid(), other.lines[name].take(twin), otherwise)
        lines = put(lines, name, pc.if_else(own.inside, told, lines[name]))
    return [settled(bill, lines, own, (ACTUAL, first)) for bill, first in placed(bills)]


def settled(bill: Bill, lines: pa.Table, own: View, place: tuple[str, int]) -> Bill:
    """One file's part of all lines; those of billing periods that the other export lacks as if there were none."""
    dataset, first = place
    count = bill.lines.num_rows
    mine = lines.slice(first, count)
    commitment = pc.and_(committed(mine), pc.invert(own.inside.slice(first, count)))
    notes = lacking(dataset, pc.sum(commitment).as_py() or 0)
    return replace(bill, lines=alone(mine, dataset, commitment), faults=(*bill.faults, *notes))


def left_over(bills: Sequence[Bill], own: View, taken: set[int]) -> list[Bill]:
    """The amortised lines that no actual line stands for: nothing of them was invoiced as such."""
    lines = put(own.lines, "BilledCost", pc.if_else(own.inside, ZERO, own.lines["BilledCost"]))
    found = []
    for bill, first in placed(bills):
        whole = settled(bill, lines, own, (AMORTISED, first))
        kept = [at for at in range(bill.lines.num_rows) if first + at not in taken]
        faults = tuple(moved(whole.faults, {at: line for line, at in enumerate(kept)}))
        found.append(replace(whole, lines=whole.lines.take(pa.array(kept, SECOND)), faults=faults))
    return found


def moved(faults: Iterable[Fault], lines: Mapping[int, int]) -> Iterator[Fault]:
    """The faults of lines that are left, by their new numbers. Those of the others are told with the actual line, which says the same."""
    for fault in faults:
        at = fault.line if fault.line >= 0 else fault.row  # every row is a line
        if at < 0:
            yield fault
        elif at in lines:
            yield replace(fault, line=lines[at])


def placed(bills: Sequence[Bill]) -> Iterator[tuple[Bill, int]]:
    """Each with the number of its first line among all."""
    first = 0
    for bill in bills:
        yield bill, first
        first += bill.lines.num_rows


def differences(first: View, second: View, twins: Mapping[int, int]) -> Iterator[Fault]:
    """Ordinary rows should stand in both exports, with one cost. Exports made at different times may not agree."""
    taken = set(twins.values())
    for view, there, name in ((first, twins, "actual"), (second, taken, "amortised")):
        ordinary = rows_where(pc.and_(view.inside, pc.invert(committed(view.lines))).combine_chunks())
        missing = view.lines.take(pa.array([at for at in ordinary if at not in there], SECOND))
        if missing.num_rows:
            yield Fault(-1, "exports-differ", f"{counted(missing.num_rows)} in the {name} export only: {sums(missing)}")
    covered = committed(first.lines).to_pylist()
    pairs = [(mine, theirs) for mine, theirs in sorted(twins.items()) if not covered[mine]]
    own = first.lines.take(pa.array([mine for mine, _ in pairs], SECOND))
    other = second.lines.take(pa.array([theirs for _, theirs in pairs], SECOND))
    apart = pc.not_equal(own["BilledCost"], other["BilledCost"])
    if count := pc.sum(apart).as_py():
        yield Fault(
            -1,
            "exports-differ",
            f"{counted(count)} with another cost in the amortised export: {sums(own.filter(apart))} against {sums(other.filter(apart))}",
        )


def sums(lines: pa.Table) -> str:
    """Money by currency."""
    currencies = sorted(pc.unique(lines["BillingCurrency"]).to_pylist())
    found = ((total(lines.filter(pc.equal(lines["BillingCurrency"], one))["BilledCost"]), one) for one in currencies)
    return ", ".join(f"{plain(amount)} {one}" for amount, one in found)
