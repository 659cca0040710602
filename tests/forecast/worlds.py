"""Spending that is planted day by day, and months that are made of a seed. What comes is known here, and not to the forecast."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa

from apportion.model.rows import POSTINGS
from apportion.model.times import Period
from apportion.reports.forecast.made import Known
from apportion.reports.forecast.outlook import Ahead, Outlook, outlook
from apportion.reports.forecast.series import NEEDED, Series

FIRST = date(2026, 5, 1)
MONTH = Period(2026, 10)
Spends = Callable[[date], float]


def days_of(first: date = FIRST, last: date = MONTH.last_day) -> list[date]:
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def cents(amount: float) -> Decimal:
    return Decimal(str(round(amount, 2)))


def series(spends: Spends, name: str = "vision", first: date = FIRST) -> Series:
    return Series(name, "USD", first, tuple(cents(spends(day)) for day in days_of(first)))


def came(spends: Spends, month: Period = MONTH) -> float:
    return sum(round(spends(day), 2) for day in days_of(month.first_day, month.last_day))


def foreseen(spends: Spends, known: int) -> Outlook:
    """The end of the month with so many of its days known: what comes later is cut off before the forecast sees it."""
    through = MONTH.first_day + timedelta(days=known - 1)
    return outlook(Ahead(series(spends).cut(through)), through, MONTH)


def rows(spent: Mapping[tuple[str, str], Spends], last: date, currency: str = "USD") -> pa.Table:
    """As postings, by (team, pool)."""
    found = [
        {
            "period": f"{day:%Y-%m}",
            "day": day,
            "currency": currency,
            "team": team,
            "project": "",
            "pool": pool,
            "amount": cents(spends(day)),
        }
        for (team, pool), spends in spent.items()
        for day in days_of(FIRST, last)
        if spends(day)
    ]
    return pa.Table.from_pylist(found, schema=pa.schema([POSTINGS.field(name) for name in NEEDED]))


def known(spent: Mapping[tuple[str, str], Spends], through: date, *others: pa.Table) -> Known:
    return Known(pa.concat_tables([rows(spent, through), *others]), MONTH, FIRST, through)


def noisy(seed: int, weekend: float = 0.5, swing: float = 0.25) -> Spends:
    """A team with weekends, noise that lasts for days, and a level that drifts."""
    chance = np.random.default_rng(seed)
    days = days_of()
    level, lasting, made = 1000.0 * chance.uniform(0.5, 2), 0.0, dict[date, float]()
    for day in days:
        level *= float(np.exp(chance.normal(0, 0.01)))
        lasting = 0.6 * lasting + float(chance.normal(0, swing))
        made[day] = level * (weekend if day.weekday() >= 5 else 1.0) * float(np.exp(lasting))
    return made.__getitem__


def listed(amounts: Sequence[float]) -> Spends:
    by_day = dict(zip(days_of(), amounts, strict=True))
    return by_day.__getitem__
