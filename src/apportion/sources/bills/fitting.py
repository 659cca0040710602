"""Amounts with more than 18 places: cut down to 18, so that the bill's sum stays right.

Each is cut down to 18 places, and of a bill's lines as many as its sum asks for are one step higher: those of which most was cut off,
ties by their id. So a bill adds up to its exact sum, itself rounded at the 18th place, whatever the order and the files of its lines.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.money import ATTO, half_even
from apportion.model.rows import COSTS, MONEY
from apportion.sources.cells.fine import FINE, minus, plus

RESTS = {cost: f"{cost}.rest" for cost in COSTS}  # what was cut off, in 10^-36
OF_BILL = ("InvoiceIssuerName", "BillingCurrency")
REST = pa.int64()
Places = npt.NDArray[np.int64]


def cut(lines: pa.Table) -> pa.Table:
    """Lines with their costs at 18 places, and columns for what was cut off."""
    for cost, rest in RESTS.items():
        column = lines[cost].combine_chunks() if lines[cost].num_chunks != 1 else lines[cost].chunk(0)
        if column.type != FINE:
            lines = lines.append_column(rest, pa.nulls(len(lines), REST))
            continue
        down = pc.cast(pc.round(column, ndigits=18, round_mode="down"), MONEY)
        lines = lines.set_column(lines.column_names.index(cost), cost, down)
        lines = lines.append_column(rest, units(minus(column, down)))
    return lines


def units(rests: pa.Array) -> pa.Array:
    """Whole numbers of 10^-36, null for nothing."""
    whole = pa.Array.from_buffers(pa.decimal256(58, 0), len(rests), rests.buffers(), -1, rests.offset)
    found = pc.cast(whole, REST)
    return pc.if_else(pc.equal(found, 0), None, found)


def is_cut(lines: pa.Table) -> bool:
    return any(lines[rest].null_count < len(lines) for rest in RESTS.values())


def higher(blocks: Iterable[pa.Table], ids: np.ndarray) -> dict[str, Places]:
    """For each cost the places of the lines that are a step higher; `blocks` have RESTS and OF_BILL, `ids` are all lines' hashes."""
    found: dict[str, list[pa.Table]] = {cost: [] for cost in COSTS}
    first = 0
    for block in blocks:
        places = pa.array(np.arange(first, first + len(block)))
        for cost, rest in RESTS.items():
            if block[rest].null_count < len(block):
                own = block.select([rest, *OF_BILL]).rename_columns(["rest", *OF_BILL]).append_column("place", places)
                found[cost].append(own.filter(own["rest"].is_valid()))
        first += len(block)
    return {cost: chosen(pa.concat_tables(tables), ids) for cost, tables in found.items() if tables}


def chosen(lines: pa.Table, ids: np.ndarray) -> Places:
    rests, places = lines["rest"].to_numpy(), lines["place"].to_numpy()
    bills = kinds([lines[name] for name in OF_BILL], len(lines))
    steps: list[Places] = []
    for bill in range(len(bills.first)):
        own = np.flatnonzero(bills.of == bill)
        count = half_even(sum(rests[own].tolist()), ATTO)
        halves = np.ascontiguousarray(ids[places[own]]).view(np.uint64)
        order = np.lexsort((halves[:, 1], halves[:, 0], -rests[own]))
        steps.append(places[own[order[:count]]])
    return np.sort(np.concatenate(steps))


def raised(lines: pa.Table, first: int, steps: dict[str, Places]) -> pa.Table:
    """A block of lines, the first of which is at `first`, with its steps."""
    for cost, places in steps.items():
        own = places[np.searchsorted(places, first) : np.searchsorted(places, first + len(lines))] - first
        if len(own):
            attos = np.zeros(len(lines), np.int64)
            attos[own] = 1
            lines = lines.set_column(lines.column_names.index(cost), cost, plus(lines[cost], in_attos(attos)))
    return lines


def in_attos(attos: Places) -> pa.Array:
    whole = pc.cast(pa.array(attos), pa.decimal128(19, 0))
    return pc.cast(pa.Array.from_buffers(pa.decimal128(19, 18), len(whole), whole.buffers(), -1, 0), MONEY)


def whole(lines: pa.Table, cost: str) -> pa.ChunkedArray:
    """A cost as the vendor wrote it."""
    if lines[RESTS[cost]].null_count == len(lines):
        return lines[cost]
    rests = pc.cast(pc.fill_null(lines[RESTS[cost]], 0).combine_chunks(), pa.decimal256(58, 0))
    return plus(lines[cost], pa.chunked_array([pa.Array.from_buffers(FINE, len(rests), rests.buffers(), -1, 0)]))
