"""What was measured, by whom and bucket: growth of counters, and gauges times the seconds that they stood."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

import numpy as np

from apportion.sources.live import Progress
from apportion.sources.prometheus.gaps import Gaps
from apportion.sources.prometheus.pods import Pods
from apportion.sources.prometheus.reading import Part, Reading
from apportion.sources.prometheus.samples import Buckets, Series, growth, hold, union
from apportion.sources.prometheus.selectors import Selector


@dataclass
class Sums:
    """Whole numbers by key and bucket of the window."""

    buckets: Buckets
    found: dict[Hashable, np.ndarray] = field(default_factory=dict)

    def add(self, key: Hashable, part: Buckets, bucket: np.ndarray, amounts: np.ndarray) -> None:
        """`bucket` counts from the first of the part; -1 is outside."""
        inside = bucket >= 0
        if not inside.any():
            return
        mine = self.found.setdefault(key, np.zeros(self.buckets.count, np.int64))
        np.add.at(mine, bucket[inside] + (part.first - self.buckets.first), amounts[inside])

    def get(self, key: Hashable) -> np.ndarray | None:
        return self.found.get(key)


@dataclass(frozen=True, slots=True)
class Counter:
    """How a counter is read: what tells its things apart, how many base units one is, and which are left out."""

    selector: Selector
    identity: tuple[str, ...]
    scale: int = 1
    wanted: Callable[[dict[str, str]], bool] = lambda _: True


@dataclass
class Grown:
    """Growth of counters, and how many samples told of it."""

    amount: Sums
    told: Sums

    @classmethod
    def of(cls, buckets: Buckets) -> "Grown":
        return cls(Sums(buckets), Sums(buckets))

    def add(self, key: Hashable, part: Buckets, grown: Series) -> None:
        bucket = part.of(grown.times)
        self.amount.add(key, part, bucket, grown.values)
        self.told.add(key, part, bucket, np.ones_like(grown.values))


@dataclass
class Levels:
    """Integrals of gauges and the seconds that they cover."""

    amount: Sums
    covered: Sums

    @classmethod
    def of(cls, buckets: Buckets) -> "Levels":
        return cls(Sums(buckets), Sums(buckets))

    def add(self, key: Hashable, part: Buckets, spans: tuple[np.ndarray, np.ndarray], values: np.ndarray) -> None:
        which, bucket, seconds = part.cut(*spans)
        self.amount.add(key, part, bucket, values[which] * seconds)
        self.covered.add(key, part, bucket, seconds)


def things(part: Part, how: Counter) -> Iterator[Series]:
    """The series of one thing as one."""
    together: dict[tuple[str, ...], list[Series]] = {}
    for one in part.series:
        if how.wanted(dict(one.labels)):
            together.setdefault(tuple(one.labels.get(name, "") for name in how.identity), []).append(one)
    for series in together.values():
        times, values = union(series, how.scale)
        if len(times):
            yield Series(series[0].labels, times, values)


def read_counter(reading: Reading, pods: Pods, how: Counter, into: Grown) -> Iterator[Progress]:
    """Growth of a counter by pod. A target's series stay together: they tell whether one of them is new."""
    for part in reading.parts(how.selector, "instance"):
        if isinstance(part, Progress):
            yield part
            continue
        seen = scrapes(part)
        for one in things(part, how):
            grown = growth(one.times, one.values, reading.how.pad_s, born=is_born(one, seen, reading.how.pad_s))
            for key, mine in pods.owner_of(Series(one.labels, one.times, grown)):
                into.add(key, part.buckets, mine)


def read_gauge(reading: Reading, pods: Pods, gauge: Selector, into: Levels, gaps: Gaps) -> Iterator[Progress]:
    """A gauge's integral by pod and container."""
    for part in reading.parts(gauge, "namespace"):
        if isinstance(part, Progress):
            yield part
            continue
        together: dict[tuple[str, str], list[Series]] = {}
        for one in part.series:
            for key, mine in pods.owner_of(one):
                together.setdefault((key, one.labels.get("container", "")), []).append(mine)
        for place, series in together.items():
            held = hold(*union(series), part.step(series[0]), reading.how.pad_s)
            gaps.note(gauge.name, held, pods.found[place[0]].shown)
            into.add(place, part.buckets, (held.start, held.end), held.values)


def target(one: Series) -> tuple[str, ...]:
    return tuple(one.labels.get(name, "") for name in ("job", "instance", "node"))


def scrapes(part: Part) -> dict[tuple[str, ...], np.ndarray]:
    """When each target was scraped: whenever any of its series has a sample."""
    times: dict[tuple[str, ...], list[np.ndarray]] = {}
    for one in part.series:
        times.setdefault(target(one), []).append(one.times)
    return {key: np.unique(np.concatenate(found)) for key, found in times.items()}


def is_born(one: Series, seen: dict[tuple[str, ...], np.ndarray], pad: int) -> bool:
    """Whether its target was scraped shortly before and did not have it yet: then it counted from 0."""
    times = seen[target(one)]
    before = int(np.searchsorted(times, one.times[0])) - 1
    return before >= 0 and int(one.times[0] - times[before]) <= pad
