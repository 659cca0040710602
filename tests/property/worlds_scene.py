"""The stage of a world: zone, window, teams, nodes, which pools there are and how each is charged."""

import random
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from apportion.model.times import parse_period

HOUR = 3600
PLACES = (  # zone, planned period, a moment to start near
    ("UTC", "2026-10", "2026-10-14T00"),
    ("UTC", "2026-10", "2026-10-31T06"),
    ("UTC", "2026-02", "2026-02-27T21"),
    ("America/Los_Angeles", "2026-10", "2026-10-12T07"),
    ("America/Los_Angeles", "2026-11", "2026-11-01T01"),
    ("America/Los_Angeles", "2026-11", "2026-10-31T20"),
    ("Europe/Berlin", "2026-10", "2026-10-24T21"),
    ("Europe/Berlin", "2026-10", "2026-10-31T18"),
    ("Australia/Lord_Howe", "2026-10", "2026-10-03T11"),
)
TEAMS = ("vision", "speech", "équipe", "ads")
METHODS = ("proportional", "capacity_rate", "capacity_rate", "capacity_rate", "capacity_rate", "time", "rate_card")


@dataclass(frozen=True)
class Scene:
    zone: str
    period: str
    size: int
    start: int
    end: int
    billing: tuple[int, int]
    teams: tuple[str, ...]
    nodes: tuple[str, ...]
    gpu_layout: str  # one | two | label | lines | partition
    gpu_method: str
    gpu_meters: tuple[str, ...]
    gpu_scope: str
    extras: frozenset[str]  # storage, network, energy, licences, tagged, cards, platform, rest
    issuers: tuple[tuple[str, str], ...]  # with the currency of their bill
    tight: bool  # less capacity than most ask for
    services: str = ""  # the method by which some pools serve others
    two_energies: bool = False  # the energy pool is shared by time held and by joules

    @property
    def hours(self) -> int:
        return max(1, (self.end - self.start) // HOUR)

    @property
    def days(self) -> list[date]:
        zone = ZoneInfo(self.zone)
        first, last = (datetime.fromtimestamp(second, tz=zone).date() for second in (self.start, self.end))
        return [first + timedelta(days=i) for i in range((last - first).days + 1)]


def draw_scene(dice: random.Random, size: int) -> Scene:
    zone, period, near = dice.choice(PLACES)
    start = int(datetime.fromisoformat(near).replace(tzinfo=UTC).timestamp()) + dice.randrange(6) * HOUR
    length = dice.randint(2, 4) if size == 0 else dice.choice((3, 6, 8, 14, 26, 49, 72))
    end = start + length * HOUR
    month = parse_period(period)
    kinds = [month.interval(ZoneInfo("UTC")), month.interval(ZoneInfo(zone))]
    billing = (start, end)
    if size and dice.random() < 0.85:
        chosen = dice.choice(kinds)
        billing = (chosen.start_s, chosen.end_s)
    extras = frozenset(
        name
        for name in ("storage", "network", "energy", "licences", "tagged", "cards", "platform", "rest")
        if dice.random() < (0.35 if size else 0.15)
    )
    nodes = ("h100-gpu1", "h100-gpu2", "a100-gpu1")[: dice.choice((0, 1, 2, 2, 3, 3))]
    issuers = [("Cloud One", "USD")]
    if dice.random() < 0.5:
        issuers.append(("Colo", dice.choice(("USD", "EUR", "EUR"))))
    return Scene(
        zone, period, size, start, end, billing,
        TEAMS[: dice.randint(1, 4)], nodes,
        dice.choice(("one", "one", "one", "two", "two", "label", "label", "lines", "partition")),
        dice.choice(METHODS),
        dice.choice((("gpu",), ("gpu",), ("gpu",), ("cpu",), ("gpu", "cpu", "memory"))),
        dice.choice(("pool", "pool", "resource")),
        extras, tuple(issuers), dice.random() < 0.35,
    )  # fmt: skip
