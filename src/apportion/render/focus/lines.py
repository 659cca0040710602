"""Vendors' lines as origin charges: each line is shared by those who were posted its pool, in proportion to what they were posted; a line that
says whose it is stays its owner's.

Both sides are exact: the parts of a line come to the line, and what an owner gets of all lines to what it was posted, per bill, component,
pool and reason. Money that moves between pools (taxes that follow charges, overheads, rounding) is shared over what is left.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.wide import Whole, zeros
from apportion.errors import require_equal
from apportion.render.focus.charges import Issue, Split
from apportion.render.focus.line_columns import Cells, line_split
from apportion.render.focus.numbers import attos
from apportion.render.focus.transport import Filling, between, filled

CELLS_AT_ONCE = 1_000_000
SEPARATOR = "\x1f"
GROUP = ("bill", "posted_component")


def by_line(lines: pa.Table, booked: pa.Table, issue: Issue) -> Iterator[Split]:
    """`lines` as the engine placed them; `booked` what was posted of their bills, without days."""
    groups = lines.select(GROUP).group_by(GROUP).aggregate([]).sort_by([(name, "ascending") for name in GROUP])
    for group in groups.to_pylist():
        mine = keyed(lines.filter(same(lines, group)), issue).sort_by([("key", "ascending"), ("line_id", "ascending")])
        owed = keyed(
            booked.filter(same(booked, {"bill": group["bill"], "component": group["posted_component"]})), issue
        )
        for block, cells in transported(mine, owed):
            yield line_split(block, owed, cells, issue)


def same(table: pa.Table, wanted: dict[str, str]) -> pa.ChunkedArray:
    found = [pc.equal(table[name], text) for name, text in wanted.items()]
    return pc.and_(*found)


def keyed(table: pa.Table, issue: Issue) -> pa.Table:
    """Lines and postings with one key are one another's: those of a pool; of one whose lines say whose they are, those of a pool and owner."""
    direct = pa.array([name for name, method in issue.methods.items() if method == "direct"], pa.string())
    own = pc.is_in(table["pool"], direct)
    parts = [pc.if_else(own, pc.fill_null(table[name], ""), "") for name in ("team", "project", "user")]
    return table.append_column("key", pc.binary_join_element_wise(table["pool"], *parts, SEPARATOR))


def transported(lines: pa.Table, owed: pa.Table) -> Iterator[tuple[pa.Table, Cells]]:
    """Blocks of the lines of one bill and component, with their cells."""
    given, taken = by_key(lines), by_key(owed)
    gives, takes = sums_of(lines, given), sums_of(owed, taken)
    require_equal(f"lines of {lines['bill'][0]} that were posted", sum(takes.values()), sum(gives.values()))
    flow = between(gives, takes)
    amounts = attos(owed["amount"])
    shares = {
        pool: filled(amounts[part], np.array([flow[one, pool] for one in sorted(given)], dtype=object))
        for pool, part in taken.items()
    }
    for number, (_, part) in enumerate(sorted(given.items())):
        parts = {to: shares[to][:, number] for to in sorted(taken)}
        yield from of_pool(lines.slice(part[0], len(part)), parts, taken)


def by_key(table: pa.Table) -> dict[str, np.ndarray]:
    """The rows of each key, in their order."""
    coded = table["key"].combine_chunks().dictionary_encode()
    codes = coded.indices.to_numpy()
    return {name: np.flatnonzero(codes == n) for n, name in enumerate(coded.dictionary.to_pylist())}


def sums_of(table: pa.Table, parts: dict[str, np.ndarray]) -> dict[str, int]:
    amounts = attos(table["amount"])
    return {name: int(amounts[part].sum()) for name, part in parts.items()}


def of_pool(lines: pa.Table, parts: dict[str, Whole], taken: dict[str, np.ndarray]) -> Iterator[tuple[pa.Table, Cells]]:
    """`parts[pool]` is what each posting of that pool takes of these lines."""
    amounts = attos(lines["amount"])
    total, gross = int(amounts.sum()), int(abs(amounts).sum())
    wanted = np.array([int(part.sum()) for part in parts.values()], dtype=object)
    outer = Filling(wanted, total, gross)
    inner = {
        pool: Filling(parts[pool], one, gross * abs(one) // abs(total) + 2 * len(lines) if total else gross)
        for pool, one in zip(parts, wanted.tolist(), strict=True)
    }
    width = sum(map(len, taken.values()))
    at_once = max(1, CELLS_AT_ONCE // max(1, width))
    for start in range(0, len(lines), at_once):
        block = lines.slice(start, at_once)
        rows = outer.rows(amounts[start : start + at_once])
        found = zeros(len(block), width)
        for column, pool in enumerate(parts):
            found[:, taken[pool]] = inner[pool].rows(rows[:, column])
        line, posting = np.nonzero(found)
        yield block, Cells(line, posting, found[line, posting])
