"""The ClusterRole that a reader of this source needs: the verb `list`, and nothing else."""

from collections.abc import Iterable

from apportion.sources.kubernetes.objects import KINDS, Kind


def rule_for(kinds: Iterable[Kind]) -> str:
    """As lines of a ClusterRole's `rules`, on one line for each group."""
    groups: dict[str, list[str]] = {}
    for kind in kinds:
        groups.setdefault(kind.group, []).append(kind.plural)
    return "; ".join(
        f'{{apiGroups: ["{group}"], resources: [{", ".join(sorted(plurals))}], verbs: [list]}}'
        for group, plurals in sorted(groups.items())
    )


def cluster_role(name: str = "apportion-reader") -> str:
    """The whole manifest."""
    rules = "\n".join(f"  - {rule}" for rule in rule_for(KINDS).split("; "))
    return f"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {name}}}\nrules:\n{rules}\n"
