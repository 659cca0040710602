"""Rules about work that ask for what only nodes say. Pools and weights read labels of both; prices, adjustments and facets those of work alone, so that
`{node: g02}` never matches unless the work itself names its node, as pods do.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal

from apportion.engine.setting import Setting
from apportion.engine.workloads import priced_facets
from apportion.model.findings import Finding
from apportion.policy.document import Policy
from apportion.policy.match import Selector, find_label

OF_NODES = ("node", "resource", "cluster")
Asked = tuple[str, tuple[str | int, ...], Selector]  # whose pool a rule is of, if of one; where it stands; what it asks


def find_unread_rules(setting: Setting) -> tuple[Finding, ...]:
    """One finding for each pool: nobody knows what the rules were meant to change, so they count as all of it."""
    if not len(setting.workforce.ids):
        return ()
    unread = unread_labels(setting)
    found: dict[str, list[str]] = {}
    for pool, path, selector in rules_of(setting.policy):
        for label in sorted(selector.keys & unread):
            found.setdefault(pool, []).append(f"{setting.policy.place(*path, label)} asks for {label!r}")
    return tuple(finding_of(pool, told) for pool, told in found.items())


def unread_labels(setting: Setting) -> frozenset[str]:
    """Labels that nodes have and no work has."""
    persons = [person for season in setting.workforce.seasons for person in season.persons]
    missing = {key for key in OF_NODES if all(find_label(person.labels, key) is None for person in persons)}
    return frozenset(key for key in missing if setting.resources.carries(key))


def rules_of(policy: Policy) -> Iterator[Asked]:
    for name, pool in policy.pools.items():
        for step, price in enumerate(pool.prices):
            if price.when:
                yield name, ("pools", name, "prices", step, "when"), price.when
    for step, adjustment in enumerate(policy.adjustments):
        if adjustment.when:
            yield adjustment.pool or "", ("adjustments", step, "when"), adjustment.when
    priced = priced_facets(policy)
    for step, rule in enumerate(policy.facets):
        if rule in priced:
            yield "", ("facets", step, "when"), rule.when


def finding_of(pool: str, told: Iterable[str]) -> Finding:
    where, *others = told
    more = f" (and {len(others)} more)" if others else ""
    return Finding(
        "label-of-nodes",
        f"{where}, which nodes say and no work does, so that it cannot tell work apart{more}",
        "give each kind of node a pool of its own (`usage: {node: ...}`), or let the log label its work",
        pool=pool,
        share=Decimal(1),
    )
