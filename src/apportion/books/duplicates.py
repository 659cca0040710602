"""The same row twice in one delivery: once is enough. The same key with other content: neither is believed."""

import json
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.digest import query, row_text
from apportion.books.tables import KEEPING
from apportion.errors import Problem
from apportion.model.money import plain

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

    def problem(self, source: str) -> Problem:
        message = f"two rows of {self.table} have this key and other content; neither was taken"
        return Problem(where=source, code="conflicting-rows", message=message, row=self.key, money=self.money)


def key_of(name: str) -> str:
    return ", ".join(f'"{column}"' for column in KEEPING[name].key)


def key_hashes(name: str, rows: pa.Table) -> "np.ndarray":
    found: np.ndarray = query(HASHES.format(key=key_of(name)), rows)["h"].to_numpy()
    return found


def settle(name: str, rows: pa.Table) -> tuple[pa.Table, list[Conflict]]:
    """Hashes of the keys are compared first: with no two alike, as in most deliveries, there is nothing to look at closer."""
    hashes = np.sort(key_hashes(name, rows))
    if not (hashes[1:] == hashes[:-1]).any():
        return rows, []
    numbered = rows.append_column("#", pa.array(range(rows.num_rows), pa.int64()))
    groups = query(GROUPS.format(key=key_of(name), text=row_text(rows.schema)), numbered)
    kept = sorted(groups.filter(pc.equal(groups["variants"], 1))["first"].to_pylist())
    conflicts = []
    for members in groups.filter(pc.greater(groups["variants"], 1)).sort_by("first")["members"].to_pylist():
        conflicts += variants(name, rows.take(sorted(members)))
    return rows.take(pa.array(kept, pa.int64())), conflicts


def variants(name: str, rows: pa.Table) -> list[Conflict]:
    found: dict[str, Conflict] = {}
    for row in rows.to_pylist():
        content = json.dumps(row, sort_keys=True, default=str, ensure_ascii=False)
        key = json.dumps([row[column] for column in KEEPING[name].key], ensure_ascii=False)
        money = row.get("EffectiveCost", 0) if row.get("EffectiveCost") is not None else row.get("BilledCost")
        found[content] = Conflict(name, key, content, plain(Decimal(money or 0)))
    return list(found.values())
