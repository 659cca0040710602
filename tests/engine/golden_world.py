"""A golden folder as a world: few columns in the files, everything else usual. tests/engine/golden/README.md says what is usual."""

import csv
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.engine.plan import Plan, World
from apportion.model.meters import METERS, to_base
from apportion.model.money import plain
from apportion.model.rows import FOCUS_NUMBERS, FOCUS_TEXT, TABLES, set_of_labels
from apportion.model.times import Period, parse_instant
from apportion.policy.document import Policy
from apportion.policy.load import load_policy

GOLDEN = Path(__file__).parent / "golden"
CASES = sorted(path.name for path in GOLDEN.iterdir() if path.is_dir())
Row = dict[str, str]
EXPECTED = ("owner", "pool", "component", "day", "reason", "cause", "amount")


def rows_of(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def second(text: str) -> int:
    return parse_instant(text, ZoneInfo("UTC"))


def labels_of(text: str) -> list[tuple[str, str]]:
    pairs = (pair.partition("=") for pair in text.split())
    return [(key, value) for key, _, value in pairs]


def spans(row: Row) -> dict[str, object]:
    source = {"source": row.get("source") or "golden", "start_s": second(row["start"]), "end_s": second(row["end"])}
    return source | {name: row[name] for name in ("cluster",) if row.get(name)}


def base(row: Row, column: str) -> int | None:
    return to_base(row[column], METERS[row.get("meter") or "gpu"]) if row.get(column) else None


def cost_lines(rows: list[Row], period: Period, zone: ZoneInfo) -> Iterator[dict[str, object]]:
    month = period.interval(zone)
    for number, row in enumerate(rows, 1):
        usual: dict[str, object] = {
            "BillingCurrency": "USD",
            "InvoiceIssuerName": "Cloud",
            "BillingAccountId": "1",
            "ChargeCategory": "Usage",
            "ServiceName": "EC2",
        }
        given: dict[str, object] = {name: row[name] for name in (*FOCUS_TEXT, "line_type") if row.get(name)}
        given |= {name: Decimal(row[name]) for name in FOCUS_NUMBERS if row.get(name)}
        given |= {"EffectiveCost": Decimal(row["amount"])} if row["amount"] else {}
        yield (
            usual
            | given
            | {
                "source": "golden",
                "line_id": str(number),
                "charge_start_s": second(row["start"]),
                "charge_end_s": second(row["end"]),
                "billing_start_s": month.start_s,
                "billing_end_s": month.end_s,
                "component": row.get("component") or "compute",
                "Tags": labels_of(row.get("tags", "")),
                "problem": row.get("problem") or None,
            }
        )


def usage(rows: list[Row]) -> Iterator[dict[str, object]]:
    for row in rows:
        what = {
            "workload": row["workload"],
            "resource": row.get("resource") or "n1",
            "meter": row.get("meter") or "gpu",
        }
        own = {"label_set": set_of_labels(labels_of(row["labels"]))} if row.get("labels") else {}
        yield spans(row) | what | own | {"allocated": base(row, "allocated"), "used": base(row, "used")}


def capacity(rows: list[Row]) -> Iterator[dict[str, object]]:
    for row in rows:
        what = {"resource": row["resource"], "meter": row.get("meter") or "gpu", "amount": base(row, "amount")}
        yield spans(row) | what | {"state": row.get("state") or "up", "labels": labels_of(row.get("labels", ""))}


def reservations(rows: list[Row]) -> Iterator[dict[str, object]]:
    for row in rows:
        what = {"reservation": row["reservation"], "meter": row.get("meter") or "gpu", "amount": base(row, "amount")}
        yield spans(row) | what | {"labels": labels_of(row["labels"])}


def workloads(folder: Path) -> Iterator[dict[str, object]]:
    """Those of workloads.csv; without it, `vision-ann-1` is ann's of team vision."""
    used = sorted({row["workload"] for row in rows_of(folder / "usage.csv")})
    told = [{"workload": name, "labels": " ".join(named(name))} for name in used]
    for row in rows_of(folder / "workloads.csv") or told:
        name = row["workload"]
        what = {"workload": name, "run": name, "outcome": row.get("outcome") or "completed"}
        own = {"label_set": set_of_labels(labels_of(row["labels"]))} if row.get("own") else {}
        yield what | own | {"source": "golden", "start_s": 0, "end_s": 0, "labels": labels_of(row["labels"])}


def rates(rows: list[Row]) -> Iterator[dict[str, object]]:
    for row in rows:
        what = {"base": row["from"], "currency": row["to"], "rate": Decimal(row["rate"])}
        yield what | {"source": "golden", "day": date.fromisoformat(row["day"])}


def named(workload: str) -> list[str]:
    return [f"{key}={value}" for key, value in zip(("team", "user"), workload.split("-")[:-1], strict=False)]


def policy_of(folder: Path) -> Policy:
    return load_policy((folder / "policy.yaml").read_text(encoding="utf-8"), "policy.yaml")


def read_world(folder: Path) -> World:
    policy = policy_of(folder)
    period = Period(policy.effective.year, policy.effective.month)
    rows = {
        "cost_lines": cost_lines(rows_of(folder / "bill.csv"), period, ZoneInfo(policy.time_zone)),
        "usage": usage(rows_of(folder / "usage.csv")),
        "capacity": capacity(rows_of(folder / "capacity.csv")),
        "reservations": reservations(rows_of(folder / "reservations.csv")),
        "workloads": workloads(folder),
        "rates": rates(rows_of(folder / "rates.csv")),
    }
    tables = {name: pa.Table.from_pylist(list(found), schema=TABLES[name]) for name, found in rows.items()}
    previous = {row["team"]: Decimal(row["amount"]) for row in rows_of(folder / "previous.csv")}
    nodes = frozenset(row["node"] for row in rows_of(folder / "nodes.csv"))
    return World(period, policy, **tables, previous=previous, nodes=nodes)


def read_expected(folder: Path) -> list[Row]:
    return [row | {"amount": plain(Decimal(row["amount"]))} for row in rows_of(folder / "postings.csv")]


def found_postings(plan: Plan, columns: tuple[str, ...]) -> list[Row]:
    """A plan's postings as the golden files write them: `team/project/user` without what is empty at the end."""
    found = []
    for row in plan.postings.to_pylist():
        owner = f"{row['team']}/{row['project']}/{row['user']}".rstrip("/")
        texts = row | {"owner": owner, "day": row["day"].isoformat(), "amount": plain(row["amount"])}
        found.append({column: texts[column] for column in columns})
    return found
