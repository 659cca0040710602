"""The stanza of a Slurm source, checked."""

from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from apportion.model.gpus import SCHEMES, WHOLE, Board
from apportion.model.times import Interval, parse_period, zone_named
from apportion.sources.outside.command import COMMAND_SETTINGS
from apportion.sources.outside.web import WEB_SETTINGS
from apportion.sources.settings import Stanza

OWN = (
    "cluster",
    "time_zone",
    "fields",
    "delimiter",
    "suspended",
    "energy",
    "grace_minutes",
    "sharing",
    "window",
    "api",
    "commands",
)
SETTINGS = tuple(dict.fromkeys((*OWN, *COMMAND_SETTINGS, *WEB_SETTINGS)))
HELD, FREE = "held", "free"
WHOLE_NODES, ALL, NONE = "whole nodes", "all", "none"


@dataclass(frozen=True, slots=True)
class How:
    """How accounting is understood, wherever it comes from."""

    source: str
    where: str
    cluster: str = ""
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    fields: tuple[str, ...] = ()
    delimiter: str = ""
    suspended: str = HELD
    energy: str = WHOLE_NODES
    grace_s: int = 3600
    board: Board = WHOLE
    window: Interval | None = None
    commands: bool = False


def how_of(found: Stanza) -> How:
    zone = zone_named(found.text("time_zone", "UTC"), found.where)
    period = found.text("window", "")
    return How(
        source=found.text("name"),
        where=found.where,
        cluster=found.text("cluster", ""),
        zone=zone,
        fields=tuple(name.strip() for name in found.text("fields", "").split(",") if name.strip()),
        delimiter=found.text("delimiter", ""),
        suspended=found.word("suspended", (HELD, FREE), HELD),
        energy=found.word("energy", (WHOLE_NODES, ALL, NONE), WHOLE_NODES),
        grace_s=60 * found.number("grace_minutes", 60, 0, 525_600),
        board=Board(**found.counts("sharing", SCHEMES)),
        window=parse_period(period, found.where).interval(zone) if period else None,
        commands=found.flag("commands"),
    )
