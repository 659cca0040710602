"""Which nodes are in service on a day, with how many GPUs and sockets: what assets and leases that stand on a node by name say."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import groupby, pairwise
from operator import itemgetter

from apportion.sources.tco.days import Span
from apportion.sources.tco.streams import Sharing, Stream

GLOB = frozenset("*?[")
NOBODY = {"": Fraction(1)}


@dataclass(frozen=True, slots=True)
class Stay:
    """Something stands on a node for a while."""

    node: str
    span: Span
    gpus: int = 0
    sockets: int = 0


@dataclass(frozen=True, slots=True)
class Fleet:
    stays: Mapping[str, tuple[Stay, ...]]
    edges: tuple[date, ...]  # days on which anything changes

    def nodes_on(self, day: date) -> tuple[str, ...]:
        return tuple(
            node for node, stays in self.stays.items() if any(stay.span.start <= day < stay.span.end for stay in stays)
        )

    def bearers(self, sharing: Sharing, day: date) -> Mapping[str, Fraction]:
        """Names stand for themselves, a glob for the nodes in service on that day; the first that names a node counts."""
        if not any(GLOB & set(name) for name in sharing.weights):
            return sharing.weights or NOBODY
        return dict(matched(sharing.weights, self.nodes_on(day))) or NOBODY

    def counts(self, node: str, per: str) -> Iterator[tuple[Span, int]]:
        """How many nodes (one), GPUs or sockets there are, over the spans between changes."""
        stays = self.stays[node]
        edges = sorted({edge for stay in stays for edge in (stay.span.start, stay.span.end)})
        spans = ((Span(start, end), many_on(stays, start, per)) for start, end in pairwise(edges))
        for many, same in groupby(spans, key=itemgetter(1)):
            found = [span for span, _ in same]
            if many:
                yield Span(found[0].start, found[-1].end), many


def many_on(stays: Iterable[Stay], day: date, per: str) -> int:
    here = [stay for stay in stays if stay.span.start <= day < stay.span.end]
    counts = {
        "node": min(1, len(here)),
        "gpu": sum(stay.gpus for stay in here),
        "socket": sum(stay.sockets for stay in here),
    }
    return counts[per]


def matched(weights: Mapping[str, Fraction], nodes: Sequence[str]) -> Iterator[tuple[str, Fraction]]:
    taken: set[str] = set()
    for pattern, weight in weights.items():
        names = [pattern] if not GLOB & set(pattern) else [node for node in nodes if fnmatchcase(node, pattern)]
        for name in names:
            if name not in taken:
                taken.add(name)
                yield name, weight


def fleet_of(stays: Iterable[Stay]) -> Fleet:
    by_node: dict[str, list[Stay]] = defaultdict(list)
    for stay in stays:
        by_node[stay.node].append(stay)
    edges = {edge for found in by_node.values() for stay in found for edge in (stay.span.start, stay.span.end)}
    return Fleet({node: tuple(by_node[node]) for node in sorted(by_node)}, tuple(sorted(edges)))


def cuts(stream: Stream, fleet: Fleet, span: Span) -> Iterator[tuple[Span, Mapping[str, Fraction]]]:
    """A span in pieces over which the same nodes bear a stream with the same weights."""
    edges = {one.since for one in stream.sharing}
    if any(GLOB & set(name) for one in stream.sharing for name in one.weights):
        edges |= set(fleet.edges)
    inner = sorted(edge for edge in edges if span.start < edge < span.end)
    for start, end in pairwise([span.start, *inner, span.end]):
        yield Span(start, end), fleet.bearers(stream.shared_on(start), start)
