"""What can only be seen with the whole document in view: names that must exist, and rules that claim the same."""

from collections.abc import Iterator
from dataclasses import dataclass

from apportion.model.rows import OUTCOMES
from apportion.policy.clause import nearest
from apportion.policy.document import Policy
from apportion.policy.match import literal
from apportion.policy.methods import SERVICES
from apportion.policy.quotas import named, too_many, twice
from apportion.policy.services import stuck
from apportion.policy.tree import Path


@dataclass(frozen=True, slots=True)
class Remark:
    """Something at `path` (at its key with `key`); `other` is a second place that it clashes with."""

    path: Path
    message: str
    code: str = ""
    hint: str = ""
    key: bool = False
    other: Path = ()


def mistakes(policy: Policy) -> Iterator[Remark]:
    yield from _unknown_pools(policy)
    yield from _claimed_twice(policy)
    yield from _services(policy)
    yield from _unknown_outcomes(policy)
    yield from _quotas(policy)


def _unknown_pools(policy: Policy) -> Iterator[Remark]:
    for section in ("reservations", "adjustments", "quotas"):
        for step, rule in enumerate(getattr(policy, section)):
            if rule.pool is not None and rule.pool not in policy.pools:
                hint = nearest(rule.pool, policy.pools)
                yield Remark((section, step, "pool"), f"there is no pool {rule.pool!r}", "policy-reference", hint)


def _claimed_twice(policy: Policy) -> Iterator[Remark]:
    seen: dict[object, str] = {}
    for name, pool in policy.pools.items():
        claim = "otherwise" if pool.otherwise else pool.costs
        if claim is None:
            continue
        if claim in seen:
            what = "what no other pool claims" if pool.otherwise else "the same cost lines"
            yield Remark(
                ("pools", name, "costs"),
                f"pools {seen[claim]!r} and {name!r} both claim {what}",
                "policy-overlap",
                "give one of them narrower costs, or make them one pool",
                other=("pools", seen[claim], "costs"),
            )
        seen.setdefault(claim, name)


def _services(policy: Policy) -> Iterator[Remark]:
    """Whom a pool may serve, and that its money ends somewhere."""
    serving = [name for name, pool in policy.pools.items() if pool.method in SERVICES]
    for name in serving:
        pool, path = policy.pools[name], ("pools", name)
        if pool.method != policy.pools[serving[0]].method:
            sentence = f"pools {serving[0]!r} and {name!r} pass their money on in two ways"
            yield Remark((*path, "method"), sentence, "policy-value", "use one of the two methods for all")
        for receiver in pool.serves:
            where = (*path, "serves", receiver)
            if receiver not in policy.pools:
                hint = nearest(receiver, policy.pools)
                yield Remark(where, f"there is no pool {receiver!r}", "policy-reference", hint, key=True)
            elif policy.pools[receiver].method == "direct":
                sentence = f"{receiver!r} is paid by whoever its own lines name, so it cannot be served"
                yield Remark(where, sentence, "policy-value", "serve a pool that is shared", key=True)
    if all(receiver in policy.pools for name in serving for receiver in policy.pools[name].serves):
        kept = stuck(policy.pools)
        if kept is not None:
            sentence = f"the money of {kept!r} never leaves the pools that serve each other"
            yield Remark(
                ("pools", kept, "serves"), sentence, "policy-loop", "let it serve a pool that is shared by use, too"
            )


def _unknown_outcomes(policy: Policy) -> Iterator[Remark]:
    """An outcome is one that sources report or that a facet rule sets; a template may set any."""
    templates = [rule.sets["outcome"] for rule in policy.facets if "outcome" in rule.sets]
    if any(literal(template) is None for template in templates):
        return
    known = {*OUTCOMES, *filter(None, map(literal, templates))}
    for name, pool in policy.pools.items():
        for step, credit in enumerate(pool.credit):
            if credit.outcome not in known:
                path = ("pools", name, "credit", step, "outcome")
                yield Remark(
                    path, f"there is no outcome {credit.outcome!r}", "policy-value", nearest(credit.outcome, known)
                )


def _quotas(policy: Policy) -> Iterator[Remark]:
    """Two that say the same, children that do not fit, departments that no team is of."""
    quotas, departments = policy.quotas, {name: team.department for name, team in policy.teams.items()}
    for step, other in twice(quotas):
        what, pool, per, _ = quotas[step].what
        where = f" in {pool}" if pool else ""
        sentence = f"{named(quotas[step])} has two quotas of {what}{where} a {per} on the same days"
        hint = "keep one, or give them days (from, until) that do not meet"
        yield Remark(("quotas", step), sentence, "policy-overlap", hint, other=("quotas", other))
    for step, level, found in too_many(quotas, departments):
        own = quotas[step]
        sentence = f"the quotas of {own.what[0]} of the {level}s of {named(own)} add up to {found}, and they must fit in {own.size}"
        yield Remark(
            ("quotas", step, "children"),
            sentence,
            "policy-value",
            "lower theirs, raise this one, or write children: free",
        )
    for step, quota in enumerate(quotas):
        if quota.department and quota.department not in departments.values():
            sentence = f"no team is of the department {quota.department!r}"
            known = nearest(quota.department, set(departments.values()) - {""})
            yield Remark(("quotas", step, "department"), sentence, "policy-reference", known)
