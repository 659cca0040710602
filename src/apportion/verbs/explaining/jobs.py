"""A job's charges: per pool its units times the price, inside what its owner's postings say."""

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.charges import charges_of
from apportion.errors import InvariantError
from apportion.model.money import plain
from apportion.model.rows import CHARGES
from apportion.reports.sums import total
from apportion.reports.words import counted, shown
from apportion.verbs.explaining.clauses import clause
from apportion.verbs.explaining.lines import lines_node, placed_lines
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
        expected, found = (
            total(table.filter(pc.equal(table["pool"], pool))["amount"].to_pylist()) for table in (computed, kept)
        )
        if expected != found:
            raise InvariantError(
                f"{target.name} in {period}: the kept charges of pool {pool} are not what cost lines and usage say",
                plain(expected),
                plain(found),
            )


def job_nodes(computed: Computed, charges: pa.Table, own: Whose) -> tuple[Node, ...]:
    policy, currencies = computed.world.policy, computed.plan.trace.setting.currencies
    placed = placed_lines(computed)
    nodes = []
    for pool in sorted(set(charges["pool"].to_pylist())):
        here = charges.filter(pc.equal(charges["pool"], pool))
        units = sum(int(value) for value in here["unit_seconds"].to_pylist())
        currency = currencies.get(here["bill"][0].as_py(), policy.currency)
        amount = total(here["amount"].to_pylist())
        text = f"{pool}: {shown(amount, currency)} for {measure_of(policy.pools[pool]).amount(units)} on {counted(len(set(here['day'].to_pylist())), 'day')}"
        rule = clause(policy, f"shared by {policy.pools[pool].method.replace('_', ' ')}", "pools", pool)
        steps = (
            rule,
            lines_node(placed, pool),
            *price_nodes(computed, pool),
            *usage_nodes(computed, pool, own),
            owner_node(here, currency),
        )
        nodes.append(Node(text, {"pool": pool, "amount": amount, "currency": currency, "units": str(units)}, steps))
    return tuple(nodes)


def owner_node(charges: pa.Table, currency: str) -> Node:
    """A charge is a whole number of nanos inside its owner's posting, by largest remainder."""
    amount = total(charges["amount"].to_pylist())
    text = f"{counted(len(charges), 'charge')} inside the postings of {owner_text(charges)}, whole nanos by largest remainder: {plain(amount)} {currency}"
    return Node(text, {"charges": len(charges), "amount": amount})


def owner_text(charges: pa.Table) -> str:
    rows = charges.select(["team", "project", "user"]).to_pylist()
    return ", ".join(sorted({"/".join(filter(None, row.values())) for row in rows})) or "nobody"
