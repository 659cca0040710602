"""Money without an owner, largest first: which labels it carries, and the rule that would give it one."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.charges import charges_of
from apportion.engine.label_sets import rows_named
from apportion.engine.labels import named_in
from apportion.engine.lines import NO_POOL
from apportion.engine.workloads import unite
from apportion.model.kinds import kinds
from apportion.model.rows import CHARGES, UNALLOCATED
from apportion.policy.document import Policy
from apportion.policy.match import find_label
from apportion.reports.sums import total
from apportion.verbs.plan import Computed

FEW = 10
EXAMPLES = 3
TELLING = ("team", "account", "project", "namespace", "department", "user", "partition", "name")


@dataclass(frozen=True, slots=True)
class Gap:
    """`cause` as posted: no owner (workloads) or no pool (cost lines). `examples` are some of the workloads."""

    cause: str
    labels: Mapping[str, str]
    count: int
    currency: str
    amount: Decimal
    fix: str
    examples: tuple[str, ...] = ()


def gaps_of(computed: Computed) -> tuple[Gap, ...]:
    found = [gap for part in computed.parts for gap in (*unowned(part), *unpooled(part))]
    return tuple(sorted(found, key=lambda gap: (-abs(gap.amount), gap.cause, sorted(gap.labels.items())))[:FEW])


def unowned(computed: Computed) -> Iterable[Gap]:
    """Charges of workloads that no owner rule matches, by the labels that could tell whose they are."""
    charges = pa.Table.from_batches(charges_of(computed.plan), schema=CHARGES)
    currencies = computed.plan.trace.setting.currencies
    return owner_gaps(charges, computed.world.workloads, computed.world.policy, currencies)


def owner_gaps(charges: pa.Table, workloads: pa.Table, policy: Policy, currencies: Mapping[str, str]) -> Iterator[Gap]:
    mine = charges.filter(pc.equal(charges["team"], UNALLOCATED)).select(["bill", "workload", "amount"]).to_pylist()
    labels = told_of(workloads, {row["workload"] for row in mine}, asked_of(policy))
    sums: dict[tuple[str, tuple[tuple[str, str], ...]], list[Decimal]] = defaultdict(list)
    works: dict[tuple[str, tuple[tuple[str, str], ...]], set[str]] = defaultdict(set)
    for row in mine:
        key = (currencies.get(row["bill"], policy.currency), labels.get(row["workload"], ()))
        sums[key].append(row["amount"])
        works[key].add(row["workload"])
    for (currency, shown), amounts in sums.items():
        found = sorted(works[currency, shown])
        fix = owner_rule(dict(shown), policy)
        yield Gap("no owner", dict(shown), len(found), currency, total(amounts), fix, tuple(found[:EXAMPLES]))


def told_of(workloads: pa.Table, wanted: set[str], asked: Sequence[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    """By workload, the labels that could tell whose it is: of every source that speaks of it, together. Looked at once for all that have the same."""
    own = unite(rows_named(workloads, pa.array(sorted(wanted), pa.string())))
    said = own.select(["name", "labels"])
    few = kinds(said.columns, len(own))
    told = [
        telling(dict(row["labels"] or ()) | ({"name": row["name"]} if row["name"] else {}), asked)
        for row in said.take(pa.array(few.first)).to_pylist()
    ]
    return dict(zip(own["workload"].to_pylist(), (told[number] for number in few.of), strict=True))


def asked_of(policy: Policy) -> list[str]:
    """The labels that owner rules read."""
    return sorted({key for rule in policy.owners for key in (rule.when.keys | named_in([rule.team]))})


def telling(labels: Mapping[str, str], asked: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The labels that owner rules read; where a workload has none of them, the one that most likely names its owner."""
    found = {key: value for key in asked if (value := find_label(labels, key)) is not None}
    if found:
        return tuple(sorted(found.items()))
    for word in TELLING:
        for key in sorted(labels):
            if word in key.rpartition(".")[2].lower():
                return ((key, labels[key]),)
    return tuple(sorted(labels.items())[:2])


def owner_rule(labels: Mapping[str, str], policy: Policy) -> str:
    if not labels:
        return "label these workloads in the scheduler: nothing tells whose they are"
    near = likely_team(labels, policy) or "TEAM"
    when = ", ".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in labels.items())
    return f"under `owners` in {policy.file}: - {{when: {{{when}}}, team: {near}}}"


def likely_team(labels: Mapping[str, str], policy: Policy) -> str:
    """The team whose name is nearest to a label's value or a part of it; empty where none is near."""
    words = [part for value in labels.values() for part in (value, *value.replace("/", "-").split("-"))]
    return next((match for word in words for match in get_close_matches(word, policy.teams, n=1, cutoff=0.75)), "")


def unpooled(computed: Computed) -> Iterable[Gap]:
    """Cost lines that no pool claims, by service."""
    lines, placed = computed.world.cost_lines, computed.plan.trace.lines
    table = pa.table(
        {
            "service": lines["ServiceName"],
            "currency": placed.currencies(),
            "pool": placed.pool_of,
            "amount": placed.amounts,
        }
    )
    mine = table.filter(pc.equal(table["pool"], NO_POOL))
    sums = mine.group_by(["service", "currency"]).aggregate([("amount", "sum"), ("amount", "count")])
    for row in sums.to_pylist():
        service = row["service"] or ""
        when = json.dumps(service, ensure_ascii=False)
        fix = f"under `pools` in {computed.world.policy.file}: a pool with costs: {{ServiceName: {when}}}, or one with costs: otherwise"
        yield Gap(
            "no pool",
            {"ServiceName": service},
            row["amount_count"],
            row["currency"],
            row["amount_sum"],
            fix,
        )
