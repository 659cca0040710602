"""How sure a facet is: by what its rule reads, unless the rule says it. A rule is as sure as the least sure thing that it reads."""

from collections.abc import Iterable

from apportion.model.facets import SURENESS, Sure

SET_BY_PEOPLE = ("k8s.label.", "k8s.annotation.", "k8s.namespace_label.", "k8s.owner_label.", "slurm.comment", "tag.")
OF_TRACKERS = "ml."
OF_SCHEDULERS = ("ml.kind", "ml.role", "ml.queue", "ml.attempt", "ml.creator")  # what a tracker never says
NAMES = frozenset({"name", "run", "workload", "pod", "owner", "owners", "jobname"})
SEEN = frozenset({
    "image", "command", "args", "script", "entrypoint", "partition", "qos", "queue", "account", "namespace", "cluster", "node", "user", "group",
    "team", "project", "department", "cost_centre", "class", "kind", "owner_kind", "role", "attempt", "creator", "priority_class", "service_account",
    "outcome", "state", "exit_code", "resource",
})  # fmt: skip


def sure_by(labels: Iterable[str]) -> Sure:
    """A rule that reads nothing says it for all work: that is derived from nothing but itself."""
    found = [sure_of(label) for label in labels]
    return max(found, key=SURENESS.index) if found else "derived"


def sure_of(label: str) -> Sure:
    """A label that somebody put there states it, a tracker knows it, an image or a command lets it be derived, and a name guessed."""
    if label.startswith(SET_BY_PEOPLE):
        return "stated"
    if label.startswith(OF_TRACKERS) and label not in OF_SCHEDULERS:
        return "tracked"
    last = label.rpartition(".")[2]
    if last in NAMES:
        return "guessed"
    return "derived" if last in SEEN or label.startswith("gpu.") else "stated"
