"""Answers that were saved from a Prometheus: the bodies of `/api/v1/query` and `/api/v1/query_range`, one a file or one a line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.model.times import DAY_S, Interval
from apportion.sources.files.paths import InputFile, input_files
from apportion.sources.files.stream import Stream
from apportion.sources.prometheus.answers import matrix
from apportion.sources.prometheus.samples import Series
from apportion.sources.prometheus.selectors import Matcher, Selector

FORMATS = ("json", "jsonl")


@dataclass(frozen=True, slots=True)
class Saved:
    """All samples in memory, by metric."""

    metrics: Mapping[str, Sequence[Series]]
    digests: tuple[FileDigest, ...]
    always: tuple[Matcher, ...] = ()

    def names(self, span: Interval) -> set[str]:
        return {name for name in self.metrics if self.series(Selector(name), span)}

    def series(self, selector: Selector, span: Interval) -> list[dict[str, str]]:
        return [dict(one.labels) for one in self.samples(selector, span)]

    def samples(self, selector: Selector, span: Interval) -> Iterator[Series]:
        narrowed = selector.where(*self.always)
        for one in self.metrics.get(selector.name, ()):
            part = one.between(span)
            if len(part.times) and narrowed.holds(one.labels):
                yield part

    def last(self, selector: Selector, span: Interval) -> Iterator[tuple[Mapping[str, str], float]]:
        for one in self.samples(selector, span):
            yield one.labels, float(one.values[-1])

    def days(self) -> Interval:
        """The whole days, in UTC, that the samples touch."""
        every = [one for found in self.metrics.values() for one in found if len(one.times)]
        if not every:
            raise InputError(
                "no-rows",
                "the saved answers hold no sample",
                where=self.digests[0].name if self.digests else "",
                hint='save the answer to a query such as {__name__=~"kube_.+"}[1d]',
            )
        first = min(int(one.times[0]) for one in every) // DAY_S
        return Interval(first * DAY_S, (max(int(one.times[-1]) for one in every) // DAY_S + 1) * DAY_S)


def read_saved(path: str, base: Path, where: str, always: tuple[Matcher, ...]) -> Saved:
    metrics: dict[str, list[Series]] = {}
    digests = []
    for file in input_files(path, base, FORMATS, where):
        with Stream(file) as stream:
            found = [one for body in answers(stream.read_all(), file) for one in series_of(body, file)]
            count = sum(len(one.times) for one in found)
            digests.append(FileDigest(file.name, stream.sha256, count, str(count)))
        for one in found:
            metrics.setdefault(one.labels.get("__name__", ""), []).append(one)
    return Saved(metrics, tuple(digests), always)


def answers(data: bytes, file: InputFile) -> list[bytes]:
    return [data] if file.format == "json" else [line for line in data.splitlines() if line.strip()]


def series_of(body: bytes, file: InputFile) -> list[Series]:
    try:
        return list(matrix(body))
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            "not-an-answer",
            f"{file.name} is no answer of a Prometheus with samples: it begins with {body[:40].decode('utf-8', 'replace')!r}",
            where=file.name,
            hint="save the body of /api/v1/query with a range vector, or of /api/v1/query_range",
        ) from error
