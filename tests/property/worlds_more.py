"""What ordinary logs, clusters and policies have beside a plain world, each in some worlds. By dice of their own: the rest of a seed's world stays."""

import random
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from apportion.model.meters import GPU, METERS
from tests.property.worlds_policy import SPONSOR
from tests.property.worlds_rows import (
    Row,
    draw_amount,
    draw_capacity,
    draw_line,
    draw_span,
    draw_usage,
    draw_workload,
    node_labels,
)
from tests.property.worlds_scene import HOUR, Scene

Map = dict[str, Any]
Rows = dict[str, list[Row]]
DORMANT = "dormant"
SETS = ("3f9a000000000001", "77c0000000000002")


class Draft:
    """A world while more is added to it."""

    def __init__(self, dice: random.Random, scene: Scene, rules: Map, rows: Rows) -> None:
        self.dice, self.scene, self.rules, self.rows = dice, scene, rules, rows
        self.previous: dict[str, Decimal] = {}

    @property
    def nodes(self) -> tuple[str, ...]:
        return self.scene.nodes or ("h100-gpu9",)

    @property
    def meter(self) -> str:
        return self.dice.choice(self.scene.gpu_meters)

    def span(self) -> tuple[int, int]:
        """As any, but never empty."""
        start, end = draw_span(self.dice, self.scene)
        return start, max(end, start + self.dice.choice((1, 600, HOUR)))

    def use(self, job: Row, **columns: Any) -> Row:
        """By a job, with its set of labels where it has one."""
        start, end = self.span()
        row = draw_usage(self.dice, self.scene, job["workload"], columns.get("meter") or self.meter)
        row |= {"start_s": start, "end_s": end, **columns}
        row |= {"label_set": job["label_set"]} if "label_set" in job else {}
        self.rows["usage"].append(row)
        return row

    def any_job(self) -> Row:
        return self.dice.choice(self.rows["workloads"])

    def any_use(self) -> Row:
        """One that is there already and not empty, where there is one."""
        there = [row for row in self.rows["usage"] if row["end_s"] > row["start_s"]]
        return self.dice.choice(there) if there else self.use(self.any_job())

    def job(self, name: str, account: str) -> Row:
        row = draw_workload(self.dice, self.scene, 0)
        row |= {"workload": name, "run": name, "labels": {**row["labels"], "slurm.account": account}}
        self.rows["workloads"].append(row)
        return row

    def line(self, service: str, span: tuple[int, int], **columns: Any) -> Row:
        row = draw_line(self.dice, self.scene, 0)
        amount = Decimal(self.dice.randint(1, 10**7)).scaleb(-2) * self.dice.choice((1, 1, 1, 1, -1))
        row |= {"line_id": f"more-{len(self.rows['cost_lines'])}", "ServiceName": service, "component": "other"}
        row |= {"charge_start_s": span[0], "charge_end_s": span[1], "ChargeCategory": "Usage", "ChargeClass": None}
        row |= dict.fromkeys(("EffectiveCost", "BilledCost", "ListCost"), amount)
        row |= dict.fromkeys(("CommitmentDiscountStatus", "ResourceId", "ResourceName", "problem"))
        self.rows["cost_lines"].append(row | columns)
        return self.rows["cost_lines"][-1]

    def adjust(self, **rule: Any) -> None:
        self.rules["adjustments"].append({**rule, "why": "more"})


# rows


def reuse_an_id(draft: Draft) -> None:
    """Another user's job has the id of one that is there."""
    dice, old = draft.dice, draft.any_job()
    accounts = [f"{team}-c" for team in draft.scene.teams] + ["nobody"]
    other = dice.choice([name for name in accounts if name[:4] != old["labels"]["slurm.account"][:4]])
    new = draw_workload(dice, draft.scene, 0)
    new |= {"workload": old["workload"], "run": old["run"], "label_set": SETS[1]}
    new["labels"] = {**new["labels"], "slurm.account": other}
    mine = [row for row in draft.rows["usage"] if row["workload"] == old["workload"]]
    if not any(row["end_s"] > row["start_s"] for row in mine):
        mine.append(draft.use(old))
    if dice.random() < 0.5:
        for row in (old, *mine):
            row["label_set"] = SETS[0]
    draft.rows["workloads"].append(new)
    for _ in range(dice.choice((1, 2))):
        draft.use(new, resource=dice.choice((mine[-1]["resource"], *draft.nodes)))


def repeat_a_row(draft: Draft) -> None:
    row = draft.any_use()
    draft.rows["usage"] += [dict(row) for _ in range(draft.dice.choice((1, 1, 2)))]


def repeat_a_row_with_another_end(draft: Draft) -> None:
    row = draft.any_use()
    later = row["end_s"] + draft.dice.choice((1, HOUR, 5 * HOUR))
    draft.rows["usage"].append({**row, "end_s": later})


def count_boards_one_by_one(draft: Draft) -> None:
    """A row for each GPU of a job, or for each core."""
    meter = "gpu" if "gpu" in draft.scene.gpu_meters else draft.meter
    board = METERS[meter].base
    row = draft.use(draft.any_job(), meter=meter, allocated=board, used=board)
    for _ in range(draft.dice.choice((1, 3, 7))):
        draft.rows["usage"].append({**row, "used": draft.dice.choice((None, board, board // 2, 0))})


def use_without_allocation(draft: Draft) -> None:
    for _ in range(draft.dice.choice((1, 2, 3))):
        row = draft.use(draft.any_job(), allocated=None)
        row["used"] = draw_amount(draft.dice, row["meter"]) if draft.dice.random() < 0.9 else None


def double_a_node(draft: Draft) -> None:
    """Two clusters have a node of one name; what is there already is of the one, or does not say of which."""
    dice, scene = draft.dice, draft.scene
    node = dice.choice(draft.nodes)
    if dice.random() < 0.6:
        for row in (*draft.rows["usage"], *draft.rows["capacity"]):
            if row["resource"] == node:
                row["cluster"] = "east"
    for cluster in ("west", "east") if dice.random() < 0.5 else ("west",):
        for meter in scene.gpu_meters:
            offered = draw_capacity(dice, scene, node, meter)
            draft.rows["capacity"] += [row | {"cluster": cluster} for row in offered]
        for _ in range(dice.choice((1, 2))):
            draft.use(draft.any_job(), resource=node, cluster=cluster)
    for row in draft.rows["reservations"]:
        row["labels"] = {**row["labels"], **dice.choice(({}, {"cluster": "east"}, {"cluster": "west"}))}
    narrowed = [draft.rules["pools"][name] for name in ("gpus", "h100", "a100") if name in draft.rules["pools"]]
    for pool in narrowed:
        if "usage" in pool and dice.random() < 0.6:
            pool["usage"] = {**pool["usage"], "cluster": dice.choice(("east", "west", "*", {"not": "west"}))}


# money


def bill_an_unused_node(draft: Draft) -> None:
    """Where each node has its own price: one that only the bill knows, or that only stands there."""
    dice = draft.dice
    pools = draft.rules["pools"]
    name = next((name for name in ("gpus", "h100", "a100") if pools.get(name, {}).get("scope") == "resource"), None)
    if name is None:
        return
    node = f"{name if name != 'gpus' else dice.choice(('h100', 'a100'))}-gpu7"
    if dice.random() < 0.5:
        for meter in draft.scene.gpu_meters:
            draft.rows["capacity"] += draw_capacity(dice, draft.scene, node, meter)
    row = draft.line("EC2", (draft.scene.start, draft.scene.end), component="compute", ResourceId=node)
    row["Tags"] = {**row["Tags"], "node-group": name}


def floor_a_dormant_team(draft: Draft) -> None:
    dice = draft.dice
    draft.rules["teams"][DORMANT] = {"department": "research", "cost_centre": "0815"}
    days: Map = {dice.choice(("until", "from")): dice.choice(draft.scene.days)} if dice.random() < 0.3 else {}
    draft.adjust(team=DORMANT, floor=dice.choice((1, "33.3", 20_000)), sponsor=dice.choice(draft.scene.teams), **days)
    if dice.random() < 0.3:
        draft.previous[DORMANT] = Decimal(dice.choice((0, 50, 100_000)))
        draft.adjust(team=DORMANT, smooth=dice.choice((0, 20)), sponsor=SPONSOR)


def cap_a_sponsor(draft: Draft) -> None:
    dice = draft.dice
    sponsor = dice.choice(draft.scene.teams)
    other = dice.choice((*draft.scene.teams, SPONSOR))
    rules: list[Map] = [
        {"team": sponsor, "cap": dice.choice((0, 10, "77.7")), "sponsor": SPONSOR},
        {"team": other, **dice.choice(({"percent": -40}, {"percent": 10}, {"floor": 5000}, {"cap": 3}))}
        | {"sponsor": sponsor},
    ]
    dice.shuffle(rules)
    for rule in rules:
        draft.adjust(**rule)


def share_idle_with_users_of_other_hours(draft: Draft) -> None:
    """A pool whose money is for the first hour, which one team used in part; the other teams used it later."""
    dice, scene = draft.dice, draft.scene
    plain = ("central", "proportional", "even")
    idle = dice.choice(
        ("even", {"unsold": "even", "held": dice.choice((*plain, "holder")), "down": dice.choice(plain)})
    )
    draft.rules["pools"]["aside"] = {
        "costs": {"ServiceName": "Aside"}, "usage": {"resource": "aside-*"}, "meter": "gpu", "component": "licence",
        "method": "capacity_rate", "slot": dice.choice(("hour", "hour", "hour", "day")), "idle": idle,
        **dice.choice(({}, {}, {}, {"idle_slot": "day"})), **dice.choice(({}, {"driver": "used"})),
    }  # fmt: skip
    hour = (scene.start, scene.start + HOUR)
    draft.rows["capacity"] += [offer("aside-1", hour[0] - HOUR, scene.end + HOUR, 4 * GPU)]
    draft.line("Aside", hour)
    first = scene.teams[0] if len(scene.teams) > 1 else "nobody"
    jobs = [draft.job("aside-now", f"{first}-a"), draft.job("aside-later", f"{scene.teams[-1]}-a")]
    for job, start in zip(jobs, (scene.start, scene.start + dice.choice((HOUR, HOUR + 7, 1800))), strict=True):
        end = start + dice.choice((600, 1800, HOUR))
        draft.use(job, meter="gpu", resource="aside-1", start_s=start, end_s=end, allocated=GPU)


def tax_what_was_lent(draft: Draft) -> None:
    """A pool in which one team reserved more than it uses, others use more than is left, and the bill has a tax."""
    dice, scene = draft.dice, draft.scene
    draft.rules["pools"]["lent"] = {
        "costs": {"ServiceName": "Lent"}, "usage": {"resource": "lent-*"}, "meter": "gpu", "component": "licence",
        "method": "two_part", "slot": dice.choice(("hour", "day", "period")), "idle": dice.choice(("central", "even")),
        **dice.choice(({}, {}, {"burst_price": "37.123"})),
    }  # fmt: skip
    holder = dice.choice(scene.teams)
    days = scene.days if dice.random() < 0.3 else [None]
    draft.rules["reservations"].append({
        "team": holder, "pool": "lent", "meter": "gpu", "amount": dice.choice((6, 7, 8)), **({"until": days[-1]} if days[-1] else {}),
    })  # fmt: skip
    draft.rows["capacity"] += [offer("lent-1", scene.start, scene.end, 8 * GPU)]
    others = [name for name in scene.teams if name != holder] or ["nobody"]
    jobs = [draft.job("lent-own", f"{holder}-a"), draft.job("lent-other", f"{dice.choice(others)}-a")]
    for job, most in zip(jobs, (3, 5), strict=True):
        amount = dice.choice((most, most - 1)) * GPU
        draft.use(job, meter="gpu", resource="lent-1", start_s=scene.start, end_s=scene.end, allocated=amount)
    bill = draft.line("Lent", (scene.start, scene.end))
    tax = {"line_id": "more-tax", "ChargeCategory": "Tax", "EffectiveCost": Decimal("12.34"), "BilledCost": Decimal(7)}
    draft.rows["cost_lines"].append(bill | tax | {"ListCost": None})


def offer(resource: str, start: int, end: int, amount: int) -> Row:
    return {
        "source": "sched", "resource": resource, "meter": "gpu", "start_s": start, "end_s": end,
        "amount": amount, "state": "up", "labels": node_labels(resource),
    }  # fmt: skip


ADDITIONS: tuple[tuple[Callable[[Draft], None], float], ...] = (
    (reuse_an_id, 0.12),
    (repeat_a_row, 0.12),
    (repeat_a_row_with_another_end, 0.12),
    (count_boards_one_by_one, 0.12),
    (use_without_allocation, 0.12),
    (double_a_node, 0.14),
    (bill_an_unused_node, 0.5),
    (floor_a_dormant_team, 0.1),
    (cap_a_sponsor, 0.1),
    (share_idle_with_users_of_other_hours, 0.2),
    (tax_what_was_lent, 0.12),
)


def add_more(draft: Draft, additions: Iterable[tuple[Callable[[Draft], None], float]] = ADDITIONS) -> None:
    for addition, share in additions:
        if draft.dice.random() < share:
            addition(draft)
