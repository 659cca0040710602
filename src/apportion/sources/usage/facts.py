"""Usage rows of a log are facts: each counts, equal ones too. What may be one fact twice is told; by a `key` of the log's own it is known.

Nothing here depends on the order of rows, files or blocks.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.delivery import Withheld
from apportion.model.kinds import kinds
from apportion.model.meters import METERS
from apportion.model.month_parts import MonthParts
from apportion.model.rows import USAGE, held_amounts
from apportion.sources.usage.spans import by_month

KEY = "key"  # of the log's own, on its way to becoming a choice of rows
SAME = ("workload", "meter", "resource", "cluster", "start_s")  # and the amount that counts
KEPT = 1000  # rows that the quarantine shows; the finding counts all
LONG, SPAN, WIDE = pa.decimal128(19, 0), pa.decimal128(12, 0), pa.decimal128(38, 0)
FLOWS = pa.array(sorted(meter.name for meter in METERS.values() if meter.flow))


@dataclass(frozen=True, slots=True)
class Facts:
    """The rows that count, what is told of the others, and those of them that are shown."""

    rows: pa.Table
    problems: tuple[Problem, ...] = ()
    withheld: tuple[Withheld, ...] = ()


def tell_repeats(rows: pa.Table, where: str, months: MonthParts) -> Facts:
    """Rows of one workload, place, start and amount: all but the longest of each may be the same work, seen again.

    Between two looks at a running job its end moves, and so does what it used and what its labels say of its state.
    """
    same = kinds([*(rows[name] for name in SAME), held_amounts(rows)], len(rows))
    if len(same.first) == len(rows):
        return Facts(rows)
    order = np.lexsort((rows["end_s"].to_numpy(), same.of))
    whose = same.of[order]
    again = rows.take(pa.array(order[:-1][whose[1:] == whose[:-1]]))
    message = "workload, place, start and amount are those of another row that ends with it or later; all of them count"
    return Facts(rows, tuple(counted(again, where, "possible-repeats", message, months)))


def settle_keys(rows: pa.Table, names: Sequence[str], where: str, months: MonthParts) -> Facts:
    """By a key of the columns `names`. A row of which one is empty has no key: it is known by content and occurrence."""
    columns, lacking = find_keyless(rows[KEY], names)
    if not columns:
        return settle_keyed(rows, where, months)
    facts, bare = settle_keyed(rows.filter(pa.array(~lacking)), where, months), rows.filter(pa.array(lacking))
    message = f"the key's {listed(columns)} empty, so that nothing tells such rows apart; each of them counts"
    told = tuple(counted(bare, where, "empty-key", message, months))
    return Facts(pa.concat_tables([facts.rows, bare.drop_columns(KEY)]), (*facts.problems, *told), facts.withheld)


def find_keyless(keys: pa.ChunkedArray, names: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The columns of a key that are empty somewhere, and in which rows any of them is."""
    own = kinds([keys], len(keys))
    columns: set[int] = set()
    lacking = np.zeros(len(own.first), bool)
    for number, key in enumerate(keys.take(pa.array(own.first)).to_pylist()):
        empty = [place for place, cell in enumerate(json.loads(key)) if cell is None] if "null" in key else []
        columns.update(empty)
        lacking[number] = bool(empty)
    return [names[place] for place in sorted(columns)], lacking[own.of]


def listed(columns: Sequence[str]) -> str:
    return f"column {columns[0]} is" if len(columns) == 1 else f"columns {', '.join(columns)} are"


def settle_keyed(rows: pa.Table, where: str, months: MonthParts) -> Facts:
    """One key and one content is one fact. One key with several contents is no fact: none of its rows is taken."""
    own = kinds([rows[KEY], rows["meter"]], len(rows))
    if len(own.first) == len(rows):
        return Facts(rows.drop_columns(KEY))
    content = kinds((rows[name] for name in (KEY, *USAGE.names)), len(rows))
    variants = np.bincount(own.of[content.first], minlength=len(own.first))
    several = variants[own.of] > 1
    first = np.zeros(len(rows), bool)
    first[content.first] = True
    taken = rows.filter(pa.array(first & ~several)).drop_columns(KEY)
    doubtful, repeated = rows.filter(pa.array(several)), rows.filter(pa.array(~first & ~several))
    problems = [
        *counted(doubtful, where, "conflicting-rows", "the key is that of another row and the content is not; none of them is taken", months),
        *counted(repeated, where, "repeated-rows", "key and content are those of another row; each counts once", months),
    ]  # fmt: skip
    return Facts(taken, tuple(problems), tuple(shown(doubtful)))


def counted(rows: pa.Table, where: str, code: str, message: str, months: MonthParts) -> Iterator[Problem]:
    """One for each month and meter, with the number of rows and what they hold there. What lies outside the window is another delivery's."""
    for mark, part in by_month(rows, months):
        held = part.select(["meter"]).append_column("quantity", quantities(part))
        sums = held.group_by("meter").aggregate([("quantity", "sum"), ([], "count_all")]).sort_by("meter").to_pylist()
        for row in sums:
            count, quantity, meter = row["count_all"], int(row["quantity_sum"] or Decimal(0)), row["meter"]
            text = f"{count:,} {'row' if count == 1 else 'rows'} of {meter}: {message}"
            yield Problem(where, code, text, row=f"+{count}", quantity=str(quantity), meter=meter, at=mark)


def quantities(rows: pa.Table) -> pa.ChunkedArray:
    """Whole base units, of a level times its seconds."""
    seconds = pc.subtract(rows["end_s"], rows["start_s"])
    lasting = pc.if_else(pc.is_in(rows["meter"], value_set=FLOWS), pa.scalar(1, pa.int64()), seconds)
    amounts = held_amounts(rows).cast(LONG)
    return pc.cast(pc.multiply(amounts, lasting.cast(LONG).cast(SPAN)), WIDE)


def shown(doubtful: pa.Table) -> list[Withheld]:
    """The first by their text, whatever order they came in."""
    made = [
        Withheld(
            "usage",
            json.dumps([*json.loads(row.pop(KEY)), row["meter"]], ensure_ascii=False),
            json.dumps(row, sort_keys=True, ensure_ascii=False),
        )
        for row in doubtful.to_pylist()
    ]
    return sorted(made, key=lambda one: (one.key, one.content))[:KEPT]
