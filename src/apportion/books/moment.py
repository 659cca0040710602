"""A moment: all that is read while it lasts shows the record as it stood at the first reading, however much is written meanwhile."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine

Found = TypeVar("Found")


class Moment:
    """Of one request, so of one thread at a time. A view is opened by whoever reads first, and none is once it is over."""

    def __init__(self) -> None:
        self.is_over = False
        self._views: dict[Engine, Connection] = {}
        self._known: dict[Hashable, Any] = {}

    @property
    def is_used(self) -> bool:
        return bool(self._views)

    def view(self, engine: Engine, open_: Callable[[], Connection]) -> Connection:
        if engine not in self._views:
            self._views[engine] = open_()
        return self._views[engine]

    def known(self, key: Hashable, find: Callable[[], Found]) -> Found:
        """What cannot be another while it lasts is found out once."""
        if key not in self._known:
            self._known[key] = find()
        found: Found = self._known[key]
        return found

    def drop(self) -> None:
        """After a failure a view shows nothing any more: whoever reads next begins anew."""
        self._known.clear()
        while self._views:
            self._views.popitem()[1].close()

    def end(self) -> None:
        self.is_over = True
        self.drop()


NOW: ContextVar[Moment | None] = ContextVar("moment", default=None)


def current() -> Moment | None:
    now = NOW.get()
    return None if now is None or now.is_over else now


@contextmanager
def moment() -> Iterator[Moment]:
    """Within another it is that one."""
    outer = current()
    if outer is not None:
        yield outer
        return
    made = Moment()
    before = NOW.set(made)
    try:
        yield made
    finally:
        NOW.reset(before)
        made.end()
