"""Bills that lie beside a development checkout, read a second time by plain means; and projects made of them."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.sources import making

BILLS = Path(__file__).parents[2] / ".." / "shared" / "data" / "bills"
COSTS = ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost")
Row = dict[str, str | None]
TOOLKIT, SPEC = "focus_toolkit_synthetic", "focus_spec_v1.2_examples"
OTHERS = {  # what an example of the specification leaves out; its money stays as it is
    "BillingCurrency": "USD", "ServiceName": "Virtual Machines",
    "ServiceCategory": "Compute", "ProviderName": "Example",
}  # fmt: skip
MONTH = {
    f"{kind}Period{end}": f"2025-0{4 if end == 'Start' else 5}-01T00:00:00Z"
    for kind in ("Billing", "Charge")
    for end in ("Start", "End")
}
POLICY = """\
policy: samples
effective: 2020-01-01
currency: USD
time_zone: UTC
basis: {basis}
teams: {{finance: {{}}, research: {{}}}}
owners: []
pools:
  rest: {{costs: otherwise, method: fixed, shares: {{finance: 60, research: 40}}}}
"""


def needed() -> Path:
    if not BILLS.exists():
        pytest.skip("no ../shared/data/bills beside this checkout")
    return BILLS


def rows_of(path: Path) -> list[Row]:
    if path.suffix == ".parquet":
        return [
            {key: None if value is None else str(value) for key, value in row.items()}
            for row in pq.read_table(path).to_pylist()
        ]
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [
            {key: None if value in ("", "NULL", "null") else value for key, value in row.items()}
            for row in csv.DictReader(file)
        ]


def total(rows: Iterable[Mapping[str, str | None]], cost: str) -> Decimal:
    return sum((Decimal(row[cost] or 0) for row in rows if row.get(cost)), Decimal(0))


def completed(rows: list[Row], name: str) -> list[Row]:
    """An example of the specification as a whole bill of one month: with the columns that it leaves out, and money without decoration."""
    own = {"BillingAccountId": name, "InvoiceIssuerName": "Example", **MONTH}
    return [{**OTHERS, **{key: bare(key, value) for key, value in row.items() if value}, **own} for row in rows]


def bare(key: str, value: str) -> str:
    """The examples write $10,000.00."""
    return value.strip().replace("$", "").replace(",", "") if key.endswith(("Cost", "Price", "Quantity")) else value


def write_project(base: Path, bills: Mapping[str, Path | list[Row]]) -> Path:
    """One source for each bill."""
    stanzas = ['[project]\nname = "samples"\n']
    for name, bill in bills.items():
        ending = bill.suffix if isinstance(bill, Path) else ".csv"
        data = bill.read_bytes() if isinstance(bill, Path) else making.csv_text(bill).encode()
        making.put(base / "bills" / f"{name}{ending}", data)
        stanzas.append(f'[[sources]]\nname = "{name}"\nkind = "focus"\npath = "bills/{name}{ending}"\n')
    making.put(base / "apportion.toml", "\n".join(stanzas))
    making.put(base / "policy.yaml", POLICY.format(basis="effective"))
    return base


def bills_of(rows: Iterable[Mapping[str, str | None]], cost: str) -> dict[tuple[str, str], Decimal]:
    """What each bill asks for: by month and name of the bill, from the rows' own text."""
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in rows:
        month = str(row["BillingPeriodStart"])[:7]
        counted = row[cost] if row.get(cost) is not None else row["EffectiveCost"] or row["BilledCost"]
        sums[month, f"{row['InvoiceIssuerName']} {month} {row['BillingCurrency']}"] += Decimal(counted or 0)
    return {bill: amount for bill, amount in sums.items() if amount}
