"""What teams store and send: volumes that grow day by day, and bytes that leave the clusters."""

from dataclasses import dataclass

from apportion.model.times import DAY_S
from apportion.sources.demo.calendar import BURST_DAYS, Calendar
from apportion.sources.demo.dice import Dice
from apportion.sources.demo.organisation import CREWS, VISION

GIB = 2**30
FILE_SYSTEMS = ("datasets", "checkpoints")
STORED_GIB = {"datasets": (61_000, 48_000, 22_000, 37_000, 30_000, 19_000, 26_000, 2_000),
              "checkpoints": (52_000, 17_000, 9_000, 12_000, 15_000, 7_000, 6_000, 500)}  # fmt: skip
SCRATCH_GIB = 4_300  # a volume nobody put a name on
SENT_GIB = (210, 160, 90, 420, 60, 70, 510, 30)  # a day
GATEWAYS = ("ml-training", "ml-serving")  # the accounts through which bytes leave


@dataclass(frozen=True, slots=True)
class Flow:
    """One row of a volume or a gateway: bytes held over, or sent in, a day."""

    workload: str
    name: str
    team: str  # "" where nobody is named
    project: str
    resource: str
    start: int
    end: int
    amount: int
    labels: tuple[tuple[str, str], ...] = ()


def volumes(calendar: Calendar, seed: int) -> list[Flow]:
    dice = Dice(seed, "volumes")
    found = []
    for system in FILE_SYSTEMS:
        levels = [(crew.team, crew.projects[0], gib * GIB) for crew, gib in zip(CREWS, STORED_GIB[system], strict=True)]
        levels += [("", "", SCRATCH_GIB * GIB)] if system == "datasets" else []
        for team, project, level in levels:
            name = f"{team or 'scratch'}-{system}"
            bytes_held = level
            for start in range(calendar.window.start_s, calendar.window.end_s, DAY_S):
                bytes_held += level * dice.between(-2, 9) // 1000 + dice.below(4096)
                end = min(start + DAY_S, calendar.window.end_s)
                found.append(Flow(f"volume/{name}", name, team, project, f"fs-{system}", start, end, bytes_held))
    return found


def traffic(calendar: Calendar, seed: int) -> list[Flow]:
    dice = Dice(seed, "traffic")
    found = []
    for gateway in GATEWAYS:
        for number, crew in enumerate(CREWS):
            share = 75 if (gateway == "ml-serving") == (number in {3, 6}) else 25
            for start in range(calendar.window.start_s, calendar.window.end_s, DAY_S):
                busy = 3 if number == VISION and calendar.local(start).day in BURST_DAYS else 1
                amount = SENT_GIB[number] * GIB * share * dice.between(60, 140) // 10_000 * busy + dice.below(GIB)
                end = min(start + DAY_S, calendar.window.end_s)
                amount = amount * (end - start) // DAY_S
                name = f"{crew.team}-{gateway}"
                found.append(
                    Flow(f"egress/{name}", name, crew.team, crew.projects[0], f"egress-{gateway}", start, end, amount)
                )
    return found
