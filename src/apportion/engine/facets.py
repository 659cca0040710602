"""What kind of work it was: the facets of workloads, by the policy's rules, and how sure each is."""

from collections.abc import Iterable, Mapping

import pyarrow as pa

from apportion.engine.workloads import Census, combinations, told_labels, unite
from apportion.model.facets import FACETS, SURENESS, Fact, Sure
from apportion.model.times import Interval
from apportion.policy.document import Policy
from apportion.policy.match import fill
from apportion.policy.rules import FacetRule

OWN: Sure = "stated"  # what a source says of its own work


def faceted(workloads: pa.Table, policy: Policy, window: Interval) -> pa.Table:
    """One row per workload: its id, its name, and each facet that a rule sets, with its outcome; empty where none does."""
    united = unite(workloads)
    found = combinations(united, told_labels(policy))
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


def known_facets(workloads: pa.Table, policy: Policy, window: Interval) -> list[Mapping[str, Fact]]:
    """The facets of each workload, in the rows' order, with how sure they are. `workloads` as `unite` gives them: one row each."""
    found = combinations(workloads, told_labels(policy))
    census = Census(policy, window, [])
    everybody = [census.person(labels).labels for labels in found.labels]
    kinds: list[Mapping[str, Fact]] = [facts_by(census.rules(labels), labels) for labels in everybody]
    return [kinds[number] for number in found.of_row]


def facts_by(rules: Iterable[FacetRule], labels: Mapping[str, str]) -> dict[str, Fact]:
    """Of rules that match: the first that sets a facet decides it, as in `workloads.facets_by`; an outcome that none sets is its source's.

    A rule that asks for another facet is no surer than that one.
    """
    found: dict[str, Fact] = {}
    for rule in rules:
        asked = [found[key].sure for key in rule.when.keys if key in found]
        for name, template in rule.sets.items():
            value = fill(template, labels) if name not in found else None
            if value:
                found[name] = Fact(value, max([rule.how_sure(name), *asked], key=SURENESS.index))
    own = {"outcome": Fact(labels["outcome"], OWN)} if labels.get("outcome") else {}
    return own | found
