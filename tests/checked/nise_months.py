"""A month from nise, koku's maker of bills, for each of four providers, against what its own files add up to. nise/*.yml say what it makes.

Names and ids are drawn anew each time; amounts, rows and kinds of rows are not.
"""

import ast
import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from apportion.model.meters import GPU
from tests import processes
from tests.checked import world
from tests.checked.tally import Outcome
from tests.engine.golden_world import Row
from tests.servers import peer_here
from tests.sources import making

STORIES = Path(__file__).parent / "nise"
WHOLE = {"all": {"costs": {"BillingCurrency": "*"}, "method": "fixed", "shares": {"all": 100}}}
Told = tuple[str, Decimal, Decimal]  # the kind of a row, and what is billed and what it costs in effect
Sums = dict[str, tuple[int, Decimal, Decimal]]


def of_aws(row: Row) -> Iterator[Told]:
    """By koku's rule usage costs what is billed, and everything else what a savings plan says."""
    kind, billed = row["lineItem/LineItemType"], Decimal(row["lineItem/UnblendedCost"] or 0)
    covered = Decimal(row["savingsPlan/SavingsPlanEffectiveCost"] or 0)
    yield kind, billed, billed if kind in ("Usage", "Tax") else covered


def of_azure(row: Row) -> Iterator[Told]:
    yield row["MeterCategory"], Decimal(row["CostInBillingCurrency"]), Decimal(row["CostInBillingCurrency"])


def of_google(row: Row) -> Iterator[Told]:
    yield row["service.description"], Decimal(row["cost"]), Decimal(row["cost"])
    for credit in ast.literal_eval(row["credits"]):
        amount = Decimal(str(credit["amount"]))
        yield credit["type"], amount, amount


def of_line(kind: str, line: dict[str, Any]) -> Told:
    """AWS tells kinds of lines; the others services, and credits beside them."""
    name = line["line_type"] if kind == "aws" or line["ChargeCategory"] == "Credit" else line["ServiceName"]
    return name, line["BilledCost"], line["EffectiveCost"]


@dataclass(frozen=True)
class Provider:
    name: str  # as nise calls it
    kind: str  # of our source
    told: Callable[[Row], Iterable[Told]]


PROVIDERS = (Provider("aws", "aws", of_aws), Provider("azure", "azure", of_azure), Provider("gcp", "google", of_google))
WHY = {
    "DiscountedUsage": (
        "nise writes `convertible` where the list cost of reserved instances belongs, for which a file is refused (`invalid-number`): "
        "these cells were emptied"
    ),
    "SavingsPlanRecurringFee": (
        "nise leaves out how much of the commitment was used; such a fee counts as unused, and is told (`not-amortised`), "
        "where koku takes it for nothing"
    ),
}
WORDS = ("pricing/publicOnDemandCost", "pricing/publicOnDemandRate")


def generate(name: str, folder: Path) -> Path:
    """nise leaves its files in the folder that it runs in."""
    made = folder / name
    made.mkdir()
    command = [str(peer_here("nise") / "bin/nise"), "report", name, "-s", "2026-10-01", "-e", "2026-10-31", "-w"]
    more = ["--ocp-cluster-id", "one"] if name == "ocp" else []
    processes.run([*command, "--static-report-file", str(STORIES / f"{name}.yml"), *more], cwd=made, check=True)
    return made


def rows_of(folder: Path, pattern: str = "*.csv") -> list[Row]:
    rows: list[Row] = []
    for path in sorted(folder.glob(pattern)):
        with path.open(encoding="utf-8", newline="") as file:
            rows += csv.DictReader(file)
    return rows


def added(told: Iterable[Told]) -> Sums:
    sums: Sums = defaultdict(lambda: (0, Decimal(0), Decimal(0)))
    for kind, billed, effective in told:
        count, before, so_far = sums[kind]
        sums[kind] = (count + 1, before + billed, so_far + effective)
    return dict(sums)


def compare(provider: Provider, folder: Path) -> Iterator[Outcome]:
    rows = rows_of(generate(provider.name, folder))
    expected = added(one for row in rows for one in provider.told(row))
    for row in rows:
        row.update({name: "" for name in WORDS if row.get(name) in ("convertible", "No Upfront")})
    making.put(folder / "bill.csv", making.csv_text(rows))
    (delivery,) = making.read(provider.kind, folder, path="bill.csv")
    lines = delivery.tables["cost_lines"]
    found = added(of_line(provider.kind, line) for line in lines.to_pylist())
    for kind, sums in expected.items():
        equal = sum(own == theirs for own, theirs in zip(found.get(kind, ()), sums, strict=False))
        yield Outcome(
            f"{provider.name}, {kind}", "Rows, money billed, money in effect.", len(sums), equal, WHY.get(kind, "")
        )
    owed = world.by_team(
        world.plan_of(world.Facts(world.policy("2026-10", ("all",), WHOLE, basis="billed"), lines=lines))
    )
    billed = sum((billed for _, billed, _ in expected.values()), Decimal(0))
    about = "What a policy that shares all of it posts, at what was billed."
    yield Outcome(f"{provider.name}, posted", about, 1, int(sum(owed.values()) == billed))


def openshift(folder: Path) -> Iterator[Outcome]:
    """A row for each GPU of a pod and hour says how long the pod had it; that it is one GPU is written beside it."""
    made = generate("ocp", folder)
    rows = [row | {"gpus": "1"} for row in rows_of(made, "*ocp_gpu_usage.csv")]
    stanza: dict[str, Any] = {
        "columns": {"workload": "pod", "resource": "node", "start": "interval_start", "duration": "gpu_pod_uptime"},
        "meters": {"gpu": "gpus"},
        "labels": {"team": "namespace"},
        "time": "%Y-%m-%d %H:%M:%S %z UTC",
        "key": ["interval_start", "gpu_uuid"],
    }
    usage = making.read_log(folder, making.csv_text(rows), **stanza).tables["usage"].to_pylist()
    found: dict[str, int] = defaultdict(int)
    for row in usage:
        found[row["workload"]] += row["allocated"] * (row["end_s"] - row["start_s"])
    expected: dict[str, int] = defaultdict(int)
    for row in rows:
        expected[row["pod"]] += int(row["gpu_pod_uptime"])
    equal = sum(found[pod] == seconds * GPU for pod, seconds in expected.items())
    yield Outcome(
        "ocp, GPUs",
        "GPU-seconds of each pod.",
        len(expected),
        equal,
        "the log has no column with the number of GPUs: one was added",
    )
    pods = rows_of(made, "*ocp_pod_usage.csv")
    sums = {(row["namespace"], what) for row in pods for what in ("cpu", "memory")}
    why = (
        "not a feature: a log says how much was held from when to when, and no core-seconds or byte-seconds of an hour; "
        "pods are read from Kubernetes or Prometheus"
    )
    yield Outcome(
        "ocp, cores and memory", "Core-seconds and byte-seconds that each namespace requested.", len(sums), 0, why
    )


def outcomes(folder: Path) -> list[Outcome]:
    return [*(one for provider in PROVIDERS for one in compare(provider, folder)), *openshift(folder)]
