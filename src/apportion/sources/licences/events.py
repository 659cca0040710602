"""What licence logs and lists tell: who took and gave back how many seats of what, who has which seat, and how many were bought."""

from dataclasses import dataclass, field
from typing import Literal

from apportion.errors import Problem

FOREVER = 253_402_300_800  # the end of what has none: the year 10000


@dataclass(frozen=True, slots=True)
class Event:
    """`stop` ends all check-outs of a daemon (of every daemon where it names none); `start` does so where no stop was written."""

    at_s: int
    action: Literal["out", "in", "stop", "start"]
    daemon: str
    where: str
    feature: str = ""
    user: str = ""
    host: str = ""
    count: int = 1
    before_s: int | None = None  # of a start: when the line above it was written


@dataclass(frozen=True, slots=True)
class Seats:
    """How many seats of a feature were issued at a moment."""

    at_s: int
    feature: str
    amount: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """A named user's seat, or seats of a team, from a list."""

    start_s: int
    end_s: int
    where: str
    feature: str
    user: str
    team: str
    seats: int = 1


@dataclass(frozen=True, slots=True)
class Bought:
    """Seats or tokens of an order while it holds."""

    start_s: int
    end_s: int
    feature: str
    amount: int


@dataclass
class Told:
    """Of one file, in order; `first_s` and `last_s` are the first and last moments of which it speaks."""

    events: list[Event] = field(default_factory=list)
    seats: list[Seats] = field(default_factory=list)
    assigned: list[Assigned] = field(default_factory=list)
    bought: list[Bought] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    first_s: int | None = None
    last_s: int | None = None
    rows: int = 0
