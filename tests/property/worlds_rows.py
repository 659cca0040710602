"""The rows of a world."""

import random
from decimal import Decimal
from itertools import pairwise
from typing import Any

from apportion.model.meters import GPU, METERS
from apportion.model.rows import FOCUS_NUMBERS, FOCUS_TEXT
from tests.property.worlds_scene import HOUR, Scene

Row = dict[str, Any]
GIB = 2**30
SERVICES = {
    "EC2": "compute",
    "S3": "storage",
    "Net": "network",
    "Power": "energy",
    "MATLAB": "licence",
    "Support": "support",
    "Tagged": "other",
    "Misc": "other",
}
EXTRA_SERVICE = {
    "storage": "S3",
    "network": "Net",
    "energy": "Power",
    "licences": "MATLAB",
    "platform": "Support",
    "tagged": "Tagged",
    "rest": "Misc",
}

# 10^14 in money is not asked for where the engine's units are too coarse for a nano's millionth of it, right as it is to 28 digits: for a few bytes
# or joules (a flow is spread to 10^-18 of them), and for what follows charges of 10^-18 (which are 10^30 grains). Followers beside a price list
# are left as large as they come: shares of its tiny columns are coarser, and world(192, 1) is wrong in the 25th digit of its bill.
FLOWS = ("Net", "Power")
# A seed names a world, so what is drawn from stays as it is when the model learns another word.
OUTCOMES = ("completed", "failed", "cancelled", "timeout", "out_of_memory", "preempted", "node_fail", "running")


def draw_rows(dice: random.Random, scene: Scene) -> dict[str, list[Row]]:
    most = (4, 6, 9, 12)[scene.size]
    workloads = [draw_workload(dice, scene, i) for i in range(dice.randint(1, 6))]
    names = [row["workload"] for row in workloads] + ["unknown"] * (dice.random() < 0.1)
    meters = {"storage": "storage", "network": "network", "energy": "energy", "cards": "tokens"}
    drawn = [*scene.gpu_meters * 4, *(meters[extra] for extra in sorted(scene.extras) if extra in meters)]
    usage = [
        draw_usage(dice, scene, dice.choice(names), dice.choice(drawn))
        for _ in range(dice.choice((0, *range(1, most + 1), *range(most // 2, most + 1))))
    ]
    capacity = [
        row for node in scene.nodes for meter in scene.gpu_meters for row in draw_capacity(dice, scene, node, meter)
    ]
    if "storage" in scene.extras and dice.random() < 0.5:
        capacity += draw_capacity(dice, scene, "fs-1", "storage")
    lines = [draw_line(dice, scene, i) for i in range(dice.randint(1, (3, 5, 6, 8)[scene.size]))]
    reservations = [draw_reservation(dice, scene, i) for i in range(dice.choice((0, 0, 1, 2)))]
    return {
        "workloads": workloads,
        "usage": usage,
        "capacity": capacity,
        "cost_lines": lines,
        "reservations": reservations,
    }


def crowd(dice: random.Random, scene: Scene, rows: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The nodes have a board or two each, of which many hold parts."""
    names = [row["workload"] for row in rows["workloads"]]
    boards = dice.choice((GPU, GPU, 2 * GPU))
    few = [row | {"amount": boards} if row["meter"] == "gpu" else row for row in rows["capacity"]]
    parts = [draw_usage(dice, scene, dice.choice(names), "gpu") for _ in range(dice.randint(2, 9))]
    for row in parts:
        row["allocated"] = dice.choice((GPU // 2, GPU // 4 * 3, GPU // 7 * 4, GPU // 1000 * 901, GPU))
        row["used"] = dice.choice((None, row["allocated"] // 2, GPU // 7, GPU))
    return rows | {"usage": [*rows["usage"], *parts], "capacity": few}


def draw_workload(dice: random.Random, scene: Scene, index: int) -> Row:
    account = dice.choice([*(f"{team}-{dice.choice('ab')}" for team in scene.teams), "roam", "nobody"])
    labels = {
        "slurm.account": account,
        "slurm.partition": dice.choice(("dgx", "dgx", "cpu")),
        "qos": dice.choice(("normal", "preemptible")),
    }
    if dice.random() < 0.7:
        labels["slurm.wckey"] = dice.choice(("p1", "p2", "q:3"))
    if dice.random() < 0.8:
        labels["slurm.user"] = dice.choice(("alice", "bob", "zoë"))
    if dice.random() < 0.5:
        labels["step"] = dice.choice(("tune-1", "train", "notebook"))
    if dice.random() < 0.1:
        labels["lent_to"] = dice.choice(("guests", scene.teams[0]))
    outcome = dice.choice((*OUTCOMES, *["node_fail"] * 4))
    return {
        "source": "sched", "workload": f"job-{index}", "run": f"run-{index // 2}", "name": dice.choice((None, "train", "sweep")),
        "start_s": scene.start, "end_s": scene.end, "outcome": outcome, "labels": labels,
    }  # fmt: skip


def draw_amount(dice: random.Random, meter: str) -> int:
    if meter == "gpu":
        return dice.choice(
            (0, GPU, GPU, 2 * GPU, 8 * GPU, *(GPU // 7 * n for n in (1, 2, 3)), GPU // 4, GPU // 1000 * 333)
        )
    choices = {
        "cpu": (0, 100, 1000, 7777, 64_000),
        "memory": (GIB, 7 * GIB + 1, 512 * GIB),
        "storage": (1, 5 * 10**15, 3 * 2**40, 10**12 + 7),
        "network": (0, 1, GIB, 10**13 + 3),
        "energy": (3_600_000, 1, 987_654_321),
        "tokens": (1, 1000, 10**9 + 7),
    }
    return dice.choice(choices[meter])


def draw_span(dice: random.Random, scene: Scene) -> tuple[int, int]:
    """Most inside the window; some cross an end of it, some are empty, some lie before it."""
    kind = dice.random()
    start = scene.start + dice.randrange(scene.hours) * HOUR + dice.choice((0, 0, 1, 599, 1800, 3599))
    if kind < 0.05:
        return start, start
    if kind < 0.12:
        return scene.start - dice.randrange(1, 4) * HOUR, scene.start + dice.randrange(HOUR)
    if kind < 0.18:
        return start, scene.end + dice.randrange(1, 3 * HOUR)
    if kind < 0.24:
        early = scene.billing[0] - dice.randrange(1, 9) * HOUR
        return early, early + dice.choice((HOUR, 5000))
    length = dice.choice((1, 600, HOUR, 2 * HOUR, 5 * HOUR + 7, 12 * HOUR, 26 * HOUR))
    return start, min(start + length, scene.end + HOUR)


def draw_resource(dice: random.Random, scene: Scene, meter: str) -> str:
    if meter in ("storage", "network", "tokens"):
        return {"storage": "fs-", "network": "net-", "tokens": "llm-"}[meter] + dice.choice("12")
    return dice.choice(scene.nodes or ("h100-gpu9",))


def draw_usage(dice: random.Random, scene: Scene, workload: str, meter: str) -> Row:
    start, end = draw_span(dice, scene)
    amount = draw_amount(dice, meter)
    used = dice.choice((None, amount, amount // 2, amount // 2, amount // 3, amount * 2, 0))
    if METERS[meter].flow:
        used = dice.choice((None, amount))
    return {
        "source": "sched", "workload": workload, "meter": meter, "resource": draw_resource(dice, scene, meter),
        "start_s": start, "end_s": end, "allocated": amount, "used": used,
    }  # fmt: skip


def node_labels(node: str) -> dict[str, str]:
    if not node.startswith(("h100", "a100")):
        return {}
    return {"gpu_model": node[:4].upper(), "slurm.features": "nvlink" if node[0] == "h" else "pcie"}


def draw_capacity(dice: random.Random, scene: Scene, resource: str, meter: str) -> list[Row]:
    """The window (sometimes more, sometimes with a gap) in stretches, each with a state."""
    sizes = {
        "gpu": (GPU, 8 * GPU, 8 * GPU),
        "cpu": (8000, 64_000),
        "memory": (512 * GIB,),
        "storage": (10**15, 6 * 10**15),
    }
    amount = dice.choice(sizes[meter]) // (14 if scene.tight else 1)
    cuts = sorted(
        {
            scene.start - dice.choice((0, HOUR)),
            *(scene.start + dice.randrange(scene.hours * HOUR) for _ in range(dice.choice((0, 0, 1, 2)))),
            scene.end,
        }
    )
    rows = []
    for start, end in pairwise(cuts):
        if dice.random() < 0.1:
            continue
        state = dice.choice(("up", "up", "up", "up", "down", "drained", "starting"))
        rows.append({
            "source": "sched", "resource": resource, "meter": meter, "start_s": start, "end_s": end,
            "amount": amount, "state": state, "labels": node_labels(resource),
        })  # fmt: skip
    return rows


def draw_reservation(dice: random.Random, scene: Scene, index: int) -> Row:
    node = dice.choice(scene.nodes or ("h100-gpu9",))
    labels = {
        "slurm.account": dice.choice([f"{scene.teams[-1]}-r", f"{scene.teams[0]}-r", "roam"]),
        "node": node,
        "partition": "dgx",
        **node_labels(node),
    }
    start, end = draw_span(dice, scene) if dice.random() < 0.4 else (scene.start, scene.end)
    meter = scene.gpu_meters[0]
    return {
        "source": "sched", "reservation": f"res-{index}", "meter": meter, "start_s": start, "end_s": end,
        "amount": draw_amount(dice, meter), "labels": labels,
    }  # fmt: skip


# cost lines


def draw_money(dice: random.Random) -> Decimal:
    amount = dice.choice((
        Decimal(dice.randint(1, 10**7)).scaleb(-2),
        Decimal(dice.randint(1, 10**7)).scaleb(-2),
        Decimal(dice.randint(1, 10**20)).scaleb(-18),
        Decimal(dice.randint(1, 9)).scaleb(-18),
        Decimal(dice.randint(1, 10**15)) + Decimal(dice.randint(0, 10**9)).scaleb(-9),
        Decimal(100),
    ))  # fmt: skip
    return -amount if dice.random() < 0.12 else amount


def draw_charge(dice: random.Random, scene: Scene) -> tuple[int, int]:
    kind = dice.choice(("hour", "hour", "window", "window", "window", "day", "odd", "zero", "late", "month"))
    start = scene.start + dice.randrange(scene.hours) * HOUR
    if kind == "month" or (kind == "late" and scene.size == 0):
        return scene.billing
    if kind == "late":
        early = scene.billing[0] - dice.randrange(1, 9) * HOUR
        return early, early + dice.choice((HOUR, 3 * HOUR))
    spans = {
        "hour": (start, start + HOUR),
        "window": (scene.start, scene.end),
        "day": (start // 86_400 * 86_400, start // 86_400 * 86_400 + 86_400),
        "odd": (start + 17, start + 17 + dice.choice((1, 1234, 9999))),
        "zero": (start + 5, start + 5),
    }
    return spans[kind]


def draw_line(dice: random.Random, scene: Scene, index: int) -> Row:
    issuer, currency = dice.choice(scene.issuers)
    services = [
        *["EC2"] * 5,
        *(EXTRA_SERVICE[extra] for extra in sorted(scene.extras) if extra in EXTRA_SERVICE),
        dice.choice(sorted(SERVICES)),
    ]
    service = dice.choice(services)
    category = dice.choice(("Usage",) * 10 + ("Tax", "Credit", "Purchase", "Adjustment"))
    unused = dice.random() < 0.06
    amount = draw_money(dice)
    follows = (category != "Usage" or unused) and scene.gpu_method != "rate_card"
    if (service in FLOWS or follows) and abs(amount) > 10**9:
        amount = amount.scaleb(-6)
    if category == "Credit":
        amount = -abs(amount)
    start, end = draw_charge(dice, scene)
    row: Row = dict.fromkeys((*FOCUS_NUMBERS, *FOCUS_TEXT))
    resources = {
        "EC2": [*scene.nodes, *scene.nodes, "gone-1", None],
        "S3": ["fs-1", "fs-2", None],
        "Net": ["net-1", None],
        "Power": [*scene.nodes, None],
    }
    resource = dice.choice(resources.get(service, [None]))
    named = dice.random() < 0.2
    own = random.Random(f"{index} {start} {amount}").random()  # not from the dice: the rest of a world stays as it was
    row.update({
        "source": "bill", "line_id": f"line-{index}", "charge_start_s": start, "charge_end_s": end,
        "billing_start_s": scene.billing[0], "billing_end_s": scene.billing[1], "component": SERVICES[service],
        "EffectiveCost": None if dice.random() < 0.04 else amount, "BilledCost": dice.choice((amount, amount * 2)), "ListCost": dice.choice((amount, None)),
        "BillingCurrency": currency, "InvoiceIssuerName": issuer, "BillingAccountId": "b1",
        "SubAccountId": dice.choice((None, "s1", "s2")),
        "ChargeCategory": category, "ServiceName": service if issuer == "Cloud One" else f"Colo {service}",
        "CommitmentDiscountStatus": "Unused" if unused else dice.choice((None, "Used")),
        "ResourceId": None if named else resource, "ResourceName": resource if named else None,
        "AllocatedMethodId": "by use" if own < (0.95 if service == "Tagged" else 0.1) else None,
        "ChargeClass": "Correction" if start < scene.billing[0] else None,
        "Tags": {"node-group": dice.choice(("h100", "a100")), "team": dice.choice((*scene.teams, "lost"))},
        "problem": "invalid-number" if category == "Usage" and not unused and dice.random() < 0.05 else None,
    })  # fmt: skip
    if category == "Tax" and dice.random() < 0.5 and not row["AllocatedMethodId"]:
        row["ServiceName"] = None
    return row
