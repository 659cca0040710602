"""A job's charges: per pool its units times the price, inside what its owner's postings say."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.charges import charges_of
from apportion.errors import InvariantError
from apportion.model.money import plain
from apportion.model.rows import CHARGES
from apportion.policy.pools import Pool
from apportion.reports.held import views_of
from apportion.reports.sums import total
from apportion.reports.words import counted, shown
from apportion.verbs.explaining.clauses import clause
from apportion.verbs.explaining.lines import conversion_nodes, lines_node, placed_lines
from apportion.verbs.explaining.prices import measure_of, price_nodes
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.target import Target
from apportion.verbs.explaining.usage import Whose, usage_nodes
from apportion.verbs.plan import Computed
from apportion.verbs.project import Project


def job_charges(target: Target, computed: Computed) -> pa.Table:
    every = pa.Table.from_batches(charges_of(computed.plan), schema=CHARGES)
    return every.filter(pc.is_in(every["workload"], pa.array(target.workloads)))


def refuse_tampered_charges(project: Project, target: Target, computed: pa.Table, period: str) -> None:
    """The charges kept with the run must be what the evidence says now."""
    where = (pc.field("period") == period) & pc.field("workload").isin(list(target.workloads))
    kept = project.books.scan("charges", where=where)
    for pool in sorted({*computed["pool"].to_pylist(), *kept["pool"].to_pylist()}):
        for column, what in (("amount", "charges"), ("waste", "waste")):
            expected, found = (
                total(table.filter(pc.equal(table["pool"], pool))[column].drop_null().to_pylist())
                for table in (computed, kept)
            )
            if expected == found:
                continue
            raise InvariantError(
                f"{target.name} in {period}: the kept {what} of pool {pool} is not what cost lines and usage say",
                plain(expected),
                plain(found),
            )


def job_nodes(computed: Computed, charges: pa.Table, own: Whose) -> tuple[Node, ...]:
    """Pool by pool, in each currency that it is charged in."""
    policy, currencies = computed.world.policy, computed.plan.trace.setting.currencies
    placed = placed_lines(computed)
    groups: dict[tuple[str, str], list[int]] = {}
    for n, row in enumerate(charges.select(["pool", "bill"]).to_pylist()):
        groups.setdefault((row["pool"], currencies.get(row["bill"], policy.currency)), []).append(n)
    nodes = []
    for pool, currency in sorted(groups):
        here = charges.take(groups[pool, currency])
        units, amount = units_of(here), total(here["amount"].to_pylist())
        text = f"{pool}: {shown(amount, currency)} for {measure_of(policy.pools[pool]).amount(units)} on {counted(len(set(here['day'].to_pylist())), 'day')}"
        rule = clause(policy, f"shared by {policy.pools[pool].method.replace('_', ' ')}", "pools", pool)
        steps = (
            rule,
            lines_node(placed.only(currency), pool),
            *conversion_nodes(computed, placed.only(currency), pool),
            *price_nodes(computed, pool, currency),
            *usage_nodes(computed, pool, own),
            owner_node(here, currency),
            *held_nodes(here.to_pylist(), currency, policy.pools[pool]),
        )
        nodes.append(Node(text, {"pool": pool, "amount": amount, "currency": currency, "units": str(units)}, steps))
    return tuple(nodes)


def units_of(charges: pa.Table) -> int:
    """Each bill of a pool is shared by the same units: they count once."""
    counts: dict[tuple[str, object], int] = {}
    for (workload, day, _, _), units in grouped_units(charges).items():
        counts[workload, day] = max(counts.get((workload, day), 0), units)
    return sum(counts.values())


def grouped_units(charges: pa.Table) -> dict[tuple[str, object, str, str], int]:
    keys = ["workload", "day", "bill", "component"]
    found = charges.select([*keys, "unit_seconds"]).group_by(keys).aggregate([("unit_seconds", "sum")]).to_pylist()
    return {(row["workload"], row["day"], row["bill"], row["component"]): int(row["unit_seconds_sum"]) for row in found}


def owner_node(charges: pa.Table, currency: str) -> Node:
    """A charge is a whole number of nanos inside its owner's posting, by largest remainder."""
    amount = total(charges["amount"].to_pylist())
    text = f"{counted(len(charges), 'charge')} inside the postings of {owner_text(charges)}, whole nanos by largest remainder: {plain(amount)} {currency}"
    return Node(text, {"charges": len(charges), "amount": amount})


def held_nodes(charges: list[dict[str, Any]], currency: str, pool: Pool) -> list[Node]:
    """What was held and used, and which money is called waste; nothing for flows."""
    return [
        Node(f"{views.sentence(currency)}{waste_text(pool) if views.waste else ''}", dict(views.cells()))
        for views in views_of(charges)
    ]


def waste_text(pool: Pool) -> str:
    """Where the money of waste stands, by what the pool counts."""
    idle = f"idle money of what was held, which the rule `held: {pool.idle['held']}` places"
    if pool.method == "time":
        return ": the same part of the charge as of what was held"
    if pool.driver.kind == "used":
        return f": {idle}"
    inside = "what was held without use, at the prices of the charge and inside it"
    return (
        f": {inside}; and {idle}" if pool.driver.kind == "blend" and pool.method == "capacity_rate" else f": {inside}"
    )


def owner_text(charges: pa.Table) -> str:
    rows = charges.select(["team", "project", "user"]).to_pylist()
    return ", ".join(sorted({"/".join(filter(None, row.values())) for row in rows})) or "nobody"
