"""What was found a moment ago, so that a request need not ask the database for it again."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

REMEMBERED_S = 5  # what another process ended is let in for so long
REMEMBERED = 10_000
Kept = TypeVar("Kept")


class Recent(Generic[Kept]):
    """`ended` counts what this process has ended: from then on nothing found before counts. What was not found is looked for again each time."""

    def __init__(self, ended: Callable[[], int]) -> None:
        self._ended = ended
        self._found: OrderedDict[str, tuple[Kept, float, int]] = OrderedDict()
        self._lock = threading.Lock()

    def has(self, name: str) -> bool:
        return self._good(name) is not None

    def _good(self, name: str) -> tuple[Kept, float, int] | None:
        found = self._found.get(name)
        return found if found and found[1] > time.time() and found[2] == self._ended() else None

    def get(self, name: str, look: Callable[[], tuple[Kept, int] | None]) -> Kept | None:
        """`look` gives what there is and the second when it ends."""
        kept = self._good(name)
        if kept:
            return kept[0]
        ended = self._ended()  # before looking: what is ended meanwhile must not stay
        found = look()
        if found is None:
            return None
        with self._lock:
            self._found[name] = (found[0], min(found[1], time.time() + REMEMBERED_S), ended)
            self._found.move_to_end(name)
            while len(self._found) > REMEMBERED:
                self._found.popitem(last=False)
        return found[0]
