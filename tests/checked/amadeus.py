"""AmadeusITGroup/cloud-cost-allocation: the bills and keys of its cases, from ../shared, through our pools, to the amounts that its authors expect."""

import csv
from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError, InputError
from apportion.model.money import plain
from tests.checked import world
from tests.checked.amadeus_cases import CASES, Meant, Rows
from tests.checked.tally import Outcome
from tests.engine.golden_world import Row
from tests.sources import making

FOLDER = Path(__file__).parents[2] / ".." / "shared" / "data" / "outside" / "amadeus"
AMOUNTS = {"effective": "AmortizedCost", "list": "OnDemandCost"}
KEY = "ProviderCostAllocationKey"
NEAR = Decimal("1e-9")  # theirs are floats with some 15 digits, ours whole nanos
DAY = {"start": "2026-10-02 00:00", "end": "2026-10-03 00:00"}


def table(case: str, name: str) -> list[Row]:
    with (FOLDER / case / f"{case}_{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def total(rows: list[Row], numbers: Rows, column: str) -> Decimal:
    return sum((Decimal(rows[number - 1][column]) for number in numbers), Decimal(0))


def only(name: str) -> dict[str, Any]:
    return {"costs": {"ServiceName": name}}


def serving(serves: Mapping[str, Mapping[str, Rows]], keys: list[Row], column: str = KEY) -> dict[str, Any]:
    """Pools that pass their money on, by weights of the case."""
    return {
        name: only(name)
        | {"method": "step_down", "serves": {to: str(total(keys, numbers, column)) for to, numbers in whom.items()}}
        for name, whom in serves.items()
    }


def ends(names: Iterable[str]) -> dict[str, Any]:
    return {name: only(name) | {"method": "fixed", "shares": {name: 100}} for name in sorted(names)}


def facts(meant: Meant, bill: list[Row], keys: list[Row], basis: str) -> world.Facts:
    pools = serving(meant.serves, keys) | dict(meant.shared)
    pools |= ends({to for whom in meant.serves.values() for to in whom} - pools.keys())
    teams = sorted({*meant.ends, *meant.lines, *pools})
    owners = [{"when": {"ServiceName": "*"}, "team": "{ServiceName}"}]
    return world.Facts(world.policy("2026-10", teams, pools, owners=owners, basis=basis), bill=lines(meant, bill))


def lines(meant: Meant, bill: list[Row]) -> list[Row]:
    rows = [(name, bill[number - 1]) for name, numbers in meant.lines.items() for number in numbers]
    return [
        DAY | {"ServiceName": name, "amount": row["CostInBillingCurrency"], "ListCost": list_cost(row)}
        for name, row in rows
    ]


def list_cost(row: Row) -> str:
    """Quantity times unit price for what a commitment covered; nothing where nobody used it."""
    if row["PricingModel"] == "OnDemand":
        return row["CostInBillingCurrency"]
    return str(Decimal(row["Quantity"] or 0) * Decimal(row["UnitPrice"] or 0))


def compare(case: str, meant: Meant) -> Outcome:
    bill, keys, result = (table(case, name) for name in ("cloud_cost", "cost_allocation_keys", "allocated_cost"))
    near: list[bool] = []
    for basis in meant.bases:
        owed = world.by_team(world.plan_of(facts(meant, bill, keys, basis)))
        near += close(owed, {end: total(result, numbers, AMOUNTS[basis]) for end, numbers in meant.ends.items()})
    return Outcome(case, meant.about, len(near), sum(near), meant.why)


def close(owed: world.Amounts, expected: world.Amounts) -> list[bool]:
    return [abs(owed[name] - amount) <= NEAR for name, amount in expected.items()]


def refusal(pools: Mapping[str, Any]) -> str:
    """The code with which such a policy is refused."""
    bill = [DAY | {"ServiceName": "s", "tags": f"k={value}", "amount": "1"} for value in ("x", "y")]
    with pytest.raises(ApportionError) as caught:
        world.plan_of(world.Facts(world.policy("2026-10", ("a",), pools), bill=bill))
    return caught.value.code


def overlap() -> Outcome:
    one = {"method": "fixed", "shares": {"a": 100}}
    code = refusal({"first": one | {"costs": {"tag.k": "x"}}, "second": one | {"costs": {"tag.k": ["x", "y"]}}})
    why = f"two rules over one line are refused (`{code}`); the case shares by the weights of all rules, whichever fit"
    return Outcome("test4", "Selectors that overlap and leave something out.", final("test4"), why=why)


def signs() -> Outcome:
    whole = ends(("a",))
    codes = {refusal(whole | {"s": only("s") | {"method": "step_down", "serves": {"a": key}}}) for key in (-1, 0)}
    (code,) = codes
    why = (
        f"a weight below 0, and weights that are all 0, are refused where they stand in the policy (`{code}`); the case drops "
        "the one and takes the others for equal parts"
    )
    return Outcome("test10", "Keys of nothing, and keys below nothing.", final("test10"), why=why)


def final(case: str) -> int:
    """How many amounts the case ends with."""
    return sum(row["IsFinalConsumption"] == "Y" for row in table(case, "allocated_cost"))


def further() -> Outcome:
    """Its files hold the input and the result in one. Carbon has keys of its own; power comes in at the consumers."""
    result = table("test7", "further_allocated_cost")
    to = {"one": (1,), "product3": (4,)}
    pools = serving({"money": to}, result) | serving({"carbon": to}, result, "Co2Key")
    pools |= serving({"one": {"product1": (2,), "product2": (3,)}}, result)
    made = {"money": ("EUR", "AmortizedCost", 6), "carbon": ("gCO2e", "Co2", 6)}
    made |= {"one": ("kWh", "ElectricityPower", 1), "product3": ("kWh", "ElectricityPower", 4)}
    bill = [
        DAY
        | {"ServiceName": name, "BillingCurrency": unit, "InvoiceIssuerName": unit, "amount": result[row - 1][column]}
        for name, (unit, column, row) in made.items()
    ]
    products = ("product1", "product2", "product3")
    policy = world.policy("2026-10", products, pools | ends(products), currency="EUR")
    plan = world.plan_of(world.Facts(policy, bill=bill))
    near: list[bool] = []
    for unit, column in (("EUR", "AmortizedCost"), ("gCO2e", "Co2"), ("kWh", "ElectricityPower")):
        expected = {name: total(result, (row,), column) for name, row in zip(products, (2, 3, 5), strict=True)}
        near += close(world.by_team(plan, unit=unit), expected)
    why = "carbon and power are lines of the bill here, in gCO2e and kWh, and never columns beside a line's money"
    return Outcome("test7", "Carbon and power beside money, each by keys of its own.", len(near), sum(near), why)


def focus(tmp_path: Path) -> Outcome:
    """Its dates are no ISO 8601, which FOCUS asks for: they are written anew, and nothing else."""
    rows = table("test12", "cloud_cost")
    with pytest.raises(InputError) as caught:
        making.read_bill(tmp_path, making.csv_text(rows), "theirs.csv")
    (delivery,) = making.read_bill(tmp_path, making.csv_text(map(with_iso_dates, rows)), "dated.csv")
    owners = [
        {"when": {"tag.application": "*"}, "team": "{tag.application}"},
        {"when": {"ServiceName": "*"}, "team": "S0"},
    ]
    whole = {"all": {"costs": {"ServiceName": "*"}, "method": "direct"}}
    policy = world.policy("2024-09", ("BrightLensMatrix", "S0"), whole, owners=owners, currency="EUR")
    owed = world.by_team(world.plan_of(world.Facts(policy, lines=delivery.tables["cost_lines"])))
    result = table("test12", "allocated_cost")
    near = close(
        owed, {name: total(result, (row,), "AmortizedCost") for name, row in (("BrightLensMatrix", 2), ("S0", 4))}
    )
    why = (
        f"the case writes {result[3]['AmortizedCost']} where its own bill has {plain(owed['S0'])}; its dates such as "
        f"`{rows[0]['ChargePeriodStart']}` are refused (`{caught.value.code}`) and had to be written as FOCUS writes them"
    )
    return Outcome(
        "test12", "A bill in FOCUS, with a service and a product for what has no tag.", len(near), sum(near), why
    )


def with_iso_dates(row: Row) -> Row:
    dates = {
        name: datetime.strptime(f"{row[name]}Z", "%m/%d/%Y %H:%M%z")
        for name in row
        if name.endswith(("PeriodStart", "PeriodEnd"))
    }
    return row | {name: f"{date:%Y-%m-%dT%H:%M:%SZ}" for name, date in dates.items()}


def outcomes(tmp_path: Path) -> list[Outcome]:
    found = [compare(case, meant) for case, meant in CASES.items()]
    found += [overlap(), signs(), further(), focus(tmp_path)]
    return sorted(found, key=lambda one: int(one.case.removeprefix("test")))
