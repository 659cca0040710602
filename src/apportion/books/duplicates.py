"""The same row twice in one delivery: once is enough. The same key with other content: neither is believed.

Of capacity, equal rows may be parts of one node, such as a row for each GPU: that they count once is told.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.digest import query, row_text
from apportion.books.tables import KEEPING
from apportion.books.window import inside
from apportion.errors import Problem
from apportion.model.delivery import Delivery
from apportion.model.meters import METERS
from apportion.model.money import plain
from apportion.model.month_parts import MonthParts
from apportion.model.times import instant_text

HASHES = "SELECT hash({key}) AS h FROM rows"
GROUPS = (
    'SELECT min("#") AS first, count(DISTINCT text) AS variants, list("#") AS members '
    'FROM (SELECT {key}, "#", {text} AS text FROM rows) GROUP BY {key}'
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """One of the variants of a key, as JSON; kept in the quarantine and not in the table."""

    table: str
    key: str
    content: str
    money: str

    @property
    def held(self) -> dict[str, str]:
        """What the row held, and when: of usage alone, which somebody would be charged for."""
        row = json.loads(self.content)
        if self.table != "usage":
            return {}
        flows = row["meter"] in METERS and METERS[row["meter"]].flow
        amount = max(row["allocated"] or 0, row["used"] or 0) * (1 if flows else row["end_s"] - row["start_s"])
        return {"quantity": str(amount), "meter": row["meter"], "at": instant_text(row["start_s"])}

    def problem(self, source: str) -> Problem:
        message = f"two rows of {self.table} have this key and other content; neither was taken"
        return Problem(source, "conflicting-rows", message, self.key, self.money, **self.held)


def key_of(name: str) -> str:
    return ", ".join(f'"{column}"' for column in KEEPING[name].key)


def key_hashes(name: str, rows: pa.Table) -> "np.ndarray":
    found: np.ndarray = query(HASHES.format(key=key_of(name)), rows)["h"].to_numpy()
    return found


class Settled(NamedTuple):
    """The rows that count, those of which none is believed, and equal rows beyond the first of each."""

    rows: pa.Table
    conflicts: list[Conflict]
    repeats: pa.Table


def settle(name: str, rows: pa.Table) -> Settled:
    """Hashes of the keys are compared first: with no two alike, as in most deliveries, there is nothing to look at closer."""
    hashes = np.sort(key_hashes(name, rows))
    if not (hashes[1:] == hashes[:-1]).any():
        return Settled(rows, [], rows[:0])
    numbered = rows.append_column("#", pa.array(range(rows.num_rows), pa.int64()))
    groups = query(GROUPS.format(key=key_of(name), text=row_text(rows.schema)), numbered)
    equal = groups.filter(pc.equal(groups["variants"], 1))
    kept = sorted(equal["first"].to_pylist())
    again = sorted({*pc.list_flatten(equal["members"]).to_pylist()} - {*kept})
    conflicts = []
    for members in groups.filter(pc.greater(groups["variants"], 1)).sort_by("first")["members"].to_pylist():
        conflicts += variants(name, rows.take(sorted(members)))
    return Settled(rows.take(pa.array(kept, pa.int64())), conflicts, rows.take(pa.array(again, pa.int64())))


def tell_capacity(repeats: pa.Table, delivery: Delivery) -> Iterator[Problem]:
    """Capacity that counts once though rows state it again: one problem for each month and meter, with the unit-seconds that do not count."""
    for mark, part in MonthParts.of(delivery.window, delivery.zone).marked():
        yield from tell_meters(inside("capacity", repeats, part), delivery.source, mark)


def tell_meters(repeats: pa.Table, source: str, mark: str) -> Iterator[Problem]:
    found: dict[str, list[tuple[str, int]]] = {}
    for row in repeats.to_pylist():
        seconds = 1 if METERS[row["meter"]].flow else row["end_s"] - row["start_s"]
        found.setdefault(row["meter"], []).append((row["resource"], row["amount"] * seconds))
    for meter, told in sorted(found.items()):
        quantity = sum(amount for _, amount in told)
        text = f"{len(told):,} of the rows that state {meter} are equal to another row of their resource, such as {min(told)[0]}, and do not count"
        if quantity:
            yield Problem(
                source, "repeated-capacity", text, f"+{len(told)}", quantity=str(quantity), meter=meter, at=mark
            )


def variants(name: str, rows: pa.Table) -> list[Conflict]:
    found: dict[str, Conflict] = {}
    for row in rows.to_pylist():
        content = json.dumps(row, sort_keys=True, default=str, ensure_ascii=False)
        key = json.dumps([row[column] for column in KEEPING[name].key], ensure_ascii=False)
        money = row.get("EffectiveCost", 0) if row.get("EffectiveCost") is not None else row.get("BilledCost")
        found[content] = Conflict(name, key, content, plain(Decimal(money or 0)))
    return list(found.values())
