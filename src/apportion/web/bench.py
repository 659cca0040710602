"""Months computed again, for explanations and prices. A computation takes seconds and much memory: two are kept, and one is at work at a time."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from apportion.books.recent import Recent
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.verbs.plan import Computed, compute
from apportion.verbs.project import Project
from apportion.verbs.world import Pins

KEPT = 2


class Bench:
    """Whoever asks for the same while it is computed waits for it, since a computed month's database answers one at a time anyhow."""

    def __init__(self) -> None:
        self._kept: Recent[Computed] = Recent(KEPT)
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._kept)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Around all that reads a computed month."""
        with self._lock:
            yield

    def compute(self, project: Project, period: Period, policy: Policy, pins: Pins) -> Computed:
        key = (str(period), policy.text, *pinned(pins), project.books.erasures())
        with self._lock:
            return self._kept.get(key, lambda: compute(project, period, policy, pins).kept())


def pinned(pins: Pins) -> tuple[Hashable, ...]:
    late = None if pins.late is None else tuple(sorted(pins.late.items()))
    return tuple(sorted(pins.snapshots.items())), pins.before_seq, late
