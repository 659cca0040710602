"""Ways to go on from a history of days. Each gives the days to come, one by one; which is used is decided by how they did before (`outlook`).

The middle of all is a method, too: the best where nothing is known of the others. All of it is plain sums and searches over a few constants, so that
the same days give the same figures on every machine.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from apportion.reports.forecast.series import WEEK, Floats

WINDOW = 84  # days; what lies further back says little of the next weeks
LEVEL_FROM, SEASON_FROM = 14, 28  # days that smoothing needs
AHEAD = 31
KEPT = 4096  # histories; a few megabytes
MIDDLE = "middle"
WEIGHTS = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8])  # of the newest day, when smoothing
FADES = 0.9  # what is left of a trend after a week
RARELY = 0.05  # of the usual: days of a week that cost less than that say nothing of the level


def last_week(history: Floats) -> Floats:
    """As the same weekday of the last seven days."""
    return repeated(history[-WEEK:])


def weekdays(history: Floats) -> Floats:
    """As the same weekdays of the last four weeks on average."""
    recent = history[-4 * WEEK :]
    start = len(recent) % WEEK
    return np.array([recent[(start + ahead) % WEEK :: WEEK].mean() for ahead in range(AHEAD)])


def level(history: Floats) -> Floats:
    return np.full(AHEAD, smoothed(history))


def weekly(history: Floats) -> Floats:
    """The level without weekdays, and then with them."""
    shape = weekday_shape(history)
    of_day: Floats = shape[(np.arange(len(history)) - len(history)) % WEEK]
    counts = of_day > RARELY
    return smoothed(history[counts] / of_day[counts]) * repeated(shape)


def trend(history: Floats) -> Floats:
    """Growth from week to week that fades: no team grows for ever."""
    sums = weeks_of(history).mean(axis=1)
    step = float(np.median(np.diff(sums)))
    weeks = np.arange(1, AHEAD + 1) / WEEK + 0.5  # from the middle of the last one
    grown = step * (1 - FADES**weeks) / (1 - FADES)
    path: Floats = (sums[-1] + grown) * repeated(weekday_shape(history))
    return path


def repeated(week: Floats) -> Floats:
    found: Floats = week[np.arange(AHEAD) % WEEK]
    return found


def smoothed(history: Floats) -> float:
    """Exponential smoothing, with the weight whose forecasts of the next day were best."""
    at = np.full(len(WEIGHTS), history[:WEEK].mean())
    off = np.zeros(len(WEIGHTS))
    for amount in history:
        away = amount - at
        off += away * away
        at = at + WEIGHTS * away
    return float(at[np.argmin(off)])


def weekday_shape(history: Floats) -> Floats:
    """How much of an average day each of the next seven days costs, by the weeks before."""
    weeks = weeks_of(history)
    means = weeks.mean(axis=1)
    some = means > 0
    if not some.any():
        return np.ones(WEEK)
    shape: Floats = np.maximum(np.median(weeks[some] / means[some, None], axis=0), 0.0)
    return shape / shape.mean() if shape.mean() > 0 else np.ones(WEEK)


def weeks_of(history: Floats) -> Floats:
    """The last whole weeks, one a row."""
    found: Floats = history[len(history) % WEEK :].reshape(-1, WEEK)
    return found[-WINDOW // WEEK :]


METHODS: Mapping[str, tuple[int, Callable[[Floats], Floats]]] = {  # with the days that each needs
    "last week": (WEEK, last_week),
    "weekdays": (4 * WEEK, weekdays),
    "level": (LEVEL_FROM, level),
    "weekly season": (SEASON_FROM, weekly),
    "fading trend": (SEASON_FROM, trend),
}


def paths(history: Floats) -> Mapping[str, Floats]:
    """The days to come, by the name of each method. Kept: the same days are looked at for a team, for its pools and for all together, by many."""
    return made_of(history.tobytes())


@lru_cache(KEPT)
def made_of(history: bytes) -> Mapping[str, Floats]:
    """By every method that has days enough, and by the middle of them. Before the first day with a figure there was nothing to count."""
    days = np.frombuffer(history, np.float64)
    some = np.flatnonzero(days)
    if not len(some):
        return {MIDDLE: np.zeros(AHEAD)}
    own = days[some[0] :][-WINDOW:]
    least = 0.0 if own.min() >= 0 else -np.inf  # what was never refunded is not expected to be
    if len(own) < WEEK or own.min() == own.max():
        return {MIDDLE: np.full(AHEAD, own.mean())}
    made = {name: np.maximum(method(own), least) for name, (needed, method) in METHODS.items() if len(own) >= needed}
    return {MIDDLE: np.median(list(made.values()), axis=0), **made}
