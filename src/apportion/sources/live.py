"""Sources that can be asked: by a command, over the network, or from files that were saved from them.

A stanza with `path` reads saved files. One without it asks the system itself, a window at a time; which windows are due is the
business of whoever calls, so `read` needs no memory and any past window can be read again.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from apportion.errors import Problem
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval

OVERLAP_S = 7200
WHEN = ("since", "overlap_hours")  # settings of every live stanza; the caller's, so a source never sees them


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a `read` is, between deliveries."""

    done: int
    total: int
    what: str = ""


@dataclass(frozen=True, slots=True)
class Sign:
    """What `probe` found: a sentence, and the command or the edit that mends it."""

    status: Literal["ok", "note", "wrong"]
    text: str
    fix: str = ""


Read = Callable[[Mapping[str, Any], Path, Interval | None], Iterator[Delivery | Progress]]
Probe = Callable[[Mapping[str, Any], Path], Iterator[Sign]]


@dataclass(frozen=True, slots=True)
class Live:
    """`read` yields a delivery only when all of its window was read: there is no half of a batch."""

    read: Read
    probe: Probe
    stanza: str  # what `apportion init --with KIND` writes
    overlap_s: int = OVERLAP_S  # late data: so much before what the books have is read again
    step_s: int = DAY_S  # windows are cut at multiples of it, in UTC
    whole_steps: bool = False  # only windows that are over by now are answered


def estimated(where: str, message: str) -> Problem:
    """Nothing was measured for a while: what was taken to hold meanwhile, and whose it is."""
    return Problem(where, "estimated", message)


def is_asked(source: object, settings: Mapping[str, Any]) -> TypeGuard[Live]:
    """Whether the stanza asks the system itself, rather than files saved from it."""
    return isinstance(source, Live) and "path" not in settings
