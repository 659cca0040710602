"""What a licence log tells: who took and gave back how many seats of what, and when the server could not know."""

from dataclasses import dataclass, field
from typing import Literal

from apportion.errors import Problem


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


@dataclass
class Told:
    """Of one file, in order; `first_s` and `last_s` are the first and last moments of which it speaks."""

    events: list[Event] = field(default_factory=list)
    seats: list[Seats] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    first_s: int | None = None
    last_s: int | None = None
    rows: int = 0
