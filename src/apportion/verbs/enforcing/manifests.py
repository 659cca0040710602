"""What Kubernetes is to hold a team to: a ResourceQuota in each of its namespaces, or a queue of Kueue for all of them. Pure.

Kubernetes limits what is held at the same time, and a quota counts hours: what is left lasts until its window ends if at most left / hours until then
are held at once. That is the limit, one at least while something is left; the next plan follows what is left then.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from fractions import Fraction
from hashlib import sha256
from typing import Any

from apportion.reports.quotas import Used, figure

DAY_HOURS = 24
OWN = "apportion"
RESOURCE_QUOTA, CLUSTER_QUEUE, LOCAL_QUEUE, COHORT = "ResourceQuota", "ClusterQueue", "LocalQueue", "Cohort"
MANAGED = {"app.kubernetes.io/managed-by": OWN}
RESOURCES = {"gpu": "nvidia.com/gpu", "cpu": "cpu", "memory": "memory", "storage": "storage"}
UNITS = {"memory": "Gi", "storage": "Gi"}
BY_NAME = "kubernetes.io/metadata.name"
DNS = re.compile(r"[^a-z0-9-]+")
LONGEST = 50
Spec = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """Keys of an object's spec. `before` is None where it is to be made, `after` where it is to be taken away; a key that is None is not set."""

    kind: str
    name: str
    namespace: str
    before: Spec | None
    after: Spec | None

    @property
    def place(self) -> tuple[str, str, str]:
        return self.kind, self.namespace, self.name


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """`digest` is over what is changed, with the values before: it is applied as it was shown, or not at all."""

    cluster: str
    changes: tuple[Change, ...]
    said: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    undo: bool = False
    kueue: str = "v1beta1"

    @property
    def text(self) -> str:
        said = {"cluster": self.cluster, "undo": self.undo, "changes": [asdict(one) for one in self.changes]}
        return json.dumps({"to": "kubernetes", **said}, indent=1, sort_keys=True)

    @property
    def digest(self) -> str:
        return sha256(self.text.encode()).hexdigest()[:16]


def plan_of_text(text: str) -> ClusterPlan:
    said = json.loads(text)
    if said.get("to") != "kubernetes":
        raise ValueError(text)
    return ClusterPlan(said["cluster"], tuple(Change(**one) for one in said["changes"]), undo=said["undo"])


@dataclass(frozen=True, slots=True)
class Cluster:
    """How it stands: whose each namespace is, the specs of objects by kind, namespace and name, and the form of Kueue's that it takes."""

    name: str
    namespaces: Mapping[str, str]
    specs: Mapping[tuple[str, str, str], Spec] = field(default_factory=dict)
    kueue: str = "v1beta1"
    flavours: tuple[str, ...] = ()

    def of(self, team: str) -> list[str]:
        return sorted(name for name, owner in self.namespaces.items() if owner == team)

    def keys_of(self, place: tuple[str, str, str], keys: Spec) -> dict[str, Any] | None:
        """What is set of these; None where there is no such object."""
        return {key: self.specs[place].get(key) for key in keys} if place in self.specs else None


@dataclass(frozen=True, slots=True)
class Pace:
    """What a team may hold of something at once, by the one of its quotas that leaves least; of it what is borrowed, and what others may take."""

    used: Used
    hours: int

    def at_once(self, amount: Fraction) -> int:
        return max(int(amount / self.hours), 1 if amount > 0 else 0)

    @property
    def whole(self) -> int:
        return self.at_once(self.used.left)

    @property
    def nominal(self) -> int:
        """Its own, with what it lent: others have that of its queue, so that the sum stays."""
        moved = self.used.moved
        return self.at_once(max(Fraction(0), self.used.left - moved.borrowed) + moved.lent)

    @property
    def borrowing(self) -> int:
        return self.at_once(max(Fraction(0), min(self.used.moved.borrowed, self.used.left)))

    @property
    def lending(self) -> int:
        return min(self.at_once(self.used.moved.lent), self.nominal)


def paced(found: Sequence[Used], today: date) -> dict[str, dict[str, Pace]]:
    """By team and meter."""
    paces: dict[str, dict[str, Pace]] = {}
    for used in found:
        pace = Pace(used, ((used.last - today).days + 1) * DAY_HOURS)
        mine = paces.setdefault(used.limit.team, {})
        known = mine.get(used.limit.meter)
        if known is None or pace.whole < known.whole:
            mine[used.limit.meter] = pace
    return paces


def planned(
    quotas: Sequence[Used], queues: Sequence[Used], now: Cluster, today: date, flavour: str = ""
) -> ClusterPlan:
    """`quotas` become ResourceQuotas, `queues` queues of Kueue; all of whole teams and of levels that Kubernetes knows."""
    changes, said, warnings = [], [], []
    for team, paces in paced(quotas, today).items():
        spaces = now.of(team)
        changes += [one for each in resource_quotas(paces, spaces) for one in differing(each, now)]
        said += [pace_said(team, pace, f"namespaces {', '.join(spaces)}") for pace in paces.values() if spaces]
        warnings += list(warned(team, paces, spaces))
    chosen = flavour or (now.flavours[0] if now.flavours else "default-flavor")
    for team, paces in paced(queues, today).items():
        spaces = now.of(team)
        changes += [
            one for each in queue_objects(team, paces, spaces, now.kueue, chosen) for one in differing(each, now)
        ]
        said += [pace_said(team, pace, f"queue {queue_name(team)}") for pace in paces.values() if spaces]
        warnings += [] if spaces else [f"{team}: no namespace is its by the policy's owners, so nothing holds it"]
    if queues and chosen not in now.flavours:
        warnings.append(f"there is no ResourceFlavor {chosen}: make it, or name another with --flavour")
    return ClusterPlan(now.name, tuple(once(changes)), tuple(said), tuple(warnings), kueue=now.kueue)


def once(changes: Sequence[Change]) -> list[Change]:
    """The cohort is the same for all."""
    return list({one.place: one for one in changes}.values())


def resource_quotas(paces: Mapping[str, Pace], spaces: Sequence[str]) -> Iterator[tuple[str, str, str, Spec]]:
    """A ResourceQuota is of one namespace: those of a team share what it may hold, as evenly as whole numbers can be."""
    for number, space in enumerate(spaces):
        hard = {
            f"requests.{RESOURCES[meter]}": amount(meter, portion(pace.whole, number, len(spaces)))
            for meter, pace in sorted(paces.items())
        }
        yield RESOURCE_QUOTA, space, OWN, {"hard": hard}


def portion(whole: int, number: int, count: int) -> int:
    return whole // count + (number < whole % count)


def queue_objects(
    team: str, paces: Mapping[str, Pace], spaces: Sequence[str], version: str, flavour: str
) -> Iterator[tuple[str, str, str, Spec]]:
    """A ClusterQueue for the team in the cohort of all, and a LocalQueue in each of its namespaces."""
    if not spaces:
        return
    yield COHORT, "", OWN, {}
    resources = [resource(meter, pace) for meter, pace in sorted(paces.items())]
    group = {
        "coveredResources": [one["name"] for one in resources],
        "flavors": [{"name": flavour, "resources": resources}],
    }
    spec = {
        "cohort" if version == "v1beta1" else "cohortName": OWN,
        "namespaceSelector": {"matchExpressions": [{"key": BY_NAME, "operator": "In", "values": list(spaces)}]},
        "resourceGroups": [group],
    }
    yield CLUSTER_QUEUE, "", queue_name(team), spec
    for space in spaces:
        yield LOCAL_QUEUE, space, OWN, {"clusterQueue": queue_name(team)}


def resource(meter: str, pace: Pace) -> dict[str, str]:
    """What a soft quota's queue may borrow is not bounded."""
    bounds = {"borrowingLimit": amount(meter, pace.borrowing)} if pace.used.limit.hard else {}
    own = {"name": RESOURCES[meter], "nominalQuota": amount(meter, pace.nominal)}
    return {**own, **bounds, "lendingLimit": amount(meter, pace.lending)}


def amount(meter: str, number: int) -> str:
    return f"{number}{UNITS.get(meter, '') if number else ''}"


def queue_name(team: str) -> str:
    """Kubernetes' names are in small letters; a name that had to be changed says so by its end, so that no two teams share one."""
    plain = DNS.sub("-", team.casefold()).strip("-")[:LONGEST]
    return f"{OWN}-" + (plain if plain == team else f"{plain}-{sha256(team.encode()).hexdigest()[:6]}")


def differing(wanted: tuple[str, str, str, Spec], now: Cluster) -> Iterator[Change]:
    kind, space, name, after = wanted
    before = now.keys_of((kind, space, name), after)
    if before is None:
        yield Change(kind, name, space, None, after)
        return
    keys = [key for key in after if before[key] != after[key]]
    if keys:
        yield Change(kind, name, space, {key: before[key] for key in keys}, {key: after[key] for key in keys})


def undoing(applied: Sequence[ClusterPlan], now: Cluster) -> ClusterPlan:
    """Back to the values before the first of these plans: what was made is removed, queues before the cohort that they are in."""
    first: dict[tuple[str, str, str], Spec | None] = {}
    for change in (change for plan in applied for change in plan.changes):
        known = first.setdefault(change.place, None if change.before is None else {})
        if known is not None:
            first[change.place] = {**(change.before or {}), **known}
    order = (LOCAL_QUEUE, CLUSTER_QUEUE, COHORT, RESOURCE_QUOTA)
    changes = [
        one
        for place, values in sorted(first.items(), key=lambda one: order.index(one[0][0]))
        for one in back(place, values, now)
    ]
    return ClusterPlan(now.name, tuple(changes), undo=True)


def back(place: tuple[str, str, str], values: Spec | None, now: Cluster) -> Iterator[Change]:
    there = now.specs.get(place)
    if there is not None and values is None:
        yield Change(place[0], place[2], place[1], there, None)
    elif there is not None and values is not None:
        yield from differing((*place, values), now)


def is_at(change: Change, now: Cluster, values: Spec | None) -> bool:
    """Whether an object has these values: `before` where a change is due, `after` where it is done."""
    there = now.specs.get(change.place)
    if values is None or there is None:
        return there is None and values is None
    return all(there.get(key) == value for key, value in values.items())


def manifest(change: Change, kueue: str) -> dict[str, Any]:
    """The whole object, as `kubectl apply` takes it."""
    meta = {"name": change.name, "labels": MANAGED, **({"namespace": change.namespace} if change.namespace else {})}
    version = "v1" if change.kind == RESOURCE_QUOTA else f"kueue.x-k8s.io/{kueue}"
    spec = {key: value for key, value in (change.after or {}).items() if value is not None}
    return {"apiVersion": version, "kind": change.kind, "metadata": meta, "spec": spec}


def warned(team: str, paces: Mapping[str, Pace], spaces: Sequence[str]) -> Iterator[str]:
    if not spaces:
        yield f"{team}: no namespace is its by the policy's owners, so nothing holds it"
    for meter, pace in paces.items():
        if 0 < pace.whole < len(spaces):
            yield f"{team}: {pace.whole} of {meter} cannot be shared by {len(spaces)} namespaces; enforce: kueue has one queue for all"


def pace_said(team: str, pace: Pace, where: str) -> str:
    """`vision: 744 GPU-hours are left in the 288 hours until 2026-10-31, so at most 2 gpu at once, for namespaces ...`."""
    used, meter = pace.used, pace.used.limit.meter
    lasting = (
        f"{figure(max(Fraction(0), used.left))} {used.limit.unit} are left in the {pace.hours} hours until {used.last}"
    )
    shares = f" ({pace.borrowing} borrowed, {pace.lending} lent)" if used.moved.borrowed or used.moved.lent else ""
    return f"{team}: {lasting}, so at most {pace.whole} {meter} at once{shares}, for {where}"
