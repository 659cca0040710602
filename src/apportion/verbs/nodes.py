"""Instances of the bill beside nodes of the cluster, by the same ties that a plan shares by: computed from the pinned evidence."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from zoneinfo import ZoneInfo

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.amounts import held_units
from apportion.engine.lines import sharing_by_node
from apportion.engine.spellings import host_key
from apportion.engine.ties import Homes, Tie, tie_by_pool
from apportion.model.meters import METERS
from apportion.model.times import Period
from apportion.reports.nodes import Instance, Joined, Unpaid
from apportion.reports.nodes import nodes as make_report
from apportion.reports.report import Report
from apportion.reports.sums import total
from apportion.reports.words import counted, shown
from apportion.verbs.agreement import basis_of, short
from apportion.verbs.ground import ground_of
from apportion.verbs.plan import Computed, compute
from apportion.verbs.project import Project
from apportion.verbs.report import declared
from apportion.verbs.soundness import NOTE, CheckLine
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import known_month

COMPUTE = "compute"
UNITS = (
    "gpu",
    "tpu",
    "neuron",
    "gaudi",
    "accelerator",
    "cpu",
    "node",
)  # the first that a node has says how much it was used
FEW = 50  # instances whose nearest names are looked for
HOUR_S = 3600


def nodes(project: Project, period: Period | str | None = None, step: Step = silent) -> Report:
    """Which node each instance of the bill is, and what is tied to none; as posted, or as a plan would be now."""
    period = known_month(project, period)
    ground = ground_of(project, period)
    computed = compute(project, period, ground.policy, ground.pins, step)
    step("tying instances to nodes", 0, 0)
    made = make_report(join(computed), project.books.head(), short(ground.policy))
    return declared(made, basis_of(ground.policy))


def join(computed: Computed) -> Joined:
    found = list(instances(computed))
    paid = {instance.node for instance in found}
    lacking = [node for node in used_hours(computed) if node.node not in paid]
    return Joined(
        str(computed.plan.period),
        computed.world.policy.currency,
        with_nearest(found, sorted({node.node for node in lacking})),
        lacking,
    )


def instances(computed: Computed, pools: Collection[str] | None = None) -> Iterator[Instance]:
    """The compute lines of the bills by instance; of some pools, where told."""
    sums: dict[tuple[str, str, str, str, str], list[Decimal]] = {}
    for part in computed.parts:
        for key, amount in tied(part, pools):
            sums.setdefault(key, []).append(amount)
    for (currency, name, node, by, note), amounts in sorted(sums.items()):
        yield Instance(currency, name, node, by, total(amounts), note)


def tied(computed: Computed, pools: Collection[str] | None) -> Iterator[tuple[tuple[str, str, str, str, str], Decimal]]:
    """Currency, instance, node, what ties them and what does not, with the money."""
    lines, placed = computed.world.cost_lines, computed.plan.trace.lines
    mine = pc.equal(placed.components, COMPUTE)
    if pools is not None:
        mine = pc.and_(mine, pc.is_in(placed.pool_of, value_set=pa.array(sorted(pools), pa.string())))
    own = lines.filter(mine)
    resources = computed.plan.trace.setting.resources
    homes = Homes(resources.known, resources.members(computed.world.policy.pools))
    ties = tie_by_pool(own, placed.pool_of.filter(mine), homes, computed.world.policy.nodes)
    columns = {
        "tie": pa.array(ties.of_row),
        "currency": placed.currencies().filter(mine),
        "amount": placed.amounts.filter(mine),
    }
    for row in pa.table(columns).group_by(["tie", "currency"]).aggregate([("amount", "sum")]).to_pylist():
        tie = ties.found[row["tie"]]
        by = " ".join(filter(None, (tie.by, tie.key))) if tie.node else ""
        yield (row["currency"], tie.instance, tie.node, by, note_of(tie)), row["amount_sum"]


def note_of(tie: Tie) -> str:
    if tie.node:
        return ""
    if tie.rivals:
        return f"ambiguous: {tie.contest}"
    if not tie.tried:
        return "names nothing that could be a node" if tie.instance else "names no instance"
    return f"tried {', '.join(tie.tried)}"


def with_nearest(found: list[Instance], names: list[str]) -> list[Instance]:
    """Of the instances with most money, the node without money that is called most like it."""
    hosts = {host_key(name) or name: name for name in names}
    loose = sorted((each for each in found if each.name and not each.node), key=lambda each: -abs(each.amount))[:FEW]
    near = {}
    for each in loose:
        for close in get_close_matches(host_key(each.name) or each.name, hosts, n=1):
            near[each] = replace(each, note=f"{each.note}; nearest node {hosts[close]}")
    return [near.get(each, each) for each in found]


def used_hours(computed: Computed) -> Iterator[Unpaid]:
    """Every node of the period, by its first unit."""
    setting = computed.plan.trace.setting
    window = computed.plan.period.interval(ZoneInfo(computed.world.policy.time_zone))
    usage = computed.world.usage
    usage = usage if hasattr(usage, "to_pyarrow") else setting.backend.lend(usage)
    rows = usage.filter(usage.meter.isin(UNITS), usage.start_s < window.end_s, usage.end_s > window.start_s)
    seconds = ibis.least(rows.end_s, window.end_s) - ibis.greatest(rows.start_s, window.start_s)
    summed = rows.group_by("resource", "meter").aggregate(units=(held_units(rows) * seconds).sum()).to_pyarrow()
    used = {(row["resource"], row["meter"]): int(row["units"]) for row in summed.to_pylist()}
    offered = {(row["resource"], row["meter"]) for row in setting.capacity if row["meter"] in UNITS and row["amount"]}
    first: dict[str, str] = {}
    for node, meter in sorted({*used, *offered}, key=lambda pair: (pair[0], UNITS.index(pair[1]))):
        first.setdefault(node, meter)
    first.pop("", None)
    for node, meter in first.items():
        yield Unpaid(node, METERS[meter].unit, Fraction(used.get((node, meter), 0), METERS[meter].base * HOUR_S))


def node_findings(computed: Computed) -> Iterator[CheckLine]:
    """Compute money that is shared node by node, and that no node is known for."""
    loose = [
        each
        for each in instances(computed, sharing_by_node(computed.world.policy.pools))
        if not each.node and each.name
    ]
    for currency in sorted({each.currency for each in loose}):
        own = [each for each in loose if each.currency == currency]
        money = shown(total(each.amount for each in own), currency)
        yield CheckLine(
            NOTE,
            "nodes",
            f"{counted(len({each.name for each in own}), 'instance')} with {money} of compute money are tied to no node",
            f"`apportion report nodes --period {computed.plan.period}` lists them; `nodes` in the policy ties them",
        )
