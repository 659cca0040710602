"""Which labels tell whose work it is: those that cover most, of those that look like an owner; namespaces where nothing else does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from apportion.verbs.proposing.groups import GROUP_WORDS, MODEL_WORDS, TYPE_WORDS, ends_in
from apportion.verbs.proposing.seen import Seen

OWNER_WORDS = (  # the earlier, the likelier it names who pays
    "team", "cost-center", "cost-centre", "costcenter", "cost_center", "squad", "owner", "group", "department", "org", "project", "account",
    "cluster-queue-name", "queue-name", "queue", "tenant", "customer", "user", "creator",
)  # fmt: skip
NOBODY = (
    "hash",
    "uid",
    "name",
    "instance",
    "version",
    "index",
    "revision",
    "node",
    "pod",
    "job",
    "part-of",
    "managed-by",
    "component",
    "app",
)
NAMESPACE = "k8s.namespace"
PLATFORM = "platform"  # who carries what is everybody's
SYSTEM = (
    "kube-system", "kube-public", "kube-node-lease", "monitoring", "gpu-operator", "cert-manager", "ingress-nginx", "istio-system",
    "kueue-system", "kubeflow", "argocd", "logging", "karpenter", "calico-system",
)  # fmt: skip
MOST_OWNERS = 200
WORTH = 50  # a further label must cover one part in so many


@dataclass(frozen=True, slots=True)
class Rule:
    """The values of `key` name the owner, or are all of one `team`; `worth` is what the rule adds to those before it."""

    key: str
    worth: int
    values: tuple[str, ...]  # most first
    team: str = ""


def rules_of(seen: Seen, worth: Sequence[int]) -> list[Rule]:
    """`worth` weighs each workload. The best label first; others as long as they cover what is left."""
    candidates = {key: seen.column(key) for key in keys_of(seen) if is_owner(key)}
    left = list(worth)
    whole = sum(left)
    namespaces = seen.column(NAMESPACE)
    made: list[Rule] = []
    system = [value if value in SYSTEM else None for value in namespaces]
    if any(system):
        made.append(replace(rule(NAMESPACE, system, left), team=PLATFORM))
    while candidates and whole:
        ranked = {
            key: sum(u for value, u in zip(column, left, strict=True) if value) for key, column in candidates.items()
        }
        key = max(ranked, key=lambda name: (ranked[name] * WORTH // whole, -rank(name), ranked[name], name))
        if ranked[key] * WORTH < whole:
            break
        made.append(rule(key, candidates.pop(key), left))
    if any(namespaces):
        made.append(rule(NAMESPACE, namespaces, left))
    return made


def rule(key: str, column: Sequence[str | None], left: list[int]) -> Rule:
    """Takes what it covers from `left`."""
    sums: dict[str, int] = {}
    for row, value in enumerate(column):
        if value:
            sums[value] = sums.get(value, 0) + left[row]
            left[row] = 0
    return Rule(key, sum(sums.values()), tuple(sorted(sums, key=lambda value: (-sums[value], value))))


def keys_of(seen: Seen) -> Iterator[str]:
    """Labels of pods, namespaces and annotations that have few enough values to be owners."""
    for key in sorted(set(seen.keys.unique().to_pylist())):
        if ".label." in key or ".namespace_label." in key or ".annotation." in key or not key.startswith("k8s."):
            values = {value for value in seen.column(key) if value}
            if 0 < len(values) <= max(MOST_OWNERS, 1) and (len(values) < seen.workloads or seen.workloads < 10):
                yield key


def is_owner(key: str) -> bool:
    return rank(key) < len(OWNER_WORDS)


def rank(key: str) -> int:
    """By the last part of the key: `k8s.label.example.com/team` is `team`."""
    last = re.split(r"[./]", key)[-1].lower()
    parts = set(re.split(r"[-_]", last))
    found = [place for place, word in enumerate(OWNER_WORDS) if word == last or word in parts]
    return min(found, default=len(OWNER_WORDS)) if last in OWNER_WORDS or not parts & set(NOBODY) else len(OWNER_WORDS)


def untold(seen: Seen, node_labels: Mapping[str, str]) -> list[str]:
    """What kube-state-metrics does not tell unless it is asked to."""
    keys = set(seen.keys.unique().to_pylist())
    kinds = (*GROUP_WORDS, *TYPE_WORDS, *MODEL_WORDS)
    told = {
        "pod": any(key.startswith("k8s.label.") for key in keys),
        "namespace": any(key.startswith("k8s.namespace_label.") for key in keys),
        "node": any(ends_in(key, kinds) for key in node_labels),
    }
    return [what for what, known in told.items() if not known]
