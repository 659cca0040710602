"""From what a cluster says of itself and its bill to a policy: a pool for each group of nodes that the bill knows, owners by the labels that cover most."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.clusters import locate_tables
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S
from apportion.reports.sums import total
from apportion.reports.words import counted, percent, shown
from apportion.verbs.init import method_lines
from apportion.verbs.proposing.groups import (
    ACCELERATED,
    COMPUTE,
    Claim,
    Group,
    Line,
    amount_text,
    claims_of,
    compute_lines,
    groups_of,
)
from apportion.verbs.proposing.owners import PLATFORM, Rule, rules_of, untold
from apportion.verbs.proposing.rate_card import About, Proposal, first_day
from apportion.verbs.proposing.seen import Seen, level_units, seen_in, together
from apportion.verbs.proposing.yaml_text import comment, glob, listed, scalar
from apportion.verbs.soundness import GOOD, NOTE, CheckLine

ALLOWLIST = "--metric-labels-allowlist=pods=[*],namespaces=[*],nodes=[*]"
FEW_VALUES = 6
NANO = 10**9
TEXT = """\
# yaml-language-server: $schema=policy.schema.json
#
# Proposed from what {log} says and from the bill. Edit it: `apportion check` says what is wrong with it, `apportion plan` what it would change.
policy: {name}
effective: {effective}
currency: {currency}
time_zone: {time_zone}
basis: effective             # effective | billed | list

teams:                       # who carries what is nobody's; teams that labels name need no line here
  {platform}: {{}}

carried_by: {{_idle: {platform}, _unallocated: {platform}, _residual: {platform}}}

owners:                      # first match wins; work that matches nothing is shown as _unallocated
{owners}

pools:                       # a cost line belongs to at most one pool
{pools}
  rest: {{costs: otherwise, by: cost, over: all}}
"""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A pool to be: its selectors as text, its money, and the nodes whose use shares it (None: all)."""

    name: str
    costs: str
    usage: str
    meter: str
    money: Decimal
    nodes: tuple[str, ...] | None
    offered: int
    note: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What the proposal rests on; `worth` is the part of the pools' money that each workload's use makes up, in billionths."""

    seen: Seen
    groups: Sequence[Group]
    pools: Sequence[Sketch]
    currency: str
    worth: Sequence[int]
    node_labels: Mapping[str, str]

    @property
    def money(self) -> Decimal:
        return total(pool.money for pool in self.pools)


def propose_cluster(usage: Sequence[Delivery], bills: Sequence[Delivery], about: About) -> Proposal:
    seen = seen_in(usage)
    capacity, held = locate_tables(together(usage, "capacity"), together(usage, "usage"))
    lines = together(bills, "cost_lines")
    currency = currency_of(lines) or about.currency
    groups = groups_of(capacity)
    span = max((one.window.end_s for one in usage), default=0) - min((one.window.start_s for one in usage), default=0)
    pools = list(sketches(groups, compute_lines(lines, currency), seen, span))
    labels = {key: value for row in capacity["labels"].to_pylist() for key, value in row or ()}
    sight = Sight(seen, groups, pools, currency, worth_of(seen, pools, held), labels)
    rules = rules_of(seen, sight.worth)
    text = TEXT.format(
        log=comment(about.log),
        name=scalar(about.name),
        effective=first_bill_day(lines) or first_day(seen),
        currency=currency,
        time_zone=about.time_zone,
        platform=PLATFORM,
        owners="\n".join(owners_text(rules)) or "  []",
        pools="\n".join(line for pool in pools for line in pool_text(pool)),
    )
    return Proposal(text, tuple(findings(sight, rules)))


def first_bill_day(lines: pa.Table) -> date | None:
    """The first of the year: a billing month may begin some hours early in UTC."""
    first = pc.min(lines["billing_start_s"]).as_py()
    return None if first is None else datetime.fromtimestamp(first + DAY_S, UTC).date().replace(month=1, day=1)


def currency_of(lines: pa.Table) -> str:
    """Of the most money."""
    sums = lines.group_by("BillingCurrency").aggregate([("EffectiveCost", "sum")]).to_pylist()
    ranked = sorted(sums, key=lambda row: (row["EffectiveCost_sum"] or 0, row["BillingCurrency"] or ""), reverse=True)
    return next((row["BillingCurrency"] for row in ranked if row["BillingCurrency"]), "")


def sketches(groups: Sequence[Group], lines: Sequence[Line], seen: Seen, span: int) -> Iterator[Sketch]:
    """One for each group that the bill tells apart, and one for the rest of compute."""
    claims = claims_of(groups, lines)
    for claim in claims:
        group = claim.group
        note = f"{amount_text(group, span)}{', ' + group.model if group.model else ''}"
        own = f"{{{scalar(group.key)}: {glob(group.value)}}}"
        costs = f"{{{selector(claim)}{unless(claim.unless)}}}"
        yield Sketch(group.value, costs, own, group.meter, claim.money, group.nodes, group.units[group.meter], note)
    others = [group for group in groups if group not in [claim.group for claim in claims]]
    if others or not groups:
        yield rest_of(others, claims, total(line.money for line in lines), seen)


def rest_of(others: Sequence[Group], claims: Sequence[Claim], money: Decimal, seen: Seen) -> Sketch:
    held = {group.meter for group in others} or set(seen.units)
    meter = next((one for one in (*ACCELERATED, "cpu") if one in held), "gpu")
    named = [group for group in others if group.value]
    usage = "{}"
    if named and named == [*others]:
        usage = f"{{{scalar(named[0].key)}: {listed(glob(group.value) for group in named)}}}"
    elif others and not named and claims:  # nodes that no label puts into a group
        usage = f'{{not: {{{scalar(claims[0].group.key)}: "*"}}}}'
    left = total([money, *(-claim.money for claim in claims)])
    names = ", ".join(group.value or "nodes without a label" for group in others) or "all nodes"
    return Sketch(
        "compute",
        f"{{ServiceCategory: {listed(map(scalar, COMPUTE))}{unless(claims)}}}",
        usage,
        meter,
        left,
        tuple(node for group in others for node in group.nodes) if usage != "{}" else None,
        sum(group.units.get(meter, 0) for group in others),
        f"{names}: the bill does not tell them apart",
    )


def selector(claim: Claim) -> str:
    return f"{scalar(claim.column)}: {listed(map(scalar, claim.globs))}"


def unless(claims: Sequence[Claim]) -> str:
    some = [f"{{{selector(claim)}}}" for claim in claims]
    return f", not: {listed(some)}" if some else ""


def pool_text(pool: Sketch) -> Iterator[str]:
    yield f"  {scalar(pool.name.strip('_ '))}:  # {comment(pool.note)}"
    yield f"    costs: {pool.costs}"
    yield f"    usage: {pool.usage}"
    yield f"    meter: {pool.meter}"
    yield from method_lines(known=bool(pool.offered))


def owners_text(rules: Sequence[Rule]) -> Iterator[str]:
    for rule in rules:
        if rule.team:
            yield f"  - {{when: {{{rule.key}: {listed(map(glob, rule.values))}}}, team: {rule.team}}}"
            continue
        some = ", ".join(rule.values[:FEW_VALUES]) + (", ..." if len(rule.values) > FEW_VALUES else "")
        note = f"  # {comment(some)}" if some else ""
        yield f'  - {{when: {{{scalar(rule.key)}: "*"}}, team: "{{{rule.key}}}"}}{note}'


def worth_of(seen: Seen, pools: Sequence[Sketch], usage: pa.Table) -> list[int]:
    """What a pool's price makes of each workload's use; the rest of its money is idle."""
    worth = [0] * seen.workloads
    for pool in pools:
        units = level_units(seen, usage, pool.meter, pool.nodes)
        whole = max(pool.offered, sum(units))
        nanos = int(pool.money * NANO)
        for row, own in enumerate(units):
            if own:
                worth[row] += nanos * own // whole
    return worth


def findings(sight: Sight, rules: Sequence[Rule]) -> Iterator[CheckLine]:
    own = [pool for pool in sight.pools if pool.name != "compute"]
    told = (
        f"{counted(len(sight.groups), 'group')} of nodes by {sight.groups[0].key}"
        if sight.groups and sight.groups[0].key
        else "nodes without groups"
    )
    fix = "" if own else "tag the machines in the cloud with their node group, or name them in `costs` in policy.yaml"
    yield CheckLine(GOOD if own else NOTE, "pools", f"{told}; the bill tells {len(own)} of them apart", fix)
    yield from coverage(sight, rules)
    if missing := untold(sight.seen, sight.node_labels):
        text = f"no {' and no '.join(missing)} has a label that could tell"
        yield CheckLine(NOTE, "kube-state-metrics", text, f"start it with {ALLOWLIST}, or with the keys that you want")


def coverage(sight: Sight, rules: Sequence[Rule]) -> Iterator[CheckLine]:
    """In money: what each rule gives an owner, what has none, and what stood idle."""
    whole, used = sight.money, sum(sight.worth)
    for rule in rules:
        told = (
            f"{', '.join(rule.values)} of {rule.key} is {rule.team}'s:"
            if rule.team
            else f"{rule.key} gives an owner to"
        )
        count = "" if rule.team else f", {counted(len(rule.values), 'owner')}"
        yield CheckLine(GOOD, "owners", f"{told} {of(rule.worth, whole, sight.currency)}{count}")
    left = used - sum(rule.worth for rule in rules)
    if left:
        fix = "label these workloads, or add a rule under `owners` in policy.yaml"
        yield CheckLine(NOTE, "owners", f"nothing tells whose is {of(left, whole, sight.currency)}", fix)
    if unknown := [pool.name for pool in sight.pools if not pool.offered]:
        fix = "read a source of capacity, such as kube_node_status_capacity, then set `method: capacity_rate`"
        yield CheckLine(NOTE, "capacity", f"nobody states how much {', '.join(unknown)} has: shared by use", fix)
    if len(unknown) < len(sight.pools):
        idle = int(whole * NANO) - used
        yield CheckLine(GOOD, "idle", f"capacity that nobody asked for is {of(idle, whole, sight.currency)}")


def of(nanos: int, whole: Decimal, currency: str) -> str:
    """`1,200.00 USD of 2,000.00 USD (60.0 %)`."""
    money = Decimal(nanos).scaleb(-9)
    share = Decimal(round(Fraction(nanos, NANO) / Fraction(whole) * 10**6)).scaleb(-6) if whole else None
    return f"{shown(money, currency)} of {shown(whole, currency)} ({percent(share)})"
