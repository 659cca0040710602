"""Asking a Prometheus, VictoriaMetrics, Thanos or Mimir: raw samples by instant queries of range vectors.

`SELECTOR[1800s]` at `end - 0.001` gives the samples of a half-open span on every version, without look-back, extrapolation or staleness
markers. Answers are kept small: by parts of a day and, where many series answer, by the values of one label.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apportion.model.times import Interval, instant_text
from apportion.sources.outside.web import Web
from apportion.sources.prometheus.answers import matrix
from apportion.sources.prometheus.samples import Series
from apportion.sources.prometheus.selectors import Matcher, Selector, one_of

MOST_SAMPLES = 1_000_000  # in one answer, as far as it can be foreseen
LONGEST_LIST = 100  # of names in one selector; their text must stay below what proxies take
SHARD_LABELS = ("instance", "node", "namespace", "pod", "UUID")  # by which an answer may be parted
FEWEST_SECONDS = 15  # between samples, to foresee how many there are


@dataclass(frozen=True, slots=True)
class Server:
    """`always` narrows every selector, such as to one cluster of several."""

    web: Web
    always: tuple[Matcher, ...] = ()

    def names(self, span: Interval) -> set[str]:
        found = self.data("GET", "/api/v1/label/__name__/values", bounds(span))
        return {str(name) for name in found}

    def series(self, selector: Selector, span: Interval) -> list[dict[str, str]]:
        """The labels of the series that were there; from the index alone."""
        asked = {"match[]": str(selector.where(*self.always)), **bounds(span)}
        return list(self.data("GET", "/api/v1/series", asked))

    def samples(self, selector: Selector, span: Interval) -> Iterator[Series]:
        """The samples in `[start, end)` of every series that has any."""
        for part in self.shards(selector.where(*self.always), span):
            yield from self.raw(f"{part}[{span.seconds}s]", span)

    def last(self, selector: Selector, span: Interval) -> Iterator[tuple[Mapping[str, str], float]]:
        """The last value in the span of every series that has any."""
        for one in self.raw(f"last_over_time({selector.where(*self.always)}[{span.seconds}s])", span):
            yield one.labels, float(one.values[-1])

    def now(self) -> float:
        found = self.data("POST", "/api/v1/query", {"query": "time()"})
        return float(found["result"][0])

    def raw(self, query: str, span: Interval) -> Iterator[Series]:
        form = {"query": query, "time": f"{span.end_s - 1}.999"}
        body = self.web.fetch("POST", "/api/v1/query", form=form)
        try:
            yield from matrix(body)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            begin = body[:80].decode("utf-8", "replace")
            raise self.web.told(
                "bad-response",
                f"{self.web.host} did not answer {query[:80]} at {instant_text(span.end_s)} with series but with {begin!r}",
            ) from error

    def data(self, method: str, path: str, asked: Mapping[str, Any]) -> Any:
        body = self.web.fetch(method, path, **{"params" if method == "GET" else "form": asked})
        try:
            document = json.loads(body)
            return document["data"]
        except (ValueError, KeyError, TypeError) as error:
            begin = body[:80].decode("utf-8", "replace")
            raise self.web.told("bad-response", f"{self.web.host}{path} answered with {begin!r}") from error

    def shards(self, selector: Selector, span: Interval) -> Iterator[Selector]:
        """The selector, or several that share its series among them."""
        found = self.data("GET", "/api/v1/series", {"match[]": str(selector), **bounds(span)})
        most = max(1, MOST_SAMPLES * FEWEST_SECONDS // span.seconds)
        if not found:
            return
        if len(found) <= most:
            yield selector
            return
        label, counts = widest(found)
        for group in packed(counts, most):
            yield selector.where(one_of(label, group)) if group != [""] else selector.where(Matcher(label, "=", ""))


def bounds(span: Interval) -> dict[str, str]:
    return {"start": str(span.start_s), "end": f"{span.end_s - 1}.999"}


def widest(found: Sequence[Mapping[str, str]]) -> tuple[str, Counter[str]]:
    """The label whose most frequent value is rarest: it parts the series best."""
    counted = [(label, Counter(labels.get(label, "") for labels in found)) for label in SHARD_LABELS]
    return min(counted, key=lambda pair: max(pair[1].values()))


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
