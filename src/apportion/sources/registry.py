"""Which sources there are: whatever installed packages offer under the entry point `apportion.sources`. Built-ins register the same way."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.live import Live, Read
from apportion.sources.settings import nearest

GROUP = "apportion.sources"
Source = Callable[[Mapping[str, Any], Path, Interval | None], Iterator[Delivery]] | Live


def source_kinds() -> list[str]:
    return sorted({entry.name for entry in offered(entry_points, tuple(sys.path))})


@cache
def offered(find: Callable[..., Iterable[EntryPoint]], path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Every installed package is opened for it, so once for each way to look and each `path` to look in."""
    del path
    return tuple(find(group=GROUP))


def source_named(kind: str, where: str = "") -> Source:
    """The `read` function of a kind of source, or its `Live`. A kind that two packages offer is refused: which one reads a bill must not be chance."""
    offers = [entry for entry in offered(entry_points, tuple(sys.path)) if entry.name == kind]
    if not offers:
        raise ProjectError(
            "unknown-source", f"there is no source kind {kind!r}", where=where, hint=nearest(kind, source_kinds())
        )
    if len({entry.value for entry in offers}) > 1:
        packages = ", ".join(sorted(entry.value for entry in offers))
        raise ProjectError(
            "ambiguous-source",
            f"two packages offer source kind {kind!r}: {packages}",
            where=where,
            hint="uninstall one of them",
        )
    return load(offers[0], where)


def reader(source: Source) -> Read:
    """How to read it, whichever form it has."""
    return source.read if isinstance(source, Live) else source


def load(entry: EntryPoint, where: str) -> Source:
    try:
        read = entry.load()
    except (ImportError, AttributeError) as error:
        raise ProjectError(
            "broken-source",
            f"source kind {entry.name!r} ({entry.value}) cannot be loaded: {error}",
            where=where,
            hint="reinstall the package that offers it",
        ) from error
    if not callable(read) and not isinstance(read, Live):
        raise ProjectError(
            "broken-source", f"source kind {entry.name!r} ({entry.value}) is neither a function nor a Live", where=where
        )
    source: Source = read
    return source
