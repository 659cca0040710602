"""Volumes that nobody reads, planted among such as are read, written, kept on purpose, or of which nobody says when they were read."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from apportion.model.times import DAY_S
from apportion.sources.demo.calendar import Calendar
from apportion.sources.demo.dice import Dice
from apportion.sources.demo.flows import GIB, Flow
from apportion.sources.demo.organisation import CREWS

EACH: Final = 10  # of every kind


class Volume(NamedTuple):
    """Last read so many days before the month's end, from and to; grown by so many per mille a day."""

    waste: str
    unread: tuple[int, int] | None
    grown: tuple[int, int] = (0, 0)
    kept: bool = False


VOLUMES: Final = (
    Volume("abandoned", (75, 500)),
    Volume("", (0, 40)),
    Volume("", (75, 500), (2, 9)),  # written and not read yet
    Volume("", (75, 500), kept=True),
    Volume("", None),
)


def shelved(calendar: Calendar, seed: int) -> Iterator[tuple[str, list[Flow]]]:
    """Each volume day by day, and which waste it is."""
    dice = Dice(seed, "shelved")
    last_day = calendar.period.first_day + timedelta(days=30)
    for number, kind in enumerate(VOLUMES * EACH):
        crew = CREWS[dice.below(len(CREWS))]
        labels = told(kind, last_day, dice)
        name, level, grown = f"{crew.team}-runs-{number}", dice.between(400, 9000) * GIB, dice.between(*kind.grown)
        days = range(calendar.window.start_s, calendar.window.end_s, DAY_S)
        yield kind.waste, [
            Flow(f"volume/{name}", name, crew.team, crew.projects[0], "fs-checkpoints", start, min(start + DAY_S, calendar.window.end_s),
                 level + level * grown * n // 1000, labels)
            for n, start in enumerate(days)
        ]  # fmt: skip


def told(kind: Volume, last_day: date, dice: Dice) -> tuple[tuple[str, str], ...]:
    found = []
    if kind.unread:
        found.append(("tag.last_read", f"{last_day - timedelta(days=dice.between(*kind.unread))}"))
    if kind.kept:
        found.append(("tag.keep_until", f"{last_day + timedelta(days=dice.between(30, 900))}"))
    return tuple(found)
