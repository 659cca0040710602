"""Events to levels: how many seats of a feature each user on each host holds, second by second."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from apportion.errors import Problem
from apportion.model.times import instant_text
from apportion.sources.licences.events import Event

Key = tuple[str, str, str, str]  # daemon, feature, user, host


@dataclass(frozen=True, slots=True)
class Span:
    start_s: int
    end_s: int
    seats: int


@dataclass
class Ledger:
    """Seats out, and what changed when. `known` are the daemons whose beginning the log shows: before it, a seat may have been out already."""

    first_s: int
    open: dict[Key, int] = field(default_factory=lambda: defaultdict(int))
    changes: dict[Key, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    known: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)
    before_s: int = 0  # when the log before the one that is read ended

    def take(self, event: Event) -> None:
        key = (event.daemon, event.feature, event.user, event.host)
        if event.action == "out":
            self.change(key, event.at_s, event.count)
        elif event.action == "in":
            self.give_back(key, event)
        else:
            self.close(event)

    def change(self, key: Key, at_s: int, count: int) -> None:
        self.open[key] += count
        self.changes[key].append((at_s, count))

    def give_back(self, key: Key, event: Event) -> None:
        """More than is known to be out was out before the log began, unless the log shows the server's start."""
        beyond = event.count - self.open[key]
        if beyond > 0 and {event.daemon, ""} & self.known:
            message = f"{event.user} gives back {beyond} of {event.feature} that nobody took since the server started; left out"
            self.problems.append(Problem(event.where, "unmatched-check-in", message))
        elif beyond > 0:
            message = f"{event.user} took {beyond} of {event.feature} before the log begins; counted from {instant_text(self.first_s)} on"
            self.problems.append(Problem(event.where, "estimated", message))
            self.change(key, self.first_s, beyond)
        if given := min(event.count, self.open[key]):
            self.change(key, event.at_s, -given)

    def close(self, event: Event) -> None:
        """A server that stops takes all seats back; one that starts without having stopped did so some time after its last line."""
        last_s = self.before_s if event.before_s is None else event.before_s
        at_s = event.at_s if event.action == "stop" else last_s
        left = [key for key, count in self.open.items() if count and event.daemon in ("", key[0])]
        for key in left:
            self.change(key, at_s, -self.open[key])
        if left and event.action == "start":
            message = f"the server starts anew with {len(left)} check-outs open; they end with its last line, {instant_text(at_s)}"
            self.problems.append(Problem(event.where, "estimated", message))
        if event.action == "start":
            self.known.add(event.daemon)


def spans(changes: Iterable[tuple[int, int]], last_s: int) -> Iterator[Span]:
    """A level for each stretch in which it does not change; what is still out counts up to the last moment that the log knows."""
    sums: dict[int, int] = defaultdict(int)
    for at_s, count in changes:
        sums[at_s] += count
    level, start_s = 0, 0
    for at_s in [*sorted(second for second, count in sums.items() if count), last_s]:
        if level and at_s > start_s:
            yield Span(start_s, at_s, level)
        level, start_s = level + sums[at_s], at_s
