"""How fast somebody may ask. Buckets live in the process: they are there to keep it answering, so n processes may let n times as much through,
and no request has to wait for a shared store.
"""

import math
import threading
import time
from collections import OrderedDict

MINUTE_S = 60
CALLERS = (
    10_000  # the longest silent are forgotten: by then their buckets are full again, or they are too many to tell apart
)


class Buckets:
    """Each caller has a bucket that holds what they may ask in a minute and fills up again all the time."""

    def __init__(self, per_minute: int) -> None:
        self.size = per_minute
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, caller: str, now: float | None = None) -> int:
        """0, or the seconds to wait."""
        at = time.monotonic() if now is None else now
        rate = self.size / MINUTE_S
        with self._lock:
            left, since = self._left.pop(caller, (self.size, at))
            left = min(self.size, left + (at - since) * rate)
            enough = left >= 1
            self._left[caller] = (left - 1 if enough else left, at)
            while len(self._left) > CALLERS:
                self._left.popitem(last=False)
        return 0 if enough else math.ceil((1 - left) / rate)


class Known:
    """Whose key was good a moment ago, for the limits alone: they are counted before anything is read."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, key: str) -> None:
        with self._lock:
            self._until[key] = time.monotonic() + MINUTE_S
            self._until.move_to_end(key)
            while len(self._until) > CALLERS:
                self._until.popitem(last=False)

    def has(self, key: str) -> bool:
        return self._until.get(key, 0) > time.monotonic()
