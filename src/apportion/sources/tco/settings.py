"""A stanza of kind `tco`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from apportion.model.currencies import MINOR_DIGITS
from apportion.model.times import Period, parse_period, zone_named
from apportion.sources.settings import stanza

SETTINGS = ("issuer", "currency", "time_zone", "since", "until", "role")
ROLES = ("bill", "reference")


@dataclass(frozen=True, slots=True)
class How:
    source: str
    where: str
    path: str
    issuer: str
    currency: str
    zone: ZoneInfo
    role: str
    since: Period | None
    until: Period | None


def how_of(settings: Mapping[str, Any]) -> How:
    found = stanza(settings, SETTINGS)

    def month(key: str) -> Period | None:
        return parse_period(found.text(key), f"{found.where}: {key}") if key in settings else None

    return How(
        source=found.text("name"),
        where=found.where,
        path=found.text("path"),
        issuer=found.text("issuer", "Own hardware"),
        currency=found.word("currency", MINOR_DIGITS) if "currency" in settings else "",
        zone=zone_named(found.text("time_zone", "UTC"), found.where),
        role=found.word("role", ROLES, "bill"),
        since=month("since"),
        until=month("until"),
    )
