"""The same month as files that a person can open, edit and ingest again: bills in FOCUS 1.2, the schedulers' accounting as plain CSV."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from importlib.resources import files as packaged
from pathlib import Path

from apportion.model.meters import GPU
from apportion.model.times import instant_text
from apportion.sources.demo import MONTH, SCALE, SEED, Demo, make_demo
from apportion.sources.demo.fleet import Node
from apportion.sources.demo.flows import GIB, Flow
from apportion.sources.demo.month import Held
from apportion.sources.demo.tables import capacity_rows, metered_from, reservation_rows

Row = Mapping[str, str]
FOCUS_COLUMNS = (
    "ProviderName", "PublisherName", "InvoiceIssuerName", "InvoiceId", "BillingAccountId", "BillingAccountName", "SubAccountId", "SubAccountName",
    "BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd", "ChargeCategory", "ChargeClass", "ChargeDescription",
    "ChargeFrequency", "BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "ListUnitPrice", "ContractedUnitPrice", "PricingCategory",
    "PricingQuantity", "PricingUnit", "BillingCurrency", "ConsumedQuantity", "ConsumedUnit", "ServiceName", "ServiceCategory", "ServiceSubcategory",
    "SkuId", "ResourceId", "ResourceName", "ResourceType", "RegionId", "RegionName", "CommitmentDiscountId", "CommitmentDiscountCategory",
    "CommitmentDiscountType", "CommitmentDiscountStatus", "Tags",
)  # fmt: skip
AMOUNTS = ("gpus", "gpus_used", "cores", "cores_used", "memory_gib")
SLURM_LABELS = {"slurm.account": "account", "slurm.wckey": "wckey", "slurm.user": "user", "slurm.cluster": "cluster", "slurm.partition": "partition",
                "slurm.qos": "qos", "slurm.comment": "comment"}  # fmt: skip
POD_LABELS = {
    "k8s.cluster": "cluster", "k8s.namespace": "namespace", "k8s.label.user": "user", "k8s.label.project": "project",
    "k8s.label.trainer.kubeflow.org/trainjob-ancestor-step": "step", "k8s.label.trainer.kubeflow.org/framework": "framework",
    "k8s.label.serving.kserve.io/inferenceservice": "service", "k8s.resource": "resource", "gpu.board": "board",
}  # fmt: skip
POD_STATUS = {"completed": "Succeeded", "failed": "Error", "cancelled": "Deleted", "out_of_memory": "OOMKilled", "preempted": "Evicted",
              "node_fail": "NodeLost", "running": "Running"}  # fmt: skip
NODE_LABELS = {
    "cluster": "cluster",
    "node-group": "node_group",
    "site": "site",
    "gpu.model": "gpu_model",
    "gpu.sharing": "gpu_sharing",
}


def write(folder: Path, *, seed: int = SEED, scale: Fraction | str = SCALE, month: str = MONTH) -> list[Path]:
    """Everything a project needs, in `folder`. What lies there under the same names is replaced; the paths are returned in order."""
    demo = make_demo(seed=seed, scale=scale, month=month)
    written = [sheet(folder / f"bills/{bill.name}.csv", FOCUS_COLUMNS, bill.rows()) for bill in demo.bills]
    written += [
        sheet(folder / f"usage/{name}.csv", columns, rows) for name, (columns, rows) in usage_sheets(demo).items()
    ]
    for name in ("policy.yaml", "apportion.toml"):
        text = (packaged("apportion.sources.demo") / name).read_text("utf-8")
        (folder / name).write_text(text, "utf-8", newline="\n")
        written.append(folder / name)
    return written


def usage_sheets(demo: Demo) -> dict[str, tuple[tuple[str, ...], Iterator[Row]]]:
    month = demo.month
    slurm = ("job", "run", "name", *SLURM_LABELS.values(), "state", "submit", "start", "end", "node", *AMOUNTS)
    pods = ("pod", "run", "name", *POD_LABELS.values(), "status", "created", "start", "end", "node", *AMOUNTS)
    flow = ("name", "team", "project", "state", "start", "end", "bytes")
    return {
        "slurm_jobs": (slurm, (slurm_row(held) for held in month.held if not held.work.kubernetes)),
        "k8s_pods": (pods, (pod_row(held) for held in month.held if held.work.kubernetes)),
        "energy": (
            ("workload", "node", "start", "end", "joules"),
            (energy_row(held, metered_from(held, month)) for held in month.held),
        ),
        "storage": (
            ("volume", "file_system", *flow),
            (flow_row(found, "volume", "file_system") for found in demo.flows["storage"]),
        ),
        "network": (
            ("sender", "gateway", *flow),
            (flow_row(found, "sender", "gateway") for found in demo.flows["network"]),
        ),
        "capacity": (("node", "meter", "start", "end", "amount", "state", *NODE_LABELS.values()), capacity_sheet(demo)),
        "reservations": (
            ("reservation", "meter", "start", "end", "amount", "account", "wckey", "partition", "node"),
            reservation_sheet(demo),
        ),
    }


def sheet(path: Path, columns: tuple[str, ...], rows: Iterable[Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([row.get(column, "") for column in columns] for row in rows)
    return path


def slurm_row(held: Held) -> Row:
    labels = {column: held.work.labels.get(key, "") for key, column in SLURM_LABELS.items()}
    return shared_row(held, "job", "submit") | labels | {"state": held.work.outcome.upper()}


def pod_row(held: Held) -> Row:
    labels = {column: held.work.labels.get(key, "") for key, column in POD_LABELS.items()}
    return shared_row(held, "pod", "created") | labels | {"status": POD_STATUS[held.work.outcome]}


def shared_row(held: Held, workload: str, submit: str) -> dict[str, str]:
    work = held.work
    row = {workload: work.workload, "run": work.run, "name": work.name, submit: instant_text(work.submit), "start": instant_text(work.start),
           "end": instant_text(work.end), "node": held.node.name}  # fmt: skip
    if held.gpu:
        row |= {
            "gpus": natural(held.gpu, GPU),
            "gpus_used": "" if held.gpu_used is None else natural(held.gpu_used, GPU),
        }
    if held.cpu:
        used = "" if held.cpu_used is None else natural(held.cpu_used, 1000)
        row |= {"cores": natural(held.cpu, 1000), "cores_used": used, "memory_gib": str(held.memory_gib)}
    return row


def natural(amount: int, base: int) -> str:
    """`8`, `0.25`, `0.371`, and `3/7` where no short decimal is exact."""
    thousandths, finer = divmod(amount * 1000, base)
    if finer:
        return str(Fraction(amount, base))
    whole, part = divmod(thousandths, 1000)
    return f"{whole}.{part:03d}".rstrip("0") if part else str(whole)


def energy_row(held: Held, start: int) -> Row:
    return {"workload": held.work.workload, "node": held.node.name, "start": instant_text(start), "end": instant_text(held.work.end),
            "joules": str(held.joules)}  # fmt: skip


def flow_row(flow: Flow, workload: str, resource: str) -> Row:
    return {workload: flow.workload, resource: flow.resource, "name": flow.name, "team": flow.team, "project": flow.project, "state": "running",
            "start": instant_text(flow.start), "end": instant_text(flow.end), "bytes": str(flow.amount)}  # fmt: skip


def capacity_sheet(demo: Demo) -> Iterator[Row]:
    base = {"gpu": GPU, "cpu": 1000, "memory": GIB}
    for node, meter, start, end, amount, state in capacity_rows(demo.month):
        yield {"node": node.name, "meter": meter, "start": instant_text(start), "end": instant_text(end), "amount": natural(amount, base[meter]),
               "state": state} | node_columns(node)  # fmt: skip


def node_columns(node: Node) -> dict[str, str]:
    return {column: node.labels.get(key, "") for key, column in NODE_LABELS.items()}


def reservation_sheet(demo: Demo) -> Iterator[Row]:
    for name, meter, start, end, amount, labels in reservation_rows(demo.month):
        held = {key.removeprefix("slurm."): value for key, value in labels.items()}
        yield held | {
            "reservation": name,
            "meter": meter,
            "start": instant_text(start),
            "end": instant_text(end),
            "amount": natural(amount, GPU),
        }
