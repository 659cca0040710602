"""Worked figures: what an accountant would write, and the sentences that say so."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from apportion.model.times import Interval, parse_period, zone_named
from tests.tco import making
from tests.tco.making import ASSET

UTC = zone_named("UTC")


def window(month: str) -> Interval:
    return parse_period(month).interval(UTC)


def month(base: Path, which: str, **settings: Any) -> list[dict[str, Any]]:
    return making.lines(making.deliver(base, window(which), since="2020-01", until="2040-12", **settings))


def nanos(amount: Fraction) -> Decimal:
    return Decimal(round(amount * 10**9)).scaleb(-9)


def test_a_line_says_how_it_was_computed(tmp_path: Path) -> None:
    base = making.put(
        tmp_path,
        inventory="machine-room",
        assets=[{**ASSET, "salvage": "25000", "team": "vision", "tags": {"rack": "r7"}}],
    )
    (row,) = month(base, "2026-10")
    assert row["ChargeDescription"] == (
        "Amortisation of dgx-03, straight line: (250000.00 \N{MINUS SIGN} 25000.00) over 1461 days from 2025-03-15; 31 days of 2026-10 = 4774.127310062"
    )
    assert (
        row["EffectiveCost"] == row["ListCost"] == row["ContractedCost"] == row["NetCost"] == Decimal("4774.127310062")
    )
    assert row["BilledCost"] == 0
    assert dict(row["Tags"]) == {"team": "vision", "rack": "r7"}
    wanted = {
        "ServiceName": "Amortisation", "ServiceCategory": "Compute", "component": "compute", "ResourceId": "dgx-03", "ChargeCategory": "Usage",
        "BillingAccountId": "machine-room", "InvoiceIssuerName": "Own hardware", "BillingCurrency": "EUR", "ConsumedUnit": "Days", "SkuId": "dgx-03",
    }  # fmt: skip
    assert {key: row[key] for key in wanted} == wanted
    assert row["ConsumedQuantity"] == 31


def test_bought_in_the_middle_of_a_month(tmp_path: Path) -> None:
    base = making.put(tmp_path, assets=[ASSET])
    (row,) = month(base, "2025-03")
    assert row["EffectiveCost"] == nanos(Fraction(250000 * 17, 1461))
    assert row["BilledCost"] == 250000
    assert (row["charge_start_s"], row["charge_end_s"]) == (
        window("2025-03").start_s + 14 * 86400,
        window("2025-03").end_s,
    )
    assert (row["billing_start_s"], row["billing_end_s"]) == (window("2025-03").start_s, window("2025-03").end_s)
    assert month(base, "2025-02") == []
    (last,) = month(base, "2029-03")
    assert last["ConsumedQuantity"] == 14
    assert month(base, "2029-04") == []


def test_paid_before_it_serves(tmp_path: Path) -> None:
    base = making.put(tmp_path, assets=[{**ASSET, "in_service": "2025-05-01"}])
    (paid,) = month(base, "2025-03")
    assert (paid["ChargeCategory"], paid["BilledCost"], paid["EffectiveCost"]) == ("Purchase", 250000, 0)
    assert paid["ChargeDescription"] == "dgx-03, 250000.00 paid on 2025-03-15 = 0.000000000"
    assert month(base, "2025-04") == []
    (used,) = month(base, "2025-05")
    assert used["EffectiveCost"] == nanos(Fraction(250000 * 31, 1461))


def test_double_declining_with_and_without_the_switch(tmp_path: Path) -> None:
    """100,000 over five years at 40 %: 40,000, 24,000, 14,400, then what is left evenly; without the switch, 8,640 and the rest."""
    asset = {
        **ASSET,
        "price": "100000",
        "bought": "2025-01-01",
        "life_months": 60,
        "method": "declining",
        "rate": "double",
    }

    def years(**more: str) -> list[Decimal]:
        base = making.put(tmp_path, assets=[{**asset, **more}])
        rows = making.lines(making.deliver(base, since="2025-01", until="2029-12"))
        return [sum(row["EffectiveCost"] for row in rows[12 * year : 12 * year + 12]) for year in range(5)]

    fourth = nanos(Fraction(21600 * 366, 366 + 365))  # 2028 has a day more
    assert years() == [40000, 24000, 14400, fourth, 21600 - fourth]
    assert years(switch="false") == [40000, 24000, 14400, 8640, 12960]
    assert years(salvage="30000") == [40000, 24000, 6000, 0, 0]


def test_declining_stops_at_the_salvage(tmp_path: Path) -> None:
    asset = {
        **ASSET,
        "price": "1000",
        "bought": "2025-01-01",
        "life_months": 48,
        "method": "declining",
        "rate": "50",
        "salvage": "300",
        "switch": "false",
    }
    rows = making.lines(making.deliver(making.put(tmp_path, assets=[asset]), since="2025-01", until="2028-12"))
    assert [sum(row["EffectiveCost"] for row in rows[first : first + 12]) for first in (0, 12)] == [500, 200]
    assert len(rows) == 24


def test_sold_in_the_middle_of_a_month(tmp_path: Path) -> None:
    asset = {
        **ASSET,
        "price": "1461",
        "bought": "2025-01-01",
        "salvage": "0",
        "disposed": "2026-01-11",
        "proceeds": "1000.50",
    }
    rows = month(making.put(tmp_path, assets=[asset]), "2026-01")
    assert [(row["ChargeCategory"], row["EffectiveCost"], row["BilledCost"]) for row in rows] == [
        ("Usage", 10, 0),
        ("Adjustment", Decimal("85.5"), Decimal("-1000.5")),
    ]
    assert (
        rows[1]["ChargeDescription"]
        == "dgx-03, disposed on 2026-01-11: value 1086.00 \N{MINUS SIGN} proceeds 1000.50 = 85.500000000"
    )
    assert month(tmp_path, "2026-02") == []


def test_an_upgrade_writes_off_what_it_replaces(tmp_path: Path) -> None:
    """1,461 over 1,461 days: after 100 days 1,361 are left. A fifth of it is replaced (272.20), 730 more are paid, the life ends a year later."""
    upgrade = {"on": "2025-04-11", "price": "730.00", "replaces": "20%", "extends_months": 12}
    base = making.put(tmp_path, assets=[{**ASSET, "price": "1461", "bought": "2025-01-01", "upgrades": [upgrade]}])
    used, lost = month(base, "2025-04")
    left = Fraction(1361) * 4 / 5 + 730
    assert used["EffectiveCost"] == nanos(10 + left * 20 / (1461 + 365 - 100))
    assert (used["BilledCost"], lost["BilledCost"]) == (730, 0)
    assert (lost["ChargeCategory"], lost["EffectiveCost"]) == ("Adjustment", Decimal("272.2"))
    whole = making.lines(making.deliver(base, since="2025-01", until="2029-12"))
    assert sum(row["EffectiveCost"] for row in whole) == 1461 + 730


def test_a_part_that_moves_counts_on_both_nodes_to_the_day(tmp_path: Path) -> None:
    gpu = {
        "id": "gpu-7",
        "kind": "gpu",
        "node": "a",
        "price": "1461",
        "bought": "2025-01-01",
        "life_months": 48,
        "moves": [{"on": "2025-03-11", "node": "b"}],
    }
    software = {"id": "suite", "price": "365", "per": "gpu", "from": "2025-01-01"}
    rows = month(making.put(tmp_path, assets=[gpu], software=[software]), "2025-03")
    assert [(row["SkuId"], row["ResourceId"], row["EffectiveCost"]) for row in rows] == [
        ("gpu-7", "a", 10),
        ("gpu-7", "b", 21),
        ("suite", "a", 10),
        ("suite", "b", 21),
    ]
    assert [row["ConsumedUnit"] for row in rows] == ["Days", "Days", "GPU-Days", "GPU-Days"]


def test_a_switch_is_shared_by_who_is_there(tmp_path: Path) -> None:
    node = {"price": "1", "life_months": 12}
    switch = {
        "id": "sw",
        "kind": "switch",
        "shared_by": {"a": 2, "*": 1},
        "price": "1461",
        "bought": "2025-01-01",
        "life_months": 48,
    }
    nodes = [
        {**node, "id": "a", "node": "a", "bought": "2024-01-01"},
        {**node, "id": "b", "node": "b", "bought": "2025-01-22"},
    ]
    rows = [row for row in month(making.put(tmp_path, assets=[*nodes, switch]), "2025-01") if row["SkuId"] == "sw"]
    assert sum(row["EffectiveCost"] for row in rows) == 31
    assert [row["EffectiveCost"] for row in rows] == [
        nanos(21 + Fraction(20, 3)),
        Decimal(31) - nanos(21 + Fraction(20, 3)),
    ]
    assert "21 days of 2025-01 and 10 days of 2025-01, 2 of 3 shares" in rows[0]["ChargeDescription"]
    assert {row["component"] for row in rows} == {"network"}


def test_contracts_to_the_day(tmp_path: Path) -> None:
    base = making.put(
        tmp_path,
        leases=[
            {
                "id": "l",
                "node": "n",
                "count": 2,
                "price": "1550",
                "from": "2026-10-11",
                "until": "2027-01-10",
                "deposit": "500",
            }
        ],
        maintenance=[
            {"id": "m", "shared_by": ["n", "o"], "price": "36500", "from": "2026-10-01", "until": "2027-09-30"}
        ],
        staff=[{"id": "s", "fte": "1.5", "annual_cost": "96000", "share": "25", "from": "2026-10-17"}],
        software=[{"id": "w", "price": "9200", "every": "quarter", "from": "2026-10-01"}],
        other=[{"id": "o", "service": "Colocation", "price": "310", "from": "2026-01-01", "component": "energy"}],
    )
    rows = {(row["SkuId"], row["ResourceId"]): row for row in month(base, "2026-10")}
    effective = {key: row["EffectiveCost"] for key, row in rows.items()}
    assert effective == {
        ("l", "n"): 2100,
        ("m", "n"): 1550,
        ("m", "o"): 1550,
        ("s", None): nanos(Fraction(3000 * 15, 31)),
        ("w", None): 3100,
        ("o", None): 310,
    }
    billed = {key: row["BilledCost"] for key, row in rows.items()}
    assert billed == {
        ("l", "n"): 3100,
        ("m", "n"): 18250,
        ("m", "o"): 18250,
        ("s", None): effective["s", None],
        ("w", None): 9200,
        ("o", None): 310,
    }
    assert rows["s", None]["ChargeDescription"].startswith(
        "Staff s: 1.5 FTE \N{MULTIPLICATION SIGN} 96000.00 a year \N{MULTIPLICATION SIGN} 25 % / 12 = 3000.00 over 31 days"
    )
    assert rows["o", None]["ServiceName"] == "Colocation"
    (last,) = [row for row in month(base, "2027-01") if row["SkuId"] == "l"]
    assert (last["EffectiveCost"], last["BilledCost"]) == (1000, 0)  # 10 of 31 days; the deposit comes back


def test_months_in_any_order_and_alone_are_the_same(tmp_path: Path) -> None:
    switch = {"id": "sw", "shared_by": "*", "price": "9999.99", "bought": "2025-02-03", "life_months": 37}
    base = making.put(
        tmp_path, assets=[ASSET, switch], staff=[{"id": "s", "annual_cost": "70001", "from": "2025-01-09"}]
    )
    together = {one.window: one.tables["cost_lines"] for one in making.deliver(base, since="2025-01", until="2025-12")}
    assert len(together) == 12
    for name in ("2025-07", "2025-01", "2025-12", "2025-03"):
        (alone,) = making.deliver(base, window(name))
        assert alone.tables["cost_lines"].equals(together[alone.window])


@pytest.mark.parametrize(("zone", "offset_h"), [("UTC", 0), ("Europe/Berlin", -1)])
def test_days_are_those_of_the_time_zone(tmp_path: Path, zone: str, offset_h: int) -> None:
    (one,) = making.deliver(making.put(tmp_path, assets=[ASSET]), since="2026-01", until="2026-01", time_zone=zone)
    assert one.window.start_s == window("2026-01").start_s + offset_h * 3600
    assert one.scopes[0].billing == (one.window,)
    assert one.scopes[0].accounts == ("own",)
