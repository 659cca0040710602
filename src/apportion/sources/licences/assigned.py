"""Seats of lists: who holds one when. A user holds one seat of a product at a time, whatever rows say it; a team's seats add up."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from apportion.errors import Problem
from apportion.model.times import Interval
from apportion.sources.licences.events import FOREVER, Assigned, Bought, Told
from apportion.sources.licences.seats import Span, spans


class Holder(NamedTuple):
    feature: str
    user: str
    team: str


@dataclass(frozen=True, slots=True)
class Lists:
    """All lists of a stanza together: seats that somebody has, orders of each product, and when each begins."""

    held: Mapping[Holder, Sequence[Span]]
    bought: Mapping[str, Sequence[Span]]
    problems: Sequence[Problem]
    starts: list[int]
    orders: list[int]

    @classmethod
    def of(cls, told: Iterable[tuple[str, Told]]) -> "Lists":
        files = [one for _, one in told]
        rows = [row for one in files for row in one.assigned]
        orders = [row for one in files for row in one.bought]
        held, problems = holdings(rows)
        return cls(held, bought_spans(orders), problems, [row.start_s for row in rows], [row.start_s for row in orders])

    def __bool__(self) -> bool:
        return bool(self.starts or self.orders)


def holdings(rows: Iterable[Assigned]) -> tuple[dict[Holder, list[Span]], list[Problem]]:
    users: dict[tuple[str, str], list[Assigned]] = defaultdict(list)
    teams: dict[Holder, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        if row.user:
            users[row.feature, row.user].append(row)
        else:
            teams[Holder(row.feature, "", row.team)] += [(row.start_s, row.seats), (row.end_s, -row.seats)]
    found: dict[Holder, list[Span]] = defaultdict(list)
    problems: list[Problem] = []
    for one in users.values():
        one.sort(key=lambda row: row.start_s)
        problems += twice(one)
        for row, span in one_seat(one):
            found[Holder(row.feature, row.user, row.team)].append(span)
    for holder, changes in teams.items():
        found[holder] = list(spans(changes, FOREVER))
    return found, problems


def one_seat(rows: Sequence[Assigned]) -> Iterator[tuple[Assigned, Span]]:
    """Of rows that hold at one time the one that begins last says whose the seat is: the older one was not closed."""
    edges = sorted({row.start_s for row in rows} | {row.end_s for row in rows})
    for start_s, end_s in pairwise(edges):
        holding = [row for row in rows if row.start_s <= start_s < row.end_s]
        if holding:
            yield holding[-1], Span(start_s, end_s, 1)


def twice(rows: Sequence[Assigned]) -> Iterator[Problem]:
    for number, row in enumerate(rows):
        before = [one for one in rows[:number] if one.end_s > row.start_s]
        if before:
            message = (
                f"{row.user} holds a seat of {row.feature} by {before[-1].where} at the same time: one seat counts"
            )
            moved = f", from here on for {row.team or 'no team'}" if row.team != before[-1].team else ""
            yield Problem(row.where, "seat-twice", message + moved)


def bought_spans(rows: Iterable[Bought]) -> Mapping[str, list[Span]]:
    """Orders of one product add up."""
    changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for row in rows:
        changes[row.feature] += [(row.start_s, row.amount), (row.end_s, -row.amount)]
    return {feature: list(spans(changes[feature], FOREVER)) for feature in sorted(changes)}


def clipped(found: Iterable[Span], window: Interval) -> list[Span]:
    """What of them lies in the window, so that a month reads the same whenever it is read; neighbours of one level are one."""
    made: list[Span] = []
    for span in found:
        part = Interval(span.start_s, span.end_s).clip(window)
        if not part.seconds:
            continue
        if made and made[-1].end_s == part.start_s and made[-1].seats == span.seats:
            made[-1] = Span(made[-1].start_s, part.end_s, span.seats)
        else:
            made.append(Span(part.start_s, part.end_s, span.seats))
    return made
