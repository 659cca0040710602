"""What the policy's weights claim, beside what was measured: work and energy of workloads, and what the nodes cost by the bills."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.meters import GPU
from apportion.model.rows import held_amounts
from apportion.model.times import Interval
from apportion.policy.match import Glob, find_label
from apportion.policy.pools import Pool
from apportion.reports.review.weights import Claim, Evidence, Pair
from apportion.reports.sums import total
from apportion.verbs.advising.charged import ACCELERATORS
from apportion.verbs.nodes import tied
from apportion.verbs.plan import Computed
from apportion.verbs.reviewing.work import BOARDS, FACETS, HOUR_S, SEVERAL, Month, hours, single

if TYPE_CHECKING:
    from decimal import Decimal

ENERGY = "energy"
Row = Mapping[str, Any]
Named = Mapping[str, str]  # workload or node -> the value of a label


@dataclass(frozen=True, slots=True)
class Weights:
    """Those of one label in a pool."""

    pool: str
    label: str
    by_value: Mapping[str, Fraction]

    def texts(self, values: Named) -> Named:
        """Which of them each workload or node has, "" where its value is not listed and counts 1. Without those whose value nobody knows."""
        known = {value: self.text_of(value) for value in set(values.values()) if value not in ("", SEVERAL)}
        return {name: known[value] for name, value in values.items() if value in known}

    def text_of(self, value: str) -> str:
        if value in self.by_value:
            return value
        return next((text for text in self.by_value if Glob(text).matches(value)), "")


def claims_of(computed: Computed, month: Month, currency: str) -> Iterator[Claim]:
    """Of labels that nodes carry, such as the GPU's model, and of facets."""
    weighted = {name: pool for name, pool in computed.world.policy.pools.items() if pool.weights}
    joules = energy_of(computed) if weighted else {}
    for name, pool in weighted.items():
        mine = pc.and_(pc.equal(month.charged["pool"], name), pc.equal(month.charged["currency"], currency))
        rows = month.charged.filter(mine).to_pylist()
        paid = paid_nodes(computed, name, pool, currency)
        for label, by_value in pool.weights.items():
            yield from claimed(Weights(name, label, by_value), Measured(computed, month, rows, joules, paid), currency)


@dataclass(frozen=True, slots=True)
class Measured:
    """Of a pool: its charges by workload, joules by workload, and money over capacity by node."""

    computed: Computed
    month: Month
    rows: Sequence[Row]
    joules: Mapping[str, Fraction]
    paid: Mapping[str, Pair]


def claimed(weights: Weights, known: Measured, currency: str) -> Iterator[Claim]:
    nodes = node_values(known.computed, weights.label)
    values = single(known.month.placed, nodes) if nodes else facet_values(known.month, weights.label)
    texts = {"price": weights.texts(nodes)}
    works = weights.texts(values)
    kinds = evidence_of(known, by_node=bool(nodes))
    for text, weight in weights.by_value.items():
        own = [row for row in known.rows if works.get(row["workload"]) == text]
        found = (compared(kind, text, weights, texts.get(kind, works), pairs) for kind, pairs in kinds.items())
        if own and weight:
            amount, count = total(row["amount"] for row in own), len({row["workload"] for row in own})
            evidence = tuple(one for one in found if one)
            yield Claim(weights.pool, weights.label, text, weight, evidence, count, currency, amount)


def evidence_of(known: Measured, *, by_node: bool) -> Mapping[str, Mapping[str, Pair]]:
    """What a node costs is known from the bills, and then nothing else counts; what a workload does, from its activity and its energy."""
    energy = {ENERGY: drawn(known.rows, known.joules)}
    if by_node:
        return {"price": known.paid} if known.paid else energy
    return {"activity": activity(known.rows), **energy}


def compared(kind: str, text: str, weights: Weights, texts: Named, pairs: Mapping[str, Pair]) -> Evidence | None:
    """Against those that no weight is written for; where there are none, against all others as they are weighed."""
    own = [pair for name, pair in pairs.items() if texts.get(name) == text]
    others = [(texts[name], pair) for name, pair in pairs.items() if name in texts and texts[name] != text]
    others = [one for one in others if not one[0]] or others
    whole = sum((over for _, (_, over) in others), Fraction(0))
    if not own or not whole:
        return None
    level = sum((over * weights.by_value.get(name, Fraction(1)) for name, (_, over) in others), Fraction(0)) / whole
    return Evidence(kind, tuple(own), tuple(pair for _, pair in others), level)


def node_values(computed: Computed, label: str) -> Named:
    labels = computed.plan.own.trace.setting.resources.labels
    return {node: value for node, own in labels.items() if (value := find_label(own, label))}


def facet_values(month: Month, label: str) -> Named:
    """Other labels say nothing of what a workload does: what they weigh is for people to decide."""
    if label not in FACETS:
        return {}
    return dict(zip(month.kinds["workload"].to_pylist(), month.kinds[label].to_pylist(), strict=True))


def activity(rows: Sequence[Row]) -> dict[str, Pair]:
    """Used of what was held and measured."""
    return summed(
        (row["workload"], (hours(row, "used"), hours(row, "held") - hours(row, "unmeasured"))) for row in counted(rows)
    )


def drawn(rows: Sequence[Row], joules: Mapping[str, Fraction]) -> dict[str, Pair]:
    """Joules over hours held, of workloads that were measured."""
    held = summed((row["workload"], (Fraction(0), hours(row, "held"))) for row in counted(rows))
    return {name: (joules[name], over) for name, (_, over) in held.items() if name in joules}


def counted(rows: Sequence[Row]) -> Iterator[Row]:
    """Those with hours; of a pool's other components there is money alone."""
    return (row for row in rows if row["unit"] in BOARDS and row["held"])


def summed(pairs: Iterable[tuple[str, Pair]]) -> dict[str, Pair]:
    found: dict[str, Pair] = {}
    for name, (measured, over) in pairs:
        before = found.get(name, (Fraction(0), Fraction(0)))
        found[name] = before[0] + measured, before[1] + over
    return {name: pair for name, pair in found.items() if pair[1] > 0}


def energy_of(computed: Computed) -> dict[str, Fraction]:
    """Joules by workload, as far as they fall into the month."""
    usage, month = computed.world.usage, computed.world.period.interval(ZoneInfo(computed.world.policy.time_zone))
    rows = usage if isinstance(usage, pa.Table) else usage.filter(usage.meter == ENERGY).to_pyarrow()
    rows = rows.filter(pc.equal(rows["meter"], ENERGY))
    start, end, amount = (column.to_numpy() for column in (rows["start_s"], rows["end_s"], held_amounts(rows)))
    inside = np.maximum(np.minimum(end, month.end_s) - np.maximum(start, month.start_s), 0)
    found: dict[str, Fraction] = defaultdict(Fraction)
    for name, joules, seconds, whole in zip(
        rows["workload"].to_pylist(), amount.tolist(), inside.tolist(), (end - start).tolist(), strict=True
    ):
        if seconds:
            found[name] += Fraction(joules * seconds, whole)
    return found


def paid_nodes(computed: Computed, name: str, pool: Pool, currency: str) -> dict[str, Pair]:
    """Money of each node of a pool, as bills and nodes are tied, over the hours of its accelerators."""
    there = offered(computed, [meter for meter in pool.meter if meter in ACCELERATORS])
    money: dict[str, list[Decimal]] = defaultdict(list)
    for (billed, _, node, *_), amount in tied(Computed(computed.world, computed.plan.own), [name]):
        if billed == currency and node in there:
            money[node].append(amount)
    sums = {node: total(amounts) for node, amounts in money.items()}
    return {node: (Fraction(amount), there[node]) for node, amount in sums.items() if amount > 0 and there[node]}


def offered(computed: Computed, meters: Sequence[str]) -> dict[str, Fraction]:
    month = computed.world.period.interval(ZoneInfo(computed.world.policy.time_zone))
    found: dict[str, Fraction] = defaultdict(Fraction)
    for row in computed.plan.own.trace.setting.capacity:
        if row["meter"] in meters:
            seconds = Interval(row["start_s"], row["end_s"]).clip(month).seconds
            found[row["resource"]] += Fraction(row["amount"] * max(seconds, 0), GPU * HOUR_S)
    return found
