"""Ways to go on from a history of days. Each gives the days to come, one by one; which is used is decided by how they did before (`outlook`).

Smoothing is that of statsmodels, fitted afresh at every origin. The middle of all is a method, too: the best where nothing is known of the others.
"""

import warnings
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from apportion.errors import ProjectError
from apportion.reports.forecast.series import Floats

WEEK, WINDOW = 7, 84  # days; what lies further back says little of the next weeks
LEVEL_FROM, SEASON_FROM = 14, 28  # days that smoothing needs
AHEAD = 31
KEPT = 4096  # histories; a few megabytes
MIDDLE = "middle"
SEARCH = "Powell"  # needs no slopes: as good as the others here, and quick


@cache
def library(name: str) -> Any:
    """Imported when the first forecast is made: it is an extra, and slow to load."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ProjectError(
            "forecast-missing",
            f"a forecast is asked for, and the Python package that makes it is not installed ({error})",
            hint='pip install "apportion[forecast]"; `apportion report live` has a straight line without it',
        ) from error


def last_week(history: Floats) -> Floats:
    """As the same weekday of the last seven days."""
    return np.resize(history[-WEEK:], AHEAD)


def weekdays(history: Floats) -> Floats:
    """As the same weekdays of the last four weeks on average."""
    recent = history[-4 * WEEK :]
    start = len(recent) % WEEK
    return np.array([recent[(start + ahead) % WEEK :: WEEK].mean() for ahead in range(AHEAD)])


def level(history: Floats) -> Floats:
    return smoothed(history)


def weekly(history: Floats) -> Floats:
    return smoothed(history, seasonal="add", seasonal_periods=WEEK)


def trend(history: Floats) -> Floats:
    """Growth that fades: no team grows for ever."""
    return smoothed(history, trend="add", damped_trend=True, seasonal="add", seasonal_periods=WEEK)


def smoothed(history: Floats, **shape: Any) -> Floats:
    """Fitted in units of the history's own size: the search for the best fit goes by steps that suit figures about 1."""
    make = library("statsmodels.tsa.holtwinters").ExponentialSmoothing
    size = float(np.abs(history).mean())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that does not converge is judged by its errors, as all are
        fitted = make(history / size, initialization_method="heuristic", **shape).fit(method=SEARCH, use_brute=False)
        return size * np.nan_to_num(np.asarray(fitted.forecast(AHEAD), np.float64))


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
