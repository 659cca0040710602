"""Capacity rows: what nodes offered, and in which state."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa

from apportion.errors import InputError, Problem
from apportion.model.meters import METERS
from apportion.model.rows import CAPACITY
from apportion.model.times import Interval
from apportion.sources.prometheus.asking import How
from apportion.sources.prometheus.context import PLACES, first_labels
from apportion.sources.prometheus.nodes import SCALES, Node, Nodes, whole_boards
from apportion.sources.prometheus.steps import Amount, Steps, clipped, combined, merged

UP, DRAINED, DOWN = "up", "drained", "down"


@dataclass
class Offered:
    how: How
    problems: dict[tuple[str, str], Problem] = field(default_factory=dict)

    def table(self, nodes: Nodes) -> pa.Table:
        rows = [row for name, node in sorted(nodes.found.items()) for row in self.rows(name, node)]
        return pa.Table.from_pylist(rows, schema=CAPACITY)

    def rows(self, name: str, node: Node) -> Iterator[dict[str, object]]:
        labels = sorted(node_labels(name, node, self.how).items())
        states = states_of(node)
        for meter, (capacity, missing) in sorted(self.meters(name, node).items()):
            for start, end, amount, state in pieces(capacity, missing, states):
                yield {
                    "source": self.how.source, "resource": name, "meter": meter, "start_s": start, "end_s": end, "amount": amount,
                    "state": state, "labels": labels,
                }  # fmt: skip

    def meters(self, name: str, node: Node) -> dict[str, tuple[Steps, Steps]]:
        """By meter what it has, and what of it the device plugin withholds as unhealthy; in base units."""
        has: dict[str, list[Steps]] = {}
        hands_out: dict[str, list[Steps]] = {}
        for found, resources in ((has, node.capacity), (hands_out, node.allocatable)):
            for resource, steps in resources.items():
                if resource in SCALES:
                    found.setdefault(resource, []).append(steps)
                elif share := self.share(name, node, resource):
                    found.setdefault(share[0], []).append([(a, b, share[1] * amount) for a, b, amount in steps])
        return {
            meter: balance(meter, combined(steps), combined(hands_out.get(meter, ())), node)
            for meter, steps in has.items()
        }

    def share(self, name: str, node: Node, resource: str) -> tuple[str, Fraction] | None:
        try:
            return node.share(resource, self.how)
        except InputError as error:
            told = f"{resource}: {error.message}; its capacity is not counted"
            self.problems.setdefault((name, resource), Problem(name, error.code, told))
            return None


def balance(meter: str, has: Steps, hands_out: Steps, node: Node) -> tuple[Steps, Steps]:
    if meter in SCALES:
        return has, []
    base = METERS[meter].base
    missing: Steps = []
    for start, end, amount in has:
        for a, b, out in over(start, end, hands_out) if hands_out else ():
            missing.append((a, b, int(base * max(amount - out, 0))))
    whole = [(a, b, int(base * whole_boards(Fraction(amount), len(node.boards)))) for a, b, amount in has]
    return merged(whole), merged(missing)


def pieces(capacity: Steps, missing: Steps, states: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, int, str]]:
    for start, end, amount in capacity:
        for first, last, state in during(Interval(start, end), states):
            yield from apart(first, last, int(amount), missing if state == UP else [], state)


def apart(start: int, end: int, amount: int, missing: Steps, state: str) -> Iterator[tuple[int, int, int, str]]:
    """What is withheld of a node that is up is down by itself."""
    for first, last, withheld in over(start, end, missing):
        gone = min(int(withheld), amount)
        if amount > gone:
            yield first, last, amount - gone, state
        if gone:
            yield first, last, gone, DOWN


def over(start: int, end: int, steps: Steps) -> Iterator[tuple[int, int, Amount]]:
    """The steps in a span, and 0 where there is none."""
    at = start
    for a, b, amount in clipped(steps, Interval(start, end)):
        if a > at:
            yield at, a, 0
        yield a, b, amount
        at = b
    if end > at:
        yield at, end, 0


def states_of(node: Node) -> list[tuple[int, int, str]]:
    """Where nobody tells, a node is up. One that is not ready is down, whether or not it is cordoned."""
    bounds = sorted({bound for steps in (node.ready, node.cordoned) for a, b, _ in steps for bound in (a, b)})
    found = []
    for start, end in pairwise(bounds):
        span = Interval(start, end)
        ready = clipped(node.ready, span)
        cordoned = clipped(node.cordoned, span)
        state = DOWN if ready and not ready[0][2] else DRAINED if cordoned and cordoned[0][2] else UP
        found.append((start, end, state))
    return found


def during(span: Interval, states: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str]]:
    """The states in a span, neighbours of one kind together; up where nobody tells."""
    found: list[tuple[int, int, str]] = []
    at = span.start_s
    for start, end, state in [*states, (span.end_s, span.end_s, UP)]:
        first, last = max(start, at), min(end, span.end_s)
        for a, b, what in ((at, min(first, span.end_s), UP), (first, last, state)):
            if b <= a:
                continue
            if found and found[-1][1] == a and found[-1][2] == what:
                found[-1] = (found[-1][0], b, what)
            else:
                found.append((a, b, what))
            at = b
    yield from found


def node_labels(name: str, node: Node, how: How) -> dict[str, str]:
    found = {f"k8s.node_label.{key}": value for key, value in node.labels.items()}
    found |= first_labels(node.labels, PLACES) | node.machine | {"k8s.cluster": how.cluster, "k8s.node": name}
    return found | ({"gpu.model": node.model} if node.model else {})
