"""Postings as items of Datadog's custom costs, which are like FOCUS. Their cost is a binary number there, so money becomes one here and nowhere before."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import require_equal
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.kinds import summed
from apportion.model.money import GRAINS_PER_NANO, from_nanos, half_even, round_children, to_grains, total_of
from apportion.model.rows import RESIDUAL
from apportion.render.figures import legible
from apportion.reports.words import rounded

Item = Mapping[str, Any]
TAGS = ("team", "project", "department", "cost_centre", "pool", "component", "reason", "owner_kind")
KEYS = ("day", "currency", *TAGS)
LONGEST = 1000  # characters of any text
PROJECT, PERIOD = "apportion_project", "apportion_period"  # for people
KEY, PUSH, PART = (
    "apportion_key",
    "apportion_push",
    "apportion_part",
)  # by which files are known again: no letter of them is a capital


@dataclass(frozen=True, slots=True)
class Costs:
    """`totals` are what the items of each currency add up to: what is posted until `until`, in whole minor units. `ahead` is of days to come,
    which Datadog does not take.
    """

    items: tuple[Item, ...]
    totals: Mapping[str, Decimal]
    ahead: Mapping[str, Decimal]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(self.items, sort_keys=True).encode()).hexdigest()


def costs(rows: pa.Table, provider: str, until: date) -> Costs:
    """`rows` are those of `reports.flat`. Carbon and energy are no money, and stay here."""
    money = rows.filter(pc.is_in(rows["currency"], pa.array(MINOR_DIGITS, pa.string())))
    found = summed(money, KEYS, ["amount"]).sort_by([(name, "ascending") for name in KEYS])
    come = found.filter(pc.less_equal(found["day"], pa.scalar(until, pa.date32())))
    items: list[Item] = []
    totals = {}
    for currency in sorted(set(come["currency"].to_pylist())):
        own = come.filter(pc.equal(come["currency"], currency)).to_pylist()
        totals[currency] = rounded(total_of(row["amount"] for row in own), currency)
        made = items_of(own, provider, totals[currency])
        sent = total_of(Decimal(repr(item["BilledCost"])) for item in made)
        require_equal(f"the {currency} of all items", totals[currency], rounded(sent, currency))
        items += made
    later = found.filter(pc.greater(found["day"], pa.scalar(until, pa.date32()))).to_pylist()
    ahead = {
        unit: total_of(row["amount"] for row in later if row["currency"] == unit)
        for unit in sorted({row["currency"] for row in later})
    }
    return Costs(tuple(items), totals, ahead)


def items_of(rows: Sequence[Mapping[str, Any]], provider: str, total: Decimal) -> list[Item]:
    """In nanos, and one more item that makes them the whole minor units that people are shown."""
    exact = [to_grains(row["amount"]) for row in rows]
    nanos = half_even(sum(exact), GRAINS_PER_NANO)
    parts = round_children(nanos, exact, GRAINS_PER_NANO, [f"{n:09d}" for n in range(len(rows))])
    made = [item(row, provider, from_nanos(part)) for row, part in zip(rows, parts, strict=True) if part]
    rest = total_of([total, -from_nanos(nanos)])
    if rest:
        whole = {
            "day": rows[-1]["day"],
            "currency": rows[-1]["currency"],
            "team": RESIDUAL,
            "reason": "rounding",
            "owner_kind": "residual",
        }
        made.append(item(whole, provider, rest))
    return made


def item(row: Mapping[str, Any], provider: str, amount: Decimal) -> Item:
    """Without what is empty, which Datadog refuses. A charge is of one day, its first and its last."""
    day = row["day"].isoformat()
    return {
        "ProviderName": fitting(provider),
        "ChargePeriodStart": day,
        "ChargePeriodEnd": day,
        "ChargeDescription": fitting(" ".join(filter(None, (row.get("pool"), row["reason"])))),
        "BilledCost": float(amount),
        "BillingCurrency": row["currency"],
        "Tags": {name: fitting(row[name]) for name in TAGS if row.get(name)},
    }


def marked(part: Sequence[Item], marks: Mapping[str, str]) -> list[dict[str, Any]]:
    """With what tells later whose push and which part of it a file is."""
    return [{**one, "Tags": {**one["Tags"], **marks}} for one in part]


def fitting(words: str) -> str:
    return legible(words)[:LONGEST]
