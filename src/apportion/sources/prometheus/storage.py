"""Persistent volume claims: what was asked for as long as the claim was bound, and what lies in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from apportion.sources.live import Progress
from apportion.sources.prometheus.gaps import Gaps
from apportion.sources.prometheus.reading import Reading
from apportion.sources.prometheus.samples import Buckets, Series, hold, union
from apportion.sources.prometheus.selectors import Selector, select
from apportion.sources.prometheus.spelling import Keys
from apportion.sources.prometheus.steps import Steps, clipped, merged, overlap, positive, steps_of
from apportion.sources.prometheus.sums import Levels

ASKED = select("kube_persistentvolumeclaim_resource_requests_storage_bytes")
BOUND = select("kube_persistentvolumeclaim_status_phase", phase="Bound")
USED = select("kubelet_volume_stats_used_bytes")
CLAIM = "persistentvolumeclaim"
Place = tuple[str, str]  # namespace and claim


@dataclass
class Claims:
    asked: dict[Place, Steps] = field(default_factory=dict)
    used: Levels | None = None
    labels: dict[Place, dict[str, str]] = field(default_factory=dict)


def read_claims(reading: Reading, gaps: Gaps, keys: Keys) -> Iterator[Claims | Progress]:
    claims = Claims(used=Levels.of(Buckets(reading.window, reading.how.bucket_s)))
    bound: dict[Place, Steps] = {}
    yield from read_steps(reading, ASKED, claims.asked, gaps)
    yield from read_steps(reading, BOUND, bound, None)
    yield from read_used(reading, claims)
    for place, steps in claims.asked.items():
        whole = positive(merged(steps))
        claims.asked[place] = overlap(positive(merged(bound[place])), whole) if place in bound else whole
    tell(reading, claims, keys)
    yield claims


def read_steps(reading: Reading, selector: Selector, into: dict[Place, Steps], gaps: Gaps | None) -> Iterator[Progress]:
    for part in reading.parts(selector, "namespace"):
        if isinstance(part, Progress):
            yield part
            continue
        for place, series in by_place(part.series).items():
            held = hold(*union(series), part.step(series[0]), reading.how.pad_s)
            into.setdefault(place, []).extend(clipped(steps_of(held), part.buckets.window))
            if gaps is not None:
                gaps.note(selector.name, held, "/".join(place))


def read_used(reading: Reading, claims: Claims) -> Iterator[Progress]:
    for part in reading.parts(USED, "namespace"):
        if isinstance(part, Progress):
            yield part
            continue
        for place, series in by_place(part.series).items():  # a volume that many nodes mount is told by each
            held = hold(*union(series), part.step(series[0]), reading.how.pad_s)
            if claims.used is not None:
                claims.used.add(place, part.buckets, (held.start, held.end), held.values)


def tell(reading: Reading, claims: Claims, keys: Keys) -> None:
    for name, prefix in (("kube_persistentvolumeclaim_info", ""), ("kube_persistentvolumeclaim_labels", "label_")):
        for labels, _ in reading.facts(Selector(name)):
            place = (labels.get("namespace", ""), labels.get(CLAIM, ""))
            found = claims.labels.setdefault(place, {})
            if prefix:
                found |= {f"k8s.label.{key}": value for key, value in keys.labels(labels).items()}
            elif labels.get("storageclass"):
                found["k8s.storageclass"] = labels["storageclass"]


def by_place(series: list[Series]) -> dict[Place, list[Series]]:
    found: dict[Place, list[Series]] = {}
    for one in series:
        found.setdefault((one.labels.get("namespace", ""), one.labels.get(CLAIM, "")), []).append(one)
    return found
