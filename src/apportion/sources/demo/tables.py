"""The month as Arrow tables of the model's schemas."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from hashlib import sha256
from typing import Any

import pyarrow as pa

from apportion.model.meters import GPU
from apportion.model.rows import CAPACITY, COST_LINES, FOCUS_NUMBERS, FOCUS_TEXT, RESERVATIONS, USAGE, WORKLOADS, complete_columns
from apportion.sources.demo.bills import Bill
from apportion.sources.demo.fleet import Node
from apportion.sources.demo.flows import GIB, Flow
from apportion.sources.demo.month import Held, Month
from apportion.sources.demo.planting import Planted

COMPONENTS = {
    "Compute": "compute",
    "Storage": "storage",
    "Networking": "network",
    "Management and Governance": "support",
}


def table(schema: pa.Schema, source: str, rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Rows without their source, in the order of the schema."""
    fields = list(schema)[1:]
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    made = {"source": pa.array([source] * len(columns[0]), pa.string())}
    made |= {field.name: pa.array(cells, field.type) for cells, field in zip(columns, fields, strict=False)}
    return complete_columns(pa.table(made), schema).cast(schema)


def pairs(labels: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(labels.items())


def usage_table(month: Month, flows: Mapping[str, list[Flow]], source: str) -> pa.Table:
    rows: list[tuple[Any, ...]] = []
    for held in month.held:
        where = (held.node.name, held.work.start, held.work.end)
        if held.gpu:
            rows += ((held.work.workload, "gpu", held.node.name, *look) for look in looks_of(held, month))
        if month.planted is not None and held.work.workload in month.planted.hosts:
            rows += host_rows(held, month.planted)
        elif held.cpu:
            rows.append((held.work.workload, "cpu", *where, held.cpu, held.cpu_used))
            rows.append((held.work.workload, "memory", *where, held.memory_gib * GIB, None))
        rows.append(
            (held.work.workload, "energy", held.node.name, metered_from(held, month), held.work.end, held.joules, None)
        )
    for meter, found in flows.items():
        rows += [(flow.workload, meter, flow.resource, flow.start, flow.end, flow.amount, None) for flow in found]
    return table(USAGE, source, rows)


def looks_of(held: Held, month: Month) -> Iterator[tuple[int, int, int, int | None]]:
    """Start, end, held and used: one mean over the run, or look by look where waste was planted."""
    if month.planted is None:
        yield held.work.start, held.work.end, held.gpu, held.gpu_used
        return
    for start, end, share in month.planted.looks[held.work.workload]:
        yield start, end, held.gpu, None if share is None else held.gpu * share // 1000


def host_rows(held: Held, planted: Planted) -> Iterator[tuple[Any, ...]]:
    """Cores and memory, look by look."""
    for start, end, look in planted.hosts[held.work.workload]:
        for meter, amount, n in (("cpu", held.cpu, 0), ("memory", held.memory_gib * GIB, 1)):
            used = None if look is None else amount * look[n] // 1000
            yield held.work.workload, meter, held.node.name, start, end, amount, used


def metered_from(held: Held, month: Month) -> int:
    """Meters are read from the first second of the evidence window on, whenever the job began."""
    return max(held.work.start, month.calendar.window.start_s)


def workload_table(month: Month, flows: Mapping[str, list[Flow]], source: str) -> pa.Table:
    rows: list[tuple[Any, ...]] = [
        (work.workload, work.run, work.name, work.start, work.end, work.outcome, pairs(work.labels))
        for work in month.works
    ]
    for found in flows.values():
        spans: dict[str, tuple[Flow, int]] = {}
        for flow in found:
            first = spans.get(flow.workload, (flow, 0))[0]
            spans[flow.workload] = (first, flow.end)
        rows += [
            (name, name, flow.name, flow.start, end, "running", pairs(flow_labels(flow)))
            for name, (flow, end) in spans.items()
        ]
    return table(WORKLOADS, source, rows)


def flow_labels(flow: Flow) -> dict[str, str]:
    return dict(flow.labels) | ({"tag.team": flow.team, "tag.project": flow.project} if flow.team else {})


def capacity_rows(month: Month) -> Iterator[tuple[Node, str, int, int, int, str]]:
    """Node, meter, start, end, base units and state."""
    for standing in month.standings:
        group = standing.node.group
        amounts = {"gpu": group.gpus * GPU, "cpu": group.cores * 1000, "memory": group.memory_gib * GIB}
        for meter, amount in amounts.items():
            if amount:
                yield standing.node, meter, standing.start, standing.end, amount, standing.state


def capacity_table(month: Month, source: str) -> pa.Table:
    return table(CAPACITY, source, ((node.name, *rest, pairs(node.labels)) for node, *rest in capacity_rows(month)))


def reservation_rows(month: Month) -> Iterator[tuple[str, str, int, int, int, dict[str, str]]]:
    """One row per reserved node, so that its labels say both who holds it and where."""
    for node in month.reserved_nodes:
        labels = {
            "slurm.account": month.reservation_account,
            "slurm.wckey": "folding",
            "slurm.partition": node.group.name,
            "node": node.name,
        }
        bounds = (month.reserved.start_s, month.reserved.end_s)
        yield f"folding-{node.name}", "gpu", *bounds, node.group.gpus * GPU, labels


def reservation_table(month: Month, source: str) -> pa.Table:
    return table(RESERVATIONS, source, ((*rest, pairs(labels)) for *rest, labels in reservation_rows(month)))


BOUNDS = ("charge_start_s", "charge_end_s", "billing_start_s", "billing_end_s")


def cost_table(bill: Bill, source: str) -> pa.Table:
    seen: Counter[str] = Counter()
    rows = []
    for row, line in zip(bill.rows(), bill.lines, strict=True):
        text = "\x1f".join(f"{key}={value}" for key, value in sorted(row.items()))
        seen[text] += 1
        line_id = sha256(f"{source}\x1f{text}\x1f{seen[text]}".encode()).hexdigest()[:32]
        row |= {"ServiceProviderName": row["ProviderName"]}
        numbers = {name: Decimal(row[name]) for name in FOCUS_NUMBERS if row.get(name)}
        said: dict[str, Any] = {name: row[name] for name in FOCUS_TEXT if row.get(name)} | numbers
        bounds = zip(
            BOUNDS, (line.charge.start_s, line.charge.end_s, bill.billing.start_s, bill.billing.end_s), strict=True
        )
        said |= {
            "status": "final",
            "line_id": line_id,
            "component": component(row),
            "Tags": pairs(line.tags),
            **dict(bounds),
        }
        rows.append(tuple(said.get(name) for name in COST_LINES.names[1:]))
    return table(COST_LINES, source, rows)


def component(row: Mapping[str, str]) -> str:
    words = row["ServiceName"].lower()
    for word in ("licence", "support", "electricity"):
        if word in words:
            return "energy" if word == "electricity" else word
    return COMPONENTS.get(row["ServiceCategory"], "other")
