"""Boards that are handed out in parts: what is asked of one in a cell beyond what there is does not count."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter
from typing import Protocol, TypeVar
from zoneinfo import ZoneInfo

from tests.property.oracle_identity import Resource
from tests.property.oracle_time import Span, cell_seconds, cut, day_of, day_span, days_touched

ZERO = Fraction(0)


class Row(Protocol):
    """A claim, or a part of one."""

    @property
    def resource(self) -> Resource: ...
    @property
    def span(self) -> Span: ...
    @property
    def rate(self) -> Fraction: ...
    @property
    def allocated(self) -> Fraction: ...
    @property
    def held(self) -> Fraction: ...


C = TypeVar("C", bound=Row)


@dataclass(frozen=True)
class Stated:
    """What is known of boards: where rows hold parts of one, and units per second that there are."""

    shared: frozenset[Resource]
    capacity: tuple[tuple[Resource, Span, Fraction], ...]
    zone: ZoneInfo

    def there(self, resource: Resource, cell: Span) -> Fraction:
        found = ((rate, cut(span, cell)) for name, span, rate in self.capacity if name == resource)
        return sum((rate * (part[1] - part[0]) for rate, part in found), ZERO)


def cells_of(span: Span, zone: ZoneInfo) -> list[Span]:
    """The cells of local days that a span touches."""
    found = []
    for day in days_touched(span, zone):
        begin, end = day_span(day, zone)
        step = cell_seconds(zone)
        found += [(at, at + step) for at in range(begin, end, step)]
    return [cell for cell in found if cell[0] < span[1] and cell[1] > span[0]]


def whole_days(spans: Iterable[Span], zone: ZoneInfo) -> Span:
    """From the first of their days until the last."""
    listed = list(spans)
    first = min(start for start, _ in listed)
    last = max(max(start, end - 1) for start, end in listed)
    return day_span(day_of(first, zone), zone)[0], day_span(day_of(last, zone), zone)[1]


def bounded(claims: list[C], stated: Stated) -> list[C]:
    """Claims on shared boards, cut at the cells; in a cell that is overfull each counts less, in proportion."""
    out = []
    parts: dict[tuple[Resource, Span], list[C]] = {}
    for claim in claims:
        if claim.resource not in stated.shared:
            out.append(claim)
            continue
        for cell in cells_of(claim.span, stated.zone):
            parts.setdefault((claim.resource, cell), []).append(replace(claim, span=cut(claim.span, cell)))  # type: ignore[type-var]
    for (resource, cell), found in parts.items():
        out += fitted(found, stated.there(resource, cell))
    return out


def fitted(claims: list[C], there: Fraction) -> list[C]:
    used, allocated, held = (
        sum((of(claim) * (claim.span[1] - claim.span[0]) for claim in claims), ZERO)
        for of in (attrgetter("rate"), attrgetter("allocated"), attrgetter("held"))
    )
    if not there or used + held <= there:
        return claims
    left = max(ZERO, there - used)
    parts = [
        min(Fraction(1), room / asked) if asked else Fraction(1)
        for room, asked in ((there, used), (there, allocated), (left, held))
    ]
    return [
        replace(claim, rate=claim.rate * parts[0], allocated=claim.allocated * parts[1], held=claim.held * parts[2])  # type: ignore[type-var]
        for claim in claims
    ]
