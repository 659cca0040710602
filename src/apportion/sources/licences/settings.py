"""A stanza of kind `licences`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from apportion.model.times import zone_named
from apportion.sources.licences.table import COLUMNS
from apportion.sources.settings import stanza

SETTINGS = ("server", "time_zone", "seats", "tokens", "columns", "cluster")


@dataclass(frozen=True, slots=True)
class How:
    source: str
    where: str
    path: str
    zone: ZoneInfo
    server: str = ""
    seats: Mapping[str, int] = field(default_factory=dict)
    tokens: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)


def how_of(settings: Mapping[str, Any]) -> How:
    found = stanza(settings, SETTINGS)
    return How(
        source=found.text("name"),
        where=found.where,
        path=found.text("path"),
        zone=zone_named(found.text("time_zone", "UTC"), found.where),
        server=found.text("server", ""),
        seats=found.counts("seats", features(settings, "seats")),
        tokens=found.counts("tokens", features(settings, "tokens")),
        columns=found.words("columns", COLUMNS),
    )


def features(settings: Mapping[str, Any], key: str) -> Collection[str]:
    """Any name is a feature's."""
    value = settings.get(key, {})
    return value if isinstance(value, Mapping) else ()
