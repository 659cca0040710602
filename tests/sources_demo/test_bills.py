"""Two bills whose totals are known to the last digit."""

from decimal import Decimal

import pyarrow.compute as pc

from apportion.model.delivery import Delivery
from apportion.sources.demo import Demo


def test_tables_carry_the_bills(demo: Demo, deliveries: list[Delivery]) -> None:
    assert [delivery.source for delivery in deliveries] == ["demo", "demo-cloud", "demo-datacentre"]
    for bill, delivery in zip(demo.bills, deliveries[1:], strict=True):
        lines = delivery.tables["cost_lines"]
        assert pc.sum(lines["EffectiveCost"]).as_py() == bill.total
        assert len(set(lines["line_id"].to_pylist())) == len(bill.lines)
        assert delivery.scopes[0].issuer == bill.issuer
        assert {row["Tags"] is not None for row in lines.to_pylist()} == {True}


def test_totals_add_up_from_their_parts(demo: Demo) -> None:
    cloud, own = demo.bills
    parts: dict[str, dict[str, Decimal]] = {bill.name: {} for bill in demo.bills}
    for bill in demo.bills:
        for line in bill.lines:
            parts[bill.name][line.service] = parts[bill.name].get(line.service, Decimal(0)) + line.effective
        assert sum(parts[bill.name].values()) == bill.total
    h100 = sum(node.group.name == "h100" for node in demo.month.nodes)
    l40s = sum(node.group.name == "l40s" for node in demo.month.nodes)
    committed = Decimal("52.73109589041096") * 744 * (h100 - 1) + Decimal("78.656") * 744
    unused, others = Decimal("1265.54630136986301") * 3, Decimal("-1581.93") + Decimal("-186.2440118437")
    assert parts["cloud"]["Example Compute"] == committed + unused + others + Decimal("214.7328") * 31 * l40s
    a100, cpu = (sum(node.group.name == name for node in demo.month.nodes) for name in ("a100", "cpu"))
    assert parts["datacentre"]["GPU servers"] == Decimal("7413.19") * a100
    assert parts["datacentre"]["CPU servers"] == Decimal("21.8634") * 31 * cpu
    assert cloud.total > own.total > 0


def test_every_kind_of_line(demo: Demo) -> None:
    cloud = demo.bills[0]
    rows = list(cloud.rows())
    kinds = [row["ChargeCategory"] for row in rows]
    assert {"Usage", "Purchase", "Tax", "Credit"} == set(kinds)
    assert [row["EffectiveCost"] for row in rows if row["ChargeCategory"] == "Credit"] == ["-1581.93"]
    assert sum(row.get("CommitmentDiscountStatus") == "Unused" for row in rows) == 3
    late = [row for row in rows if row.get("ChargeClass") == "Correction"]
    assert [row["ChargePeriodStart"] for row in late] == ["2026-09-29T00:00:00Z"]
    assert {row["BillingPeriodStart"] for row in rows} == {"2026-10-01T00:00:00Z"}
    assert {row["BillingPeriodStart"] for row in demo.bills[1].rows()} == {"2026-10-01T07:00:00Z"}
    assert {row["ServiceName"] for row in rows} > {
        "Example Support",
        "Simulation licence",
        "Example File Storage",
        "Example Network",
    }
    assert any('"team": "ml-platform"' in row.get("Tags", "") for row in rows)


def test_some_amounts_are_finer_than_a_nano_and_none_finer_than_the_books(demo: Demo) -> None:
    exponents = [
        int(line.effective.as_tuple().exponent) for bill in demo.bills for line in bill.lines if line.effective
    ]
    assert min(exponents) < -9
    assert min(exponents) >= -18
