"""What was read last and depends on nothing but its key: whoever serves many readers reads it once."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Recent(Generic[Found]):
    """Keeps the `most` that were asked for last. A key says all that its value depends on; whoever has a value leaves it as it is."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Hashable, Found] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def peek(self, key: Hashable) -> Found | None:
        with self._lock:
            return self._kept.get(key)

    def get(self, key: Hashable, read: Callable[[], Found]) -> Found:
        with self._lock:
            found = self._kept.get(key)
        found = read() if found is None else found
        with self._lock:
            found = self._kept.setdefault(key, found)  # another thread may have been quicker: all have the same
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)
        return found
