"""What a pool offered and promised: capacity in all states, the part that was not up, and reservations by holder."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from zoneinfo import ZoneInfo

from apportion.engine.calendar import Calendar
from apportion.engine.claims import WHOLE_POOL, Reach
from apportion.engine.clusters import named_cluster
from apportion.engine.demand import integrate_levels, scale_of
from apportion.engine.price import Supply
from apportion.engine.setting import Setting
from apportion.engine.workloads import declared, owner_of
from apportion.model.meters import METERS
from apportion.model.owner import Owner
from apportion.model.times import Interval, day_start
from apportion.policy.document import Policy
from apportion.policy.pools import Pool

Held = list[tuple[Interval, int]]


@dataclass(frozen=True, slots=True)
class Levels:
    """The intervals behind a supply: by curve what was offered and what of it was down, by holder what was promised."""

    offered: Mapping[int, Held]
    down: Mapping[int, Held]
    promised: Mapping[Owner, Held]


NO_LEVELS = Levels({}, {}, {})


def integrate_supply(found: Levels, calendar: Calendar, fine: int = 1) -> Supply:
    """Unit-seconds per cell, in units so many times as fine."""

    def over_cells(levels: Held) -> dict[int, int]:
        return {cell: units * fine for cell, units in integrate_levels(levels, calendar).items()}

    return Supply(
        {curve: over_cells(levels) for curve, levels in found.offered.items()},
        {curve: over_cells(levels) for curve, levels in found.down.items()},
        {holder: over_cells(levels) for holder, levels in found.promised.items()},
    )


def read_levels(name: str, reach: Reach, named: set[str], setting: Setting) -> Levels:
    policy, scale = setting.policy, scale_of(setting.policy.pools[name])
    numbers = {resource: number for number, resource in enumerate(setting.encoded.resources)}
    pool = policy.pools[name]
    offered: dict[int, Held] = defaultdict(list)
    down: dict[int, Held] = defaultdict(list)
    inside = set(reach.supplied)
    for row in setting.capacity:
        number = numbers[row["resource"]]
        if number not in inside or row["meter"] not in pool.meter:
            continue
        level = (
            Interval(row["start_s"], row["end_s"]),
            row["amount"] * scale.factors[row["meter"]] * scale.capacity * scale.fine,
        )
        for curve in {WHOLE_POOL, number + 1} if pool.scope == "resource" else {WHOLE_POOL}:
            offered[curve].append(level)
            if row["state"] != "up":
                down[curve].append(level)
    promised: dict[Owner, Held] = defaultdict(list)
    seasons = [season.interval for season in setting.workforce.seasons]
    for holder, meter, interval, amount in [
        *stated(name, policy, setting.calendar),
        *scheduled(pool, policy, seasons, named, setting),
    ]:
        promised[holder].append((interval, amount * scale.factors[meter] * scale.capacity))
    return Levels(offered, down, promised)


def stated(name: str, policy: Policy, calendar: Calendar) -> Iterable[tuple[Owner, str, Interval, int]]:
    """Reservations that the policy itself promises on days that the plan looks at."""
    zone = ZoneInfo(policy.time_zone)
    for rule in policy.reservations:
        if rule.pool == name and rule.meter in policy.pools[name].meter:
            start = day_start(rule.from_, zone) if rule.from_ else calendar.window.start_s
            end = day_start(rule.until + timedelta(days=1), zone) if rule.until else calendar.window.end_s
            interval = Interval(start, end).clip(calendar.window)
            if interval.seconds > 0:
                yield declared(rule.team, policy), rule.meter, interval, rule.amount


def scheduled(
    pool: Pool, policy: Policy, seasons: Iterable[Interval], named: set[str], setting: Setting
) -> Iterable[tuple[Owner, str, Interval, int]]:
    """Reservations that the scheduler reports: the labels say where they are and, by the owner rules of the day, whose."""
    for row in setting.reservations.to_pylist():
        labels = dict(row["labels"] or ())
        here = (
            pool.usage.matches(named_cluster(labels)) if pool.usage else bool(named & setting.resources.meant(labels))
        )
        if not here or row["meter"] not in pool.meter or METERS[row["meter"]].flow:
            continue
        for season in seasons:
            interval = Interval(row["start_s"], row["end_s"]).clip(season)
            if interval.seconds > 0:
                yield owner_of(labels, policy, season, []).at_team(), row["meter"], interval, row["amount"]
