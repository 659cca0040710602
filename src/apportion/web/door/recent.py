"""What was found a moment ago, so that a request need not ask the database for it again."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

REMEMBERED_S = 5  # a session that another process ended is let in for so long
REMEMBERED = 10_000
Kept = TypeVar("Kept")


class Recent(Generic[Kept]):
    """What was not found is looked for again each time."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, tuple[Kept, float]] = OrderedDict()
        self._changes = 0
        self._lock = threading.Lock()

    def has(self, name: str) -> bool:
        found = self._found.get(name)
        return found is not None and found[1] > time.time()

    def get(self, name: str, look: Callable[[], tuple[Kept, int] | None]) -> Kept | None:
        """`look` gives what there is and the second when it ends."""
        kept = self._found.get(name)
        if kept is not None and kept[1] > time.time():
            return kept[0]
        changes = self._changes
        found = look()
        if found is None:
            return None
        with self._lock:
            if changes == self._changes:  # else it may have been ended while it was looked for
                self._found[name] = (found[0], min(found[1], time.time() + REMEMBERED_S))
                self._found.move_to_end(name)
            while len(self._found) > REMEMBERED:
                self._found.popitem(last=False)
        return found[0]

    def forget(self, name: str = "") -> None:
        """One, or all."""
        with self._lock:
            self._changes += 1
            if name:
                self._found.pop(name, None)
            else:
                self._found.clear()
