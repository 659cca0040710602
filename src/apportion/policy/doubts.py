"""What is allowed but may not be what was meant. Each doubt becomes a sentence in `policy.warnings`."""

from collections.abc import Iterator
from difflib import get_close_matches

from apportion.model.meters import METERS
from apportion.model.rows import FOCUS_NUMBERS, FOCUS_TEXT
from apportion.policy.checks import Remark
from apportion.policy.clause import nearest
from apportion.policy.document import Policy
from apportion.policy.match import Selector, labels_in, literal
from apportion.policy.methods import MATTERS_WITH
from apportion.policy.pools import Pool
from apportion.policy.tree import Path

PHASES = ("training", "tuning", "evaluation", "interactive", "data", "inference")
COMPONENTS = frozenset({"support", "other", *(meter.component for meter in METERS.values())})
COLUMNS = {name.lower(): name for name in (*FOCUS_TEXT, *FOCUS_NUMBERS)}


def doubts(policy: Policy) -> Iterator[Remark]:
    if policy.effective.day != 1:
        yield Remark(
            ("effective",), f"a policy takes effect at the start of a month, and {policy.effective} is not one"
        )
    if not policy.pools:
        yield Remark((), "there is no pool, so every cost line stays unallocated")
    yield from _unknown_teams(policy)
    yield from _shadowed_owners(policy)
    yield from _idle_reservations(policy)
    yield from _unknown_phases(policy)
    yield from _uncounted_quotas(policy)
    yield from _of_nodes(policy)
    for name, pool in policy.pools.items():
        yield from _of_pool(name, pool)


def _named_teams(policy: Policy) -> Iterator[tuple[Path, str]]:
    for section in ("reservations", "adjustments", "quotas"):
        for step, rule in enumerate(getattr(policy, section)):
            if rule.team:
                yield (section, step, "team"), rule.team
    for name, pool in policy.pools.items():
        yield from ((("pools", name, "shares", team), team) for team in pool.shares)
        yield from ((("pools", name, "members", step), team) for step, team in enumerate(pool.members))
        if pool.over != "all":
            yield from ((("pools", name, "over", step), team) for step, team in enumerate(pool.over))


def _unknown_teams(policy: Policy) -> Iterator[Remark]:
    known = {*policy.teams, *filter(None, (literal(rule.team) for rule in policy.owners))}
    for path, team in _named_teams(policy):
        if team not in known:
            sentence = f"team {team!r} is not declared under teams and no owner rule names it"
            yield Remark(path, sentence, hint=nearest(team, known), key=path[2] == "shares")


def _shadowed_owners(policy: Policy) -> Iterator[Remark]:
    always: dict[Selector, int] = {}
    for step, rule in enumerate(policy.owners):
        first = always.get(rule.when, always.get(Selector()))
        if first is not None:
            sentence = f"owner rule {step + 1} is never reached: rule {first + 1} matches all that it does"
            yield Remark(("owners", step), sentence)
        if rule.from_ is None and rule.until is None:
            always.setdefault(rule.when, step)


def _idle_reservations(policy: Policy) -> Iterator[Remark]:
    for step, rule in enumerate(policy.reservations):
        pool = policy.pools[rule.pool]
        if rule.meter not in pool.meter:
            counted = " and ".join(pool.meter) or "no meter"
            yield Remark(
                ("reservations", step, "meter"),
                f"pool {rule.pool!r} counts {counted}, so a reservation of {rule.meter} has no effect in it",
            )


def _uncounted_quotas(policy: Policy) -> Iterator[Remark]:
    counted = {meter for pool in policy.pools.values() for meter in pool.meter}
    for step, quota in enumerate(policy.quotas):
        if quota.money is None and quota.meter not in counted and policy.pools:
            sentence = f"no pool counts {quota.meter}, so nothing counts in this quota"
            yield Remark(("quotas", step, "meter"), sentence, hint=f"give {quota.meter} a pool")


def _unknown_phases(policy: Policy) -> Iterator[Remark]:
    set_by_rules = {rule.sets["phase"] for rule in policy.facets if "phase" in rule.sets}
    for step, rule in enumerate(policy.facets):
        phase = literal(rule.sets.get("phase", "{phase}"))
        if phase is not None and phase not in PHASES:
            yield Remark(
                ("facets", step, "phase"), f"phase {phase!r} is not one of the usual ones", hint=nearest(phase, PHASES)
            )
    if any(literal(phase) is None for phase in set_by_rules):
        return
    for name, pool in policy.pools.items():
        for phase in pool.weights.get("phase", {}):
            if not {*"*?["} & {*phase} and phase not in {*PHASES, *set_by_rules}:
                path = ("pools", name, "weights", "phase", phase)
                yield Remark(
                    path,
                    f"no workload has the phase {phase!r}",
                    hint=nearest(phase, {*PHASES, *set_by_rules}),
                    key=True,
                )


def _of_pool(name: str, pool: Pool) -> Iterator[Remark]:
    for key, methods in MATTERS_WITH.items():
        if key in pool.model_fields_set and pool.method not in methods:
            yield Remark(("pools", name, key), f"{key} has no effect with the method {pool.method}", key=True)
    if pool.component is not None and pool.component not in COMPONENTS:
        yield Remark(
            ("pools", name, "component"),
            f"no meter drives the component {pool.component!r}",
            hint=nearest(pool.component, COMPONENTS),
        )
    for label in sorted(pool.costs.keys) if pool.costs else ():
        yield from _no_column(label, ("pools", name, "costs", label), key=True)


def _of_nodes(policy: Policy) -> Iterator[Remark]:
    for step, rule in enumerate(policy.nodes):
        for label in sorted(rule.when.keys):
            yield from _no_column(label, ("nodes", step, "when", label), key=True)
        for label in sorted(labels_in(rule.node)):
            yield from _no_column(label, ("nodes", step, "node"))


def _no_column(label: str, path: Path, *, key: bool = False) -> Iterator[Remark]:
    close = get_close_matches(label.lower(), COLUMNS, n=1, cutoff=0.85)
    if close and label not in COLUMNS.values():
        hint = f"did you mean {COLUMNS[close[0]]!r}?"
        yield Remark(path, f"{label!r} is not a column of a bill", hint=hint, key=key)
