"""Inventories for tests: written to a folder as YAML, and read back as the source's lines."""

import json
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.tco import read
from tests.tco.plainly import Key

ASSET: dict[str, Any] = {
    "id": "dgx-03",
    "node": "dgx-03",
    "price": "250000.00",
    "bought": "2025-03-15",
    "life_months": 48,
}


def deliver(base: Path, window: Interval | None = None, /, **settings: Any) -> list[Delivery]:
    return list(read({"name": "own", "kind": "tco", "path": "inventory.yaml", **settings}, base, window))


def put(base: Path, **inventory: Any) -> Path:
    """JSON is YAML; numbers stay the digits they are written with."""
    (base / "inventory.yaml").write_text(json.dumps({"currency": "EUR", **inventory}), "utf-8")
    return base


def lines(deliveries: list[Delivery]) -> list[dict[str, Any]]:
    return [row for delivery in deliveries for row in delivery.tables["cost_lines"].to_pylist()]


def by_key(deliveries: list[Delivery]) -> dict[Key, Decimal]:
    """Effective cost by month (of UTC), id, node and category."""
    found: dict[Key, Decimal] = defaultdict(Decimal)
    for delivery in deliveries:
        month = month_of(delivery.window.start_s // 86400)
        for row in delivery.tables["cost_lines"].to_pylist():
            found[month, row["SkuId"], row["ResourceId"] or "", row["ChargeCategory"]] += row["EffectiveCost"]
    return found


def month_of(days: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=days)).isoformat()[:7]
