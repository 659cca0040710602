"""What an hour of a pool costs, and how much of it stands idle. Nothing here names a team."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from fractions import Fraction

import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.reports.anomaly.causes import of_parts, of_price
from apportion.reports.anomaly.daily import Daily, rates
from apportion.reports.anomaly.found import STEP, Anomaly, Kind
from apportion.reports.anomaly.levels import UP, Bar, Step, steps
from apportion.reports.statement.drivers import USE
from apportion.reports.sums import ZERO, grouped, total
from apportion.verbs.noticing.known import (
    LEAST,
    MICRO,
    Known,
    Window,
    attos,
    by_weights,
    is_shown,
    looked_from,
    window,
    within,
)

PRICES = Bar(rise=100_000, floor=15_000)  # prices are steadier than what is spent
IDLE = Bar(ways=(UP,))  # less of it only ends what was told
POINTS = Fraction(5, 100)  # of the pool, that idle must have grown by
Amounts = dict[tuple[str, str], dict[date, int]]


def pools(seen: Known) -> Iterator[Anomaly]:
    used, idle, whole = sums_of(seen)
    yield from prices(seen, used)
    for (pool, currency), amounts in sorted(whole.items()):
        if (pool, currency) in idle:
            daily = rates(idle[pool, currency], amounts, seen.until)
            for some, step in lasting(seen, daily, IDLE):
                yield from idle_of(seen, pool, currency, some, step)


def sums_of(seen: Known) -> tuple[Amounts, Amounts, Amounts]:
    """Of use, of idle, and of both, by pool and currency."""
    found: tuple[Amounts, Amounts, Amounts] = tuple(defaultdict(lambda: defaultdict(int)) for _ in range(3))  # type: ignore[assignment]
    used, idle, whole = found
    for (pool, currency, reason, day), amount in grouped(seen.rows, ("pool", "currency", "reason", "day")).items():
        own = used if reason in USE else idle if reason == "idle" else None
        if own is not None and is_money(currency):
            for sums in (own, whole):
                sums[pool, currency][date.fromisoformat(day)] += attos(amount) // MICRO
    return found


def lasting(seen: Known, daily: Daily, bar: Bar) -> Iterator[tuple[Window, Step]]:
    for step in steps(daily, looked_from(seen, daily), bar):
        if is_shown(seen, daily, step.last):
            yield window(daily, step), step


def prices(seen: Known, used: Amounts) -> Iterator[Anomaly]:
    """Of posted months: what is estimated has the last price by definition."""
    until = seen.posted_until
    hours: dict[tuple[str, str], dict[date, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    units: dict[tuple[str, str], str] = {}
    for (day, _, currency, pool), (unit, amount) in seen.hours.items():
        if until is not None and day <= until:
            hours[pool, currency][day] += amount
            units[pool, currency] = unit
    for (pool, currency), own in sorted(hours.items()):
        if until is None or not any(own.values()) or not is_money(currency):
            continue
        seconds = {day: round(amount * 3600) for day, amount in own.items()}
        for some, step in lasting(seen, rates(used[pool, currency], seconds, until), PRICES):
            yield from price_of(seen, (pool, currency, units[pool, currency]), own, some, step)


def price_of(
    seen: Known, whose: tuple[str, str, str], hours: dict[date, Fraction], some: Window, step: Step
) -> Iterator[Anomaly]:
    pool, currency, unit = whose
    rows = within(seen.rows, some.days, pool=pool, currency=currency)
    before, now = by_weights(rows, "reason", some)
    used = [sum((sums.get(reason, Fraction(0)) for reason in USE), Fraction(0)) for sums in (before, now)]
    costs = [own + sums.get("idle", Fraction(0)) for own, sums in zip(used, (before, now), strict=True)]
    counted = [
        sum((weight * hours.get(day, 0) for day, weight in weights.items()), Fraction(0))
        for weights in (some.before, some.now)
    ]
    if not all(counted) or not all(costs):
        return
    causes = of_price((costs[0], costs[1]), (used[0], used[1]), (counted[0], counted[1]))
    meant = total(causes.values()) if causes else ZERO
    if step.way * attos(meant) >= LEAST:
        figures = (used[0] / counted[0] / 10**18, used[1] / counted[1] / 10**18)
        yield Anomaly(
            "price", pool, currency, STEP, some.began, some.last, *figures, meant, causes, unit=f"{unit}-hour", is_over=step.is_over
        )  # fmt: skip


def idle_of(seen: Known, pool: str, currency: str, some: Window, step: Step) -> Iterator[Anomaly]:
    """By what was idle: unsold, reserved, held without use, or down."""
    rows = within(seen.rows, some.days, pool=pool, currency=currency)
    rows = rows.filter(pc.is_in(rows["reason"], pc.cast([*USE, "idle"], rows["reason"].type)))
    wholes = [sum(sums.values(), Fraction(0)) for sums in by_weights(rows, "currency", some)]
    before, now = by_weights(rows.filter(pc.equal(rows["reason"], "idle")), "cause", some)
    if not all(wholes):
        return
    figures = sum(before.values(), Fraction(0)) / wholes[0], sum(now.values(), Fraction(0)) / wholes[1]
    causes = of_parts(before, now, wholes[1] / wholes[0])
    meant = total(causes.values())
    estimated = seen.estimated is not None and some.last >= seen.estimated
    if attos(meant) >= LEAST and figures[1] - figures[0] >= POINTS:
        kind: Kind = "idle"
        yield Anomaly(
            kind, pool, currency, STEP, some.began, some.last, *figures, meant, causes, is_over=step.is_over, estimated=estimated
        )  # fmt: skip
