"""A window's samples, a metric at a time, in parts that fit into memory: six hours each, and some of the series where there are many.

Every part reaches `pad` seconds beyond both its ends. What happened in it is then known from what was read for it alone: where a gap at
its edge began or ended, and from which value a counter grew.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from apportion.model.times import Interval
from apportion.sources.live import Progress
from apportion.sources.prometheus.asking import How
from apportion.sources.prometheus.samples import Buckets, Series, usual_step
from apportion.sources.prometheus.selectors import Matcher, Selector, one_of
from apportion.sources.prometheus.spelling import Spelling

SLICE_S = 6 * 3600
MOST_SAMPLES = 1_000_000  # in one answer, as far as it can be foreseen
LEAST_STEP_S = 15  # between samples, to foresee how many there are
ALIVE_S = 600
LONGEST_LIST = 200  # of names in one selector


class Outside(Protocol):
    """A server, or what was saved from one."""

    def names(self, span: Interval) -> set[str]: ...
    def series(self, selector: Selector, span: Interval) -> list[dict[str, str]]: ...
    def samples(self, selector: Selector, span: Interval) -> Iterator[Series]: ...
    def last(self, selector: Selector, span: Interval) -> Iterator[tuple[Mapping[str, str], float]]: ...


@dataclass(frozen=True, slots=True)
class Part:
    """Series with our words as labels, of one part of the window; `buckets` are those that it decides about."""

    series: list[Series]
    buckets: Buckets
    steps: Mapping[str, int]  # the scrape interval by job

    def step(self, one: Series) -> int:
        return self.steps[one.labels.get("job", "")]


@dataclass
class Reading:
    outside: Outside
    how: How
    window: Interval
    done: int = 0
    total: int = 1
    names: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self.names = self.outside.names(self.padded(self.window))

    def padded(self, span: Interval) -> Interval:
        return Interval(span.start_s - self.how.pad_s, span.end_s + self.how.pad_s)

    def slices(self) -> list[Interval]:
        first, last = self.window.start_s // SLICE_S, -(-self.window.end_s // SLICE_S)
        return [Interval(n * SLICE_S, (n + 1) * SLICE_S).clip(self.window) for n in range(first, last)]

    def facts(self, selector: Selector) -> Iterator[tuple[dict[str, str], float]]:
        """The last value of every series, of metrics whose labels are what matters; at the end once more those that lived to the end."""
        if selector.name not in self.names:
            return
        whole = self.padded(self.window)
        found = sorted(self.outside.last(selector, whole), key=lambda pair: sorted(pair[0].items()))
        found += self.outside.last(selector, Interval(max(whole.start_s, whole.end_s - ALIVE_S), whole.end_s))
        spelling = spellings([dict(labels) for labels, _ in found], self.how.renamed)
        for labels, value in found:
            yield spelling[labels.get("job", "")].respelled(labels), value

    def parts(self, selector: Selector, shard: str) -> Iterator[Part | Progress]:
        """`shard` is the label that tells things apart, in our words: no thing's series are split over two parts."""
        if selector.name not in self.names:
            self.done += len(self.slices())
            return
        found = self.outside.series(selector, self.padded(self.window))
        spelling = spellings(found, self.how.renamed)
        spelled = {one.names.get(shard, shard) for one in spelling.values()}
        for span in self.slices():
            for selected in shards(selector, found, spelled, self.padded(span)):
                series = [
                    Series(spelling[one.labels.get("job", "")].respelled(one.labels), one.times, one.values)
                    for one in self.outside.samples(selected, self.padded(span))
                ]
                if series:
                    yield Part(series, Buckets(span, self.how.bucket_s), self.steps(series))
            self.done += 1
            yield Progress(self.done, max(self.total, self.done), selector.name)

    def steps(self, series: list[Series]) -> dict[str, int]:
        jobs: dict[str, list[Series]] = {}
        for one in series:
            jobs.setdefault(one.labels.get("job", ""), []).append(one)
        if self.how.step_s:
            return dict.fromkeys(jobs, self.how.step_s)
        return {job: usual_step(one.times for one in found) for job, found in jobs.items()}


def spellings(found: list[dict[str, str]], renamed: Mapping[str, str]) -> dict[str, Spelling]:
    """By job: one exporter may be scraped with its labels honoured and another without."""
    jobs: dict[str, list[dict[str, str]]] = {}
    for labels in found:
        jobs.setdefault(labels.get("job", ""), []).append(labels)
    return {job: Spelling.of(sets, renamed) for job, sets in jobs.items()}


def shards(selector: Selector, found: list[dict[str, str]], labels: set[str], span: Interval) -> Iterator[Selector]:
    """The selector, or several that share its series among them by the values of a label."""
    most = max(1, MOST_SAMPLES * LEAST_STEP_S // span.seconds)
    if len(found) <= most or len(labels) != 1:  # jobs that spell it differently are read at once
        yield selector
        return
    (label,) = labels
    for group in packed(Counter(one.get(label, "") for one in found), most):
        yield selector.where(one_of(label, group) if group != [""] else Matcher(label, "=", ""))


def packed(counts: Counter[str], most: int) -> Iterator[list[str]]:
    """Values in order, together as long as they stay below `most`; the empty one, which no list can name, alone."""
    group: list[str] = []
    total = 0
    for value in sorted(counts):
        if group and (total + counts[value] > most or len(group) >= LONGEST_LIST or group == [""]):
            yield group
            group, total = [], 0
        group.append(value)
        total += counts[value]
    if group:
        yield group
