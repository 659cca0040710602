"""What pods hold: requests for as long as they run, and claims, which pods may share."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from apportion.errors import InputError, Problem
from apportion.sources.kubernetes.boards import FRACTION, held
from apportion.sources.kubernetes.claims import claimed
from apportion.sources.kubernetes.lives import Pod
from apportion.sources.kubernetes.objects import NODE, Moment, labels_of, table
from apportion.sources.kubernetes.quantities import base_units, quantity
from apportion.sources.kubernetes.requests import pod_requests
from apportion.sources.kubernetes.settings import How


@dataclass(frozen=True, slots=True)
class Piece:
    """A pod holds base units of a meter from here to there."""

    pod: Pod
    meter: str
    start_s: int
    end_s: int
    units: int


def usage_rows(pods: list[Pod], moment: Moment, how: How, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    pieces = list(from_claims(pods, moment, how, problems))
    if how.usage == "all":
        pieces += from_requests(pods, moment, how, problems)
    for piece in laid_together(pieces):
        yield {
            "source": how.source,
            "workload": how.id(piece.pod.uid),
            "meter": piece.meter,
            "resource": piece.pod.node,
            "start_s": piece.start_s,
            "end_s": piece.end_s,
            "allocated": piece.units,
            "used": None,
        }


def from_requests(pods: Iterable[Pod], moment: Moment, how: How, problems: list[Problem]) -> Iterator[Piece]:
    for pod in pods:
        try:
            amounts = pod_requests(table(pod.found, "spec"))
            fraction = quantity(table(pod.found, "metadata", "annotations").get(FRACTION, 0))
            asked, wrong = held(amounts, labels_of(moment.named(NODE, pod.node)), how.board)
        except InputError as error:
            problems.append(Problem(pod.place, error.code, f"{error.message}; the pod's requests are not counted"))
            continue
        if wrong:
            problems.append(Problem(pod.place, wrong.code, f"{wrong.message}; the pod's devices are not counted"))
        if fraction:
            asked["gpu"] = asked.get("gpu", Fraction(0)) + fraction
        for meter, amount in asked.items():
            yield Piece(pod, meter, pod.start_s, pod.end_s, base_units(meter, amount))


def from_claims(pods: Iterable[Pod], moment: Moment, how: How, problems: list[Problem]) -> Iterator[Piece]:
    for devices, holders in claimed(pods, moment, how, problems).values():
        for meter, amount in devices.items():
            yield from shared(holders, meter, base_units(meter, amount))


def shared(holders: Iterable[Pod], meter: str, units: int) -> Iterator[Piece]:
    """A claim is divided evenly among the pods that run at a time, to the last base unit."""
    whole = sorted(holders, key=lambda pod: pod.uid)
    edges = sorted({edge for pod in whole for edge in (pod.start_s, pod.end_s)})
    for start, end in pairwise(edges):
        running = [pod for pod in whole if pod.start_s <= start and end <= pod.end_s]
        for place, pod in enumerate(running):
            part = units * (place + 1) // len(running) - units * place // len(running)
            yield Piece(pod, meter, start, end, part)


def laid_together(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """At any time one row for each pod and meter; neighbours of the same amount are one."""
    stacks: dict[tuple[str, str], list[Piece]] = {}
    for piece in pieces:
        if piece.units and piece.start_s < piece.end_s:
            stacks.setdefault((piece.pod.uid, piece.meter), []).append(piece)
    for _, stack in sorted(stacks.items()):
        edges = sorted({edge for piece in stack for edge in (piece.start_s, piece.end_s)})
        last: Piece | None = None
        for start, end in pairwise(edges):
            units = sum(piece.units for piece in stack if piece.start_s <= start and end <= piece.end_s)
            if last and last.end_s == start and last.units == units:
                last = Piece(last.pod, last.meter, last.start_s, end, units)
                continue
            if last and last.units:
                yield last
            last = Piece(stack[0].pod, stack[0].meter, start, end, units)
        if last and last.units:
            yield last
