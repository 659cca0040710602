"""Which owner rule made work somebody's: the rules that matched, with how many workloads each."""

from collections import Counter
from collections.abc import Collection, Mapping
from zoneinfo import ZoneInfo

import numpy as np

from apportion.engine.workloads import asked_labels, combinations, in_force, unite
from apportion.model.times import Interval
from apportion.policy.document import Policy
from apportion.reports.words import counted
from apportion.verbs.explaining.clauses import clause
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.usage import Whose
from apportion.verbs.plan import Computed

NOBODY = -1


def owner_nodes(computed: Computed, whose: Whose) -> tuple[Node, ...]:
    policy, workforce = computed.world.policy, computed.plan.trace.setting.workforce
    found = computed.once("labels", lambda: combinations(unite(computed.world.workloads), asked_labels(policy)))
    wanted = numbers_of(workforce.ids.to_pylist(), whose.workloads)
    counts: Counter[int] = Counter()
    for season in workforce.seasons:
        rows = season.person_of if wanted is None else season.person_of[wanted]
        for person, count in zip(*np.unique(rows, return_counts=True), strict=True):
            if whose.workloads or whose.owns(season.persons[person].owner):
                counts[first_rule(found.labels[person], policy, season.interval)] += int(count)
    nodes = [
        clause(policy, f"{counted(count, 'workload')} by the owner rule", "owners", rule)
        for rule, count in sorted(counts.items())
        if rule != NOBODY and count
    ]
    if counts[NOBODY]:
        nodes.append(
            Node(f"{counted(counts[NOBODY], 'workload')} that no owner rule matches", {"count": counts[NOBODY]})
        )
    return tuple(nodes)


def numbers_of(ids: list[str], wanted: Collection[str]) -> list[int] | None:
    return [number for number, known in enumerate(ids) if known in wanted] if wanted else None


def first_rule(labels: Mapping[str, str], policy: Policy, interval: Interval) -> int:
    zone = ZoneInfo(policy.time_zone)
    for number, rule in enumerate(policy.owners):
        if in_force(rule.from_, rule.until, interval, zone) and rule.when.matches(labels):
            return number
    return NOBODY
