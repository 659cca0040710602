"""One pool's part of a figure: its rule, its cost lines, its price, whose usage, weights, idle, credits and adjustments."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import REASONS
from apportion.policy.document import Policy
from apportion.policy.methods import VALUES_TEAMS
from apportion.policy.pools import Pool
from apportion.policy.services import ends_of
from apportion.reports.sums import grouped, share_of, total
from apportion.reports.words import add_up, digits, percent, shown
from apportion.verbs.explaining.clauses import adjustment_clauses, clause, sponsored_clauses
from apportion.verbs.explaining.lines import Placed, conversion_nodes, lines_node
from apportion.verbs.explaining.prices import price_nodes
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.usage import Whose, usage_nodes
from apportion.verbs.plan import Computed

NO_POOL = "no pool"


@dataclass(frozen=True, slots=True)
class Scene:
    """What is being explained: postings (of a team, a pool or one posting) of a computed plan."""

    computed: Computed
    placed: Placed
    rows: pa.Table
    whose: Whose

    @property
    def policy(self) -> Policy:
        return self.computed.world.policy


def pool_nodes(scene: Scene) -> tuple[Node, ...]:
    """Pools by falling size; several currencies are several nodes."""
    sums = grouped(scene.rows, ("currency", "pool"))
    order = sorted(sums, key=lambda key: (key[0], -abs(sums[key]), key[1]))
    own = {
        currency: replace(
            scene,
            rows=scene.rows.filter(pc.equal(scene.rows["currency"], currency)),
            placed=scene.placed.only(currency),
        )
        for currency, _ in order
    }
    return tuple(pool_node(own[currency], currency, pool) for currency, pool in order)


def pool_node(scene: Scene, currency: str, pool: str) -> Node:
    here = scene.rows.filter(pc.equal(scene.rows["pool"], pool))
    reasons = {reason: amount for (reason,), amount in grouped(here, ("reason",)).items()}
    amount = total(reasons.values())
    text = f"{pool or NO_POOL}: {shown(amount, currency)} = {sum_text(reasons, currency)}"
    steps = steps_of(scene, pool, reasons, currency) if pool in scene.policy.pools else causes(here, currency)
    return Node(text, {"pool": pool, "currency": currency, "amount": amount, "reasons": reasons}, steps)


def sum_text(parts: Mapping[str, Decimal], currency: str) -> str:
    """Parts in minor units that add up to the rounded sum."""
    names = sorted(parts, key=lambda name: REASONS.index(name) if name in REASONS else len(REASONS))
    figures = add_up([parts[name] for name in names], currency)
    return (
        " + ".join(f"{name} {digits(figure)}" for name, figure in zip(names, figures, strict=True)).replace("+ -", "- ")
        if names
        else "0"
    )


def causes(rows: pa.Table, currency: str) -> tuple[Node, ...]:
    return tuple(
        Node(
            f"{team} {reason}{', ' + cause if cause else ''}: {shown(amount, currency)}",
            {"team": team, "amount": amount, "currency": currency},
        )
        for (team, reason, cause), amount in grouped(rows, ("team", "reason", "cause")).items()
    )


def steps_of(scene: Scene, pool: str, reasons: Mapping[str, Decimal], currency: str) -> tuple[Node, ...]:
    policy, rule = scene.policy, scene.policy.pools[pool]
    steps = [clause(policy, how_shared(rule), "pools", pool), lines_node(scene.placed, pool, scene.whose.span)]
    steps += conversion_nodes(scene.computed, scene.placed, pool)
    steps += [
        clause(policy, f"receives {percent_of(ends[pool])} of what {name} costs", "pools", name, "serves")
        for name, ends in ends_of(policy.pools).items()
        if pool in ends
    ]
    steps += price_nodes(scene.computed, pool, currency, scene.whose.span)
    if rule.meter and scene.whose.called:
        steps += usage_nodes(scene.computed, pool, scene.whose)
    if rule.weights and "usage" in reasons:
        steps.append(weights_node(scene, pool))
    if rule.method == "by_cost":
        steps.append(overhead_node(scene, pool, currency))
    steps += idle_nodes(scene, pool, reasons, currency)
    if "credit" in reasons:
        steps += [
            clause(policy, f"credited for {credit.outcome}", "pools", pool, "credit", n)
            for n, credit in enumerate(rule.credit)
        ]
    teams = scene.whose.teams
    team = next(iter(teams)) if len(teams) == 1 else None
    if "adjustment" in reasons:
        steps += adjustment_clauses(policy, team, pool)
    if "subsidy" in reasons and team:
        steps += sponsored_clauses(policy, team, pool)
    return tuple(steps)


def how_shared(rule: Pool) -> str:
    how = f"shared by {rule.method.removeprefix('by_').replace('_', ' ')}"
    if not rule.meter:
        return how
    each = "teams compared by" if rule.method in VALUES_TEAMS else "one price per"
    return f"{how} over {', '.join(rule.meter)} ({rule.driver.kind}), {each} {rule.slot}"


def percent_of(part: Fraction) -> str:
    return f"{float(100 * part):.1f} %"


def weights_node(scene: Scene, pool: str) -> Node:
    """Which weights met in the pool; the used money as a whole stays what it was."""
    keys = scene.policy.pools[pool].weights
    listed = "; ".join(
        f"{key}: " + ", ".join(f"{glob} {float(weight):g}" for glob, weight in values.items())
        for key, values in keys.items()
    )
    node = clause(scene.policy, "weights re-share the used part", "pools", pool, "weights")
    return Node(f"{node.text}  ({listed}; anything else 1)", node.facts)


def overhead_node(scene: Scene, pool: str, currency: str) -> Node:
    """Everybody's part of an overhead, as posted."""
    every = scene.computed.plan.postings
    here = every.filter(
        pc.and_(
            pc.equal(every["currency"], currency),
            pc.and_(pc.equal(every["pool"], pool), pc.equal(every["reason"], "overhead")),
        )
    )
    given = total(amount for amount in here["amount"].to_pylist() if amount > 0)
    mine = scene.rows.filter(pc.and_(pc.equal(scene.rows["pool"], pool), pc.equal(scene.rows["reason"], "overhead")))
    own = total(mine["amount"].to_pylist())
    text = f"in proportion to what each owner was charged before: {shown(own, currency)} of {shown(given, currency)} ({percent(share_of(own, given))})"
    return Node(text, {"own": own, "all": given})


def idle_nodes(scene: Scene, pool: str, reasons: Mapping[str, Decimal], currency: str) -> list[Node]:
    if "idle" not in reasons:
        return []
    here = scene.rows.filter(pc.and_(pc.equal(scene.rows["pool"], pool), pc.equal(scene.rows["reason"], "idle")))
    rules = scene.policy.pools[pool].idle
    return [
        clause(
            scene.policy,
            f"idle {cause} {shown(amount, currency)} goes by the rule {rules.get(cause, 'central')!r}",
            "pools",
            pool,
            "idle",
        )
        for (cause,), amount in grouped(here, ("cause",)).items()
        if cause in rules
    ]
