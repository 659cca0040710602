"""A stanza of kind `storage`, checked as far as it can be without its files."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from apportion.errors import ProjectError
from apportion.model.times import zone_named
from apportion.sources.outside.command import COMMAND_SETTINGS, Shell
from apportion.sources.settings import stanza
from apportion.sources.storage.held import HOUR_S, Patience
from apportion.sources.storage.report import KINDS

UNITS = {
    "bytes": 1,
    "B": 1,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
    "PiB": 2**50,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "PB": 10**15,
}
SETTINGS = (
    "by", "volume", "held", "unit", "columns", "time_zone", "hold_hours", "bridge_hours", "prefix_depth", "command", "keep", "cluster",
    *COMMAND_SETTINGS,
)  # fmt: skip
COLUMNS = ("name", "used", "quota", "kind", "volume", "time")
DAY_H, WEEK_H, YEAR_H = 26, 7 * 24, 366 * 24  # a daily report that comes two hours late is not late


@dataclass(frozen=True, slots=True)
class How:
    source: str
    where: str
    path: str  # of saved reports, or the folder in which those of the command are kept
    zone: ZoneInfo
    patience: Patience
    shell: Shell
    by: str = ""
    volume: str = ""
    held: str = "used"
    unit: int | None = None
    columns: Mapping[str, str] | None = None
    prefix_depth: int = 1
    command: tuple[str, ...] = ()


def how_of(settings: Mapping[str, Any]) -> How:
    found = stanza(settings, SETTINGS)
    command = settings.get("command", "")
    words = (
        tuple(shlex.split(found.text("command"))) if command and isinstance(command, str) else found.names("command")
    )
    if words and "path" in settings:
        raise ProjectError(
            "invalid-setting",
            "a source with a command has no path: what the command prints is kept in the folder `keep`",
            where=found.where,
            hint='remove path or command; keep = "..." names the folder',
        )
    hold = found.number("hold_hours", DAY_H, 1, YEAR_H)
    return How(
        source=found.text("name"),
        where=found.where,
        path=found.text("keep", f"storage/{found.text('name')}") if words else found.text("path"),
        zone=zone_named(found.text("time_zone", "UTC"), found.where),
        patience=Patience(hold * HOUR_S, max(hold, found.number("bridge_hours", WEEK_H, 0, YEAR_H)) * HOUR_S),
        by=found.word("by", (*KINDS, ""), ""),
        volume=found.text("volume", ""),
        held=found.word("held", ("used", "quota"), "used"),
        unit=UNITS[found.word("unit", UNITS)] if "unit" in settings else None,
        columns=found.words("columns", COLUMNS),
        prefix_depth=found.number("prefix_depth", 1, 1, 20),
        command=words,
        shell=Shell.of(found),
    )
