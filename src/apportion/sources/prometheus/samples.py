"""Raw samples and their integrals. Whole seconds and whole base units: the same sums whatever the window they are cut into.

A gauge's sample holds until the next one, over a gap of at most `pad` seconds; the last one holds for one scrape interval. A counter's
growth belongs to the time of its later sample, so that buckets add up and no gap loses any.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from apportion.model.times import Interval

NS = 1_000_000_000
LARGEST = 2.0**62  # DCGM writes 2^63 - 14 where it does not know


@dataclass(frozen=True, slots=True)
class Series:
    """Times are whole UTC seconds, rising; of several samples in one second the largest is kept."""

    labels: Mapping[str, str]
    times: np.ndarray
    values: np.ndarray

    def between(self, span: Interval) -> "Series":
        first, last = np.searchsorted(self.times, (span.start_s, span.end_s))
        return Series(self.labels, self.times[first:last], self.values[first:last])


@dataclass(frozen=True, slots=True)
class Holds:
    """For how long each sample of a series stands. `bridged` and `lost` are the gaps that follow a sample."""

    start: np.ndarray
    end: np.ndarray
    values: np.ndarray
    bridged: np.ndarray  # of samples that hold over a gap
    lost: np.ndarray  # of samples after which a gap is too long


def union(parts: Sequence[Series], scale: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Samples that several series give of one thing, in whole units of 1/`scale`: an exporter that moved, two Prometheus side by side,
    a board's value on the row of each of its sharers. Of those of one second the largest counts.
    """
    times = np.concatenate([part.times for part in parts])
    values = np.concatenate([part.values for part in parts])
    known = np.isfinite(values) & (np.abs(values) * scale < LARGEST)
    times, whole = times[known], np.rint(values[known] * scale).astype(np.int64)
    order = np.lexsort((whole, times))
    times, whole = times[order], whole[order]
    last = np.append(times[1:] != times[:-1], True) if len(times) else np.zeros(0, bool)
    return times[last], whole[last]


def usual_step(times: Iterable[np.ndarray], otherwise: int = 60) -> int:
    """The scrape interval: the lower median of what lies between neighbours."""
    apart = np.concatenate([np.zeros(0, np.int64), *(np.diff(one) for one in times)])
    if not len(apart):
        return otherwise
    return max(1, int(np.partition(apart, (len(apart) - 1) // 2)[(len(apart) - 1) // 2]))


def hold(times: np.ndarray, values: np.ndarray, step: int, pad: int) -> Holds:
    following = np.append(times[1:], times[-1:] + step)
    apart = following - times
    lost = apart > max(pad, 2 * step)
    bridged = (apart > 2 * step) & ~lost
    end = np.where(lost, times + step, following)
    return Holds(times, end, values, bridged, lost)


@dataclass(frozen=True, slots=True)
class Buckets:
    """A window in equal parts that begin at multiples of `size` in UTC; the first and the last may be shorter."""

    window: Interval
    size: int

    @property
    def first(self) -> int:
        return self.window.start_s // self.size

    @property
    def count(self) -> int:
        return -(-self.window.end_s // self.size) - self.first

    def of(self, times: np.ndarray) -> np.ndarray:
        """The number of each time's bucket, -1 outside the window."""
        inside = (times >= self.window.start_s) & (times < self.window.end_s)
        return np.where(inside, times // self.size - self.first, -1)

    def span(self, number: int) -> Interval:
        start = (self.first + number) * self.size
        return Interval(start, start + self.size).clip(self.window)

    def cut(self, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Intervals cut at the buckets' bounds: which one each part is of, its bucket, its seconds. What lies outside is left out."""
        start, end = np.maximum(start, self.window.start_s), np.minimum(end, self.window.end_s)
        inside = np.flatnonzero(end > start)
        start, end = start[inside], end[inside]
        first, last = start // self.size, (end - 1) // self.size
        parts = last - first + 1
        which = np.repeat(np.arange(len(start)), parts)
        number = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)
        bucket = first[which] + number
        seconds = np.minimum(end[which], (bucket + 1) * self.size) - np.maximum(start[which], bucket * self.size)
        return inside[which], bucket - self.first, seconds


def growth(times: np.ndarray, values: np.ndarray, pad: int, *, born: bool) -> np.ndarray:
    """What a counter grew by up to each sample. After a reset its value is what it grew by; so is its first, where it was `born` in sight.

    Over a gap of more than `pad` nothing is known to whoever reads only one side of it, so nothing is counted on either.
    """
    if not len(values):
        return values
    apart = np.diff(values)
    grown = np.where(np.diff(times) > pad, 0, np.where(apart < 0, values[1:], apart))
    return np.concatenate([values[:1] if born else np.zeros(1, np.int64), grown])
