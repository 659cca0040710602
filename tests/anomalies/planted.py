"""Days of a team as they are: a weekly season, days that hang together, wild days now and then. In it, or not, a step."""

import math
import random
from dataclasses import dataclass
from datetime import date

from apportion.reports.anomaly.daily import Daily

WEEK = (1.0, 1.05, 1.05, 1.0, 0.95, 0.6, 0.55)
FIRST = date(2026, 6, 1)
MEMORY = 0.3  # of a day for the day before
WILD = 0.02  # of all days come to half as much again, or up to three times as much


@dataclass(frozen=True)
class Planted:
    daily: Daily
    at: int


def days(seed: int, noise: float, step: float = 1.3, count: int = 120) -> Planted:
    """`noise` is the standard deviation of a day's logarithm."""
    chance, drift, found = random.Random(seed), 0.0, []
    at = 60 + chance.randrange(20)
    for day in range(count):
        drift = MEMORY * drift + math.sqrt(1 - MEMORY * MEMORY) * chance.gauss(0, noise)
        amount = 1000 * WEEK[day % 7] * math.exp(drift)
        amount *= chance.uniform(1.5, 3) if chance.random() < WILD else 1
        amount *= step if day >= at else 1
        found.append(int(amount * 10**6))
    return Planted(Daily(FIRST, tuple(found), (1,) * count), at)
