"""By which labels policies tell things apart: what may not change in old evidence without moving money."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from apportion.policy.clause import Clause
from apportion.policy.document import Policy
from apportion.policy.match import Glob, Selector, labels_in


@dataclass(frozen=True, slots=True)
class Telling:
    """`users` are the labels whose value is a user; `fixed` those whose value is anything else's name; `globs` what rules ask of a label."""

    users: frozenset[str]
    fixed: frozenset[str]
    globs: Mapping[str, frozenset[Glob]]

    def differs(self, label: str, old: str, new: str) -> bool:
        """Whether some rule would tell the new value of a label from the old one."""
        if any(is_called(label, key) for key in self.fixed):
            return True
        asked = (glob for key, globs in self.globs.items() if is_called(label, key) for glob in globs)
        return any(glob.matches(old) != glob.matches(new) for glob in asked)


def is_called(label: str, key: str) -> bool:
    """As `find_label` would find it."""
    return label == key or label.endswith("." + key)


def told_by(policies: Iterable[Policy]) -> Telling:
    users: set[str] = set()
    fixed: set[str] = set()
    globs: dict[str, set[Glob]] = {}
    for policy in policies:
        for rule in policy.owners:
            named = labels_in(rule.user)
            (users if rule.user == "".join(f"{{{label}}}" for label in named[:1]) else fixed).update(named)
            fixed.update(labels_in(rule.team), labels_in(rule.project))
        fixed.update(
            label for rule in policy.facets for template in rule.sets.values() for label in labels_in(template)
        )
        fixed.update(label for rule in policy.nodes for label in labels_in(rule.node))
        fixed.update(key for pool in policy.pools.values() for key in pool.weights)
        for key, glob in asked_in(policy):
            globs.setdefault(key, set()).add(glob)
    return Telling(frozenset(users), frozenset(fixed), {key: frozenset(some) for key, some in globs.items()})


def asked_in(value: object) -> Iterator[tuple[str, Glob]]:
    """Every glob of every selector of a document, with its label."""
    if isinstance(value, Selector):
        for condition in value.conditions:
            yield from ((condition.key, glob) for glob in (*condition.globs, *sum(condition.without, ())))
        for selector in value.excluded:
            yield from asked_in(selector)
    elif isinstance(value, Clause):
        for name in type(value).model_fields:
            yield from asked_in(getattr(value, name))
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from asked_in(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from asked_in(part)
