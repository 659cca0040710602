"""What a team spends, and what it pays for an hour."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.anomaly.causes import causes_of, difference
from apportion.reports.anomaly.daily import Daily, rates, spending
from apportion.reports.anomaly.found import DAY, STEP, Anomaly
from apportion.reports.anomaly.levels import APART, UP, Step, steps
from apportion.reports.anomaly.spikes import HIGHEST, spikes
from apportion.reports.held import HOUR_S
from apportion.reports.sums import grouped
from apportion.verbs.noticing.known import (
    LEAST,
    MICRO,
    Known,
    Window,
    attos,
    is_shown,
    looked_from,
    sides,
    window,
    within,
)
from apportion.verbs.noticing.leading import leading

UNIT = "GPU"  # whose hours are compared between teams' months
NEAR = 2  # days: a wild day that a step begins with is that step
SETTLING = 14  # days
Hourly = tuple[date, str, str, Fraction]


def teams(seen: Known) -> Iterator[Anomaly]:
    """Spending; and where that is as usual, what an hour costs."""
    told: dict[tuple[str, str], list[date]] = defaultdict(list)
    for one in spent(seen):
        told[one.owner, one.currency].append(one.began)
        yield one
    for one in paid(seen):
        near = told.get((one.owner, one.currency), [])
        if all(abs((one.began - began).days) > SETTLING for began in near):
            yield one


def spent(seen: Known) -> Iterator[Anomaly]:
    sums: dict[tuple[str, str], dict[date, int]] = defaultdict(dict)
    for (team, currency, day), amount in grouped(seen.rows, ("team", "currency", "day")).items():
        if team not in SYSTEM_OWNERS and is_money(currency):
            sums[team, currency][date.fromisoformat(day)] = attos(amount) // MICRO
    for (team, currency), amounts in sorted(sums.items()):
        daily = spending(amounts, seen.until)
        for step, shape, apart in in_order(daily, looked_from(seen, daily)):
            if is_shown(seen, daily, step.last):
                yield from weighed_spending(seen, (team, currency), window(daily, step, apart), step, shape)


def in_order(daily: Daily, first: int) -> list[tuple[Step, str, tuple[int, ...]]]:
    """Steps, and wild days that are none; a step that begins with a wild day began on it. What is told of a wild day is not told of its step again."""
    wild = spikes(daily, first, LEAST // MICRO)
    found = list[Step]()
    for step in steps(daily, first):
        own = next((place for place in wild if step.way == UP and abs(place - step.began) <= NEAR), step.began)
        if step.since is not None:
            own = max(own, found[-1].began + 1)
            found[-1] = replace(found[-1], last=own - 1)
        found.append(replace(step, began=own))
    days = [place for place in wild if not any(is_part(daily, place, step) for step in found)]
    made = [(step, STEP, tuple(place for place in days if step.began < place <= step.last)) for step in found]
    for place in days:
        within = next((step.began for step in reversed(found) if step.began < place <= step.last), None)
        made.append((Step(place, place, place, is_over=True, since=within), DAY, ()))
    return sorted(made, key=lambda one: one[0].began)


def is_part(daily: Daily, place: int, step: Step) -> bool:
    """Whether a step began with a wild day, or went on as high from it on before its own level was known."""
    after = daily.parts[place + 1 : place + 1 + NEAR]
    stays = bool(after) and HIGHEST * min(after) > 10 * daily.parts[place]
    return place == step.began or (step.began < place < step.began + APART and stays)


def weighed_spending(seen: Known, whose: tuple[str, str], some: Window, step: Step, shape: str) -> Iterator[Anomaly]:
    team, currency = whose
    rows = within(seen.rows, some.days, team=team, currency=currency)
    before, now = sides(rows, lambda: hours(seen, team, currency), some)
    meant, days = difference(before, now), len(some.now)
    if step.way * attos(meant) < LEAST:
        return
    yield Anomaly(
        "spend", team, currency, shape, some.began, some.last,
        before.whole / days / 10**18, now.whole / days / 10**18, meant, causes_of(before, now),
        leading(seen, rows, some, (team, step.way)),
        is_over=step.is_over and shape == STEP, estimated=is_estimated(seen, some),
    )  # fmt: skip


def hours(seen: Known, team: str, currency: str) -> Iterator[Hourly]:
    for (day, who, unit_of, pool), (unit, amount) in seen.hours.items():
        if (who, unit_of) == (team, currency):
            yield day, pool, unit, amount


def is_estimated(seen: Known, some: Window) -> bool:
    return seen.estimated is not None and some.last >= seen.estimated


def paid(seen: Known) -> Iterator[Anomaly]:
    """Of posted months: what is estimated has the last price by definition."""
    until = seen.posted_until
    if until is None:
        return
    pools = {(currency, pool) for (_, _, currency, pool), (unit, _) in seen.hours.items() if unit == UNIT}
    money = money_in(seen, pools)
    for (team, currency), seconds in sorted(seconds_in(seen, pools, until).items()):
        if team in SYSTEM_OWNERS or not any(seconds.values()):
            continue
        daily = rates(money[team, currency], seconds, until)
        for step in steps(daily, looked_from(seen, daily)):
            if is_shown(seen, daily, step.last):
                some = window(daily, step)
                yield from weighed_hours(seen, (team, currency), some, step, {pool for _, pool in pools})


def seconds_in(seen: Known, pools: set[tuple[str, str]], until: date) -> dict[tuple[str, str], dict[date, int]]:
    """Held of some pools, by team and currency."""
    sums: dict[tuple[str, str], dict[date, int]] = defaultdict(lambda: defaultdict(int))
    for (day, team, currency, pool), (_, amount) in seen.hours.items():
        if (currency, pool) in pools and day <= until:
            sums[team, currency][day] += round(amount * HOUR_S)
    return sums


def money_in(seen: Known, pools: set[tuple[str, str]]) -> dict[tuple[str, str], dict[date, int]]:
    """All that is posted of some pools, by team and currency."""
    sums: dict[tuple[str, str], dict[date, int]] = defaultdict(lambda: defaultdict(int))
    for (team, currency, pool, day), amount in grouped(seen.rows, ("team", "currency", "pool", "day")).items():
        if (currency, pool) in pools:
            sums[team, currency][date.fromisoformat(day)] += attos(amount) // MICRO
    return sums


def weighed_hours(seen: Known, whose: tuple[str, str], some: Window, step: Step, pools: set[str]) -> Iterator[Anomaly]:
    """Against as many hours as there are now, so that more of them is no cause."""
    team, currency = whose
    rows = within(seen.rows, some.days, team=team, currency=currency)
    rows = rows.filter(pc.is_in(rows["pool"], pc.cast(sorted(pools), rows["pool"].type)))
    before, now = sides(rows, lambda: (one for one in hours(seen, team, currency) if one[1] in pools), some)
    then, since = sum(before.hours.values(), Fraction(0)), sum(now.hours.values(), Fraction(0))
    if not then or not since:
        return
    fair = before.scaled(since / then)
    meant = difference(fair, now)
    if step.way * attos(meant) >= LEAST:
        yield Anomaly(
            "unit cost", team, currency, STEP, some.began, some.last,
            before.whole / then / 10**18, now.whole / since / 10**18, meant, causes_of(fair, now),
            leading(seen, rows, some, (team, step.way)), unit=f"{UNIT}-hour", is_over=step.is_over,
        )  # fmt: skip
