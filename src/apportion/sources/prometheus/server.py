"""Asking a Prometheus, VictoriaMetrics, Thanos or Mimir: raw samples by instant queries of range vectors.

`SELECTOR[1800s]` at `end - 0.001` gives the samples of a half-open span on every version, without look-back, extrapolation or staleness
markers.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apportion.errors import InputError
from apportion.model.times import Interval, instant_text
from apportion.sources.outside.web import Web
from apportion.sources.prometheus.answers import matrix
from apportion.sources.prometheus.samples import Series
from apportion.sources.prometheus.selectors import Matcher, Selector

WHOLE = {
    "partial_response": "false",
    "deny_partial_response": "1",
}  # how Thanos and VictoriaMetrics are told; others pass it over
PARTIAL = b'"isPartial":true'


@dataclass(frozen=True, slots=True)
class Server:
    """`always` narrows every selector, such as to one cluster of several."""

    web: Web
    always: tuple[Matcher, ...] = ()

    def names(self, span: Interval) -> set[str]:
        matching = {"match[]": f'{{__name__!="",{",".join(map(str, self.always))}}}'} if self.always else {}
        found = self.data("GET", "/api/v1/label/__name__/values", {**matching, **bounds(span)})
        return {str(name) for name in found}

    def series(self, selector: Selector, span: Interval) -> list[dict[str, str]]:
        """The labels of the series that were there; from the index alone."""
        asked = {"match[]": str(selector.where(*self.always)), **bounds(span)}
        return list(self.data("GET", "/api/v1/series", asked))

    def samples(self, selector: Selector, span: Interval) -> Iterator[Series]:
        """The samples in `[start, end)` of every series that has any."""
        yield from self.raw(f"{selector.where(*self.always)}[{span.seconds}s]", span)

    def last(self, selector: Selector, span: Interval) -> Iterator[tuple[Mapping[str, str], float]]:
        """The last value in the span of every series that has any."""
        for one in self.raw(f"last_over_time({selector.where(*self.always)}[{span.seconds}s])", span):
            yield one.labels, float(one.values[-1])

    def now(self) -> float:
        found = self.data("POST", "/api/v1/query", {"query": "time()"})
        return float(found["result"][0])

    def raw(self, query: str, span: Interval) -> Iterator[Series]:
        body = self.whole("POST", "/api/v1/query", {"query": query, "time": f"{span.end_s - 1}.999"})
        try:
            yield from matrix(body)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self.strange(f"{query[:80]} at {instant_text(span.end_s)}", body) from error

    def data(self, method: str, path: str, asked: Mapping[str, Any]) -> Any:
        body = self.whole(method, path, asked)
        try:
            return json.loads(body)["data"]
        except (ValueError, KeyError, TypeError) as error:
            raise self.strange(path, body) from error

    def whole(self, method: str, path: str, asked: Mapping[str, Any]) -> bytes:
        """An answer of which nothing is missing."""
        body = self.web.fetch(method, path, **{"params" if method == "GET" else "form": {**asked, **WHOLE}})
        if PARTIAL in body[:200]:
            text = f"{self.web.host}{path} has a part of the answer only: some of its stores do not answer"
            raise self.web.told("half-response", text)
        return body

    def strange(self, asked: str, body: bytes) -> InputError:
        begin = body[:80].decode("utf-8", "replace")
        return self.web.told("bad-response", f"{self.web.host} answered {asked} with {begin!r}")


def bounds(span: Interval) -> dict[str, str]:
    return {"start": str(span.start_s), "end": f"{span.end_s - 1}.999"}
