"""Known faults of their answers that change money, told with the money that they move. README of the sources and the how-to list them all.

Rows and idle are held against the assets, hours of pods against those of their node, prices against what they leave out.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from apportion.errors import Problem
from apportion.model.money import plain, total_of
from apportion.sources.opencost.day import LISTED, Day, Reading
from apportion.sources.opencost.rows import Allocation
from apportion.sources.opencost.supply import is_volume, sizes

HALF_A_PLACE = Decimal("0.000005")
FLOAT = Decimal("1e-9")
COMPUTE = ("cpu", "ram", "gpu")
ON_NODE = (  # what a pod holds: hours of the row, hours and cost of the node
    ("cores", "cpuCoreHours", "cpuCoreHours", "cpuCost"),
    ("memory", "ramByteHours", "ramByteHours", "ramCost"),
    ("GPUs", "gpuHours", "GPUHours", "gpuCost"),
)


def doubts(day: Day, reading: Reading) -> Iterator[Problem]:
    pods = [row for row in day.allocations if row.is_pod]
    yield from absent(day)
    if day.assets and day.allocations:
        yield from unreconciled(day)
        yield from crowded(day, pods)
    yield from unexplained(day, pods)
    yield from prices(day, reading)


def absent(day: Day) -> Iterator[Problem]:
    """An empty set is answered for a day that was not computed, and where all is idle or shared."""
    if not day.assets:
        money = total_of(row.cost(*COMPUTE, "volume", "load balancer") for row in day.allocations)
        yield Problem(
            day.where,
            "no-assets",
            "there are no assets: no cost line, no capacity, nothing to reconcile with",
            "",
            plain(money),
        )
    if not day.allocations:
        money = total_of(asset.total for asset in day.assets)
        yield Problem(
            day.where, "no-allocations", "there are no allocations: all of it counts as idle", "", plain(money)
        )


def unreconciled(day: Day) -> Iterator[Problem]:
    """Rows and idle against assets, by cluster and kind; what five places may hide is no difference."""
    idle = {row.cluster for row in day.allocations if row.is_idle}
    for cluster in sorted({asset.cluster for asset in day.assets}):
        rows = [row for row in day.allocations if row.cluster == cluster]
        assets = [asset for asset in day.assets if asset.cluster == cluster]
        for what, kinds, paid in (
            ("compute", COMPUTE, [asset for asset in assets if asset.type == "Node"]),
            ("volumes", ("volume",), [asset for asset in assets if is_volume(asset)]),
            ("load balancers", ("load balancer",), [asset for asset in assets if asset.type == "LoadBalancer"]),
        ):
            split, whole = total_of(row.cost(*kinds) for row in rows), total_of(asset.total for asset in paid)
            slack = HALF_A_PLACE * (len(rows) * len(kinds) + len(paid)) + abs(whole) * FLOAT
            if abs(split - whole) > slack and (what != "compute" or cluster in idle or split > whole):
                yield Problem(
                    f"{day.where}: {cluster}",
                    "unreconciled",
                    f"{what}: rows and idle add up to {plain(split)}, the assets cost {plain(whole)}; the assets count",
                    f"{cluster} {what}",
                    plain(split - whole),
                )


def crowded(day: Day, pods: Iterable[Allocation]) -> Iterator[Problem]:
    """More hours than the node has: boards in slices that each count as a whole, metrics kept twice, use beyond requests. Their idle hides it at 0."""
    nodes = {(asset.cluster, asset.name): asset for asset in day.assets if asset.type == "Node"}
    held: dict[tuple[str, str], list[Allocation]] = defaultdict(list)
    for row in pods:
        held[row.cluster, row.node].append(row)
    for key, rows in sorted(held.items()):
        where = f"{day.where}: {key[0]}/{key[1]}"
        node = nodes.get(key)
        if node is None:
            money = total_of(row.cost(*COMPUTE) for row in rows)
            text = f"{counted(len(rows))} ran on a node that is not among the assets: nothing pays for it"
            yield Problem(where, "more-than-capacity", text, "/".join(key), plain(money))
            continue
        for what, own, whole, cost in ON_NODE:
            taken, there = total_of(row.number(own) for row in rows), node.number(whole)
            if taken > there * (1 + FLOAT) + HALF_A_PLACE * (len(rows) + 1):
                over = node.number(cost) * (taken - there) / there if there else total_of(r.cost("gpu") for r in rows)
                text = f"{what}: pods add up to {plain(taken)} hours, the node has {plain(there)}"
                yield Problem(where, "more-than-capacity", text, "/".join(key), rounded(over))


def unexplained(day: Day, pods: Iterable[Allocation]) -> Iterator[Problem]:
    """Rows whose hours cannot be right, or whose money belongs to no asset."""
    known = sizes(day)
    for row in pods:
        where = f"{day.where}: {row.name}"
        if not row.number("cpuCoreHours") and not row.number("ramByteHours"):
            text = "the pod ran without any core or byte: its metrics are dropped, or over 512 cores were read as 0"
            yield Problem(where, "no-hours", text, row.name)
        if has_gpu(row) and not row.number("gpuHours"):
            text = "a GPU was seen busy and none is counted: a slice, a replica or another vendor's board"
            yield Problem(where, "gpu-not-counted", text, row.name)
        if row.run.seconds == 0 and any(row.number(key) for _, key, _, _ in ON_NODE):
            yield Problem(where, "missing-end", "the row has hours and no time", row.name, plain(row.cost(*COMPUTE)))
        if day.assets and (lost := sorted(set(row.volumes) - set(known))):
            text = f"{', '.join(lost)[:80]} is not among the assets, so its size is not known; it is left out"
            yield Problem(where, "missing-amount", text, row.name, plain(row.costs["volume"]))
    for row in day.allocations:
        where = f"{day.where}: {row.name}"
        apart = row.cost("shared", "external")
        own = total_of(row.costs.values()) - apart
        if own and not (row.is_pod or row.is_idle or row.volumes):
            text = "the row names no pod: ask without aggregate, filter or shared costs"
            yield Problem(where, "no-pod", text, row.name, plain(own))
        if apart:
            text = "shared and external costs are another asset's, split anew: they are not counted"
            yield Problem(where, "shared-cost", text, row.name, plain(apart))


def has_gpu(row: Allocation) -> bool:
    return bool(row.gpu.get("gpuModel") or row.gpu.get("gpuUUID") or row.gpu.get("gpuUsageAverage"))


def prices(day: Day, reading: Reading) -> Iterator[Problem]:
    for asset in day.assets:
        if left := asset.number("gpuCost") * asset.number("discount"):
            text = f"the discount of {plain(asset.number('discount') * 100)} % is not taken off its GPUs"
            yield Problem(
                f"{day.where}: {asset.cluster}/{asset.name}", "discount-not-on-gpu", text, asset.key, rounded(left)
            )
    if reading.role == "bill" and day.assets and not any(asset.number("adjustment") for asset in day.assets):
        text = "no asset was adjusted to an invoice: these are list prices, without commitments, spot or your contract"
        yield Problem(day.where, "list-prices", text, "", plain(total_of(asset.total for asset in day.assets)))


def counted(rows: int) -> str:
    return f"{rows} container{'s' * (rows != 1)}"


def rounded(amount: Decimal) -> str:
    return plain(round(amount, 9))


def listed(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The first thousand of a kind, and one for the rest with their money."""
    kinds: Mapping[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        kinds[problem.code].append(problem)
    found: list[Problem] = []
    for code, own in kinds.items():
        found += own[:LISTED]
        if rest := own[LISTED:]:
            money = plain(total_of(Decimal(problem.money) for problem in rest))
            found.append(
                Problem(rest[0].where.partition(":")[0], code, f"and {len(rest)} more", f"+{len(rest)}", money)
            )
    return tuple(found)
