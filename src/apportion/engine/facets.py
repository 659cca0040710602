"""What kind of work it was: the facets of workloads, by the policy's rules."""

import pyarrow as pa

from apportion.engine.workloads import Census, asked_labels, combinations, unite
from apportion.model.times import Interval
from apportion.policy.document import Policy
from apportion.policy.rules import FACETS


def faceted(workloads: pa.Table, policy: Policy, window: Interval) -> pa.Table:
    """One row per workload: its id, its name, and each facet that a rule sets, with its outcome; empty where none does."""
    united = unite(workloads)
    found = combinations(united, asked_labels(policy))
    census = Census(policy, window, [])
    persons = [census.person(labels) for labels in found.labels]
    kinds = [census.facets(one.labels) for one in persons]
    outcomes = [one.labels.get("outcome", "") for one in persons]
    set_by_rules = {name for rule in policy.facets for name in rule.sets}
    columns = {
        name: [
            kind.get(name, outcome if name == "outcome" else "") for kind, outcome in zip(kinds, outcomes, strict=True)
        ]
        for name in FACETS
        if name in set_by_rules or name == "outcome"
    }
    rows = pa.array(found.of_row)
    return pa.table(
        {"workload": united["workload"], "name": united["name"]}
        | {name: pa.array(values, pa.string()).take(rows) for name, values in columns.items()}
    )
