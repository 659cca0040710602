"""On traces of real clusters: quiet, and where a cluster is steady enough a step of 30 percent that is planted in its days is found.

Whatever is told of a trace as it is counts as a false alarm, although some of it is none: real teams do begin and end things.
"""

from collections import Counter
from datetime import date, timedelta
from itertools import accumulate
from statistics import median

import duckdb
import pytest

from apportion.reports.anomaly.daily import Daily, spending
from apportion.reports.anomaly.levels import DOWN, UP, steps
from apportion.reports.anomaly.spikes import spikes
from apportion.verbs.noticing.pools import PRICES
from tests.traces.project import MISSING, TRACES

pytestmark = pytest.mark.skipif(not TRACES.exists(), reason=MISSING)
RATE = 2 * 10**6 // 3600  # millionths of a dollar for a GPU-second
LEAST = 100 * 10**6
PHILLY = """
with jobs as (select cluster as team, epoch(timestamp)::bigint as begins, epoch(timestamp)::bigint + duration::bigint as ends, num_gpus from {}),
days as (select *, unnest(generate_series(begins // 86400, (ends - 1) // 86400)) as place from jobs)
select team, date '1970-01-01' + place::int as day, sum((least(ends, (place + 1) * 86400) - greatest(begins, place * 86400)) * num_gpus)::bigint
from days group by all order by all
"""
HELIOS = "select vc, time::date, (sum(running_gpu_num) * 60)::bigint from {} group by all order by all"
SPOT = """
select name, date '2026-01-01' + (hour // 24)::int, (sum(gpus) * 3600)::bigint
from (unpivot {} on columns(* exclude hour) into name name value gpus) group by all order by all
"""
SETS = {
    "philly": ("philly/jobs.parquet", PHILLY),
    "helios": ("helios_earth/vc_minute.parquet", HELIOS),
    "spot": ("spot2026/aggregate_hourly_concurrency_top_models.parquet", SPOT),
}


def teams(trace: str) -> dict[str, Daily]:
    """What each team would have spent a day at 2 dollars a GPU-hour, without the last day, which is not whole."""
    file, query = SETS[trace]
    found: dict[str, dict[date, int]] = {}
    with duckdb.connect() as connection:
        for team, day, seconds in connection.execute(query.format(f"read_parquet('{TRACES / file}')")).fetchall():
            found.setdefault(team, {})[day] = seconds * RATE
    return {team: spending(days, max(max(days) - timedelta(days=1), min(days))) for team, days in sorted(found.items())}


def alarms(daily: Daily) -> list[date]:
    places = {step.seen: step.began for step in steps(daily)}
    began = set(places.values())
    alone = [place for place in spikes(daily, 0, LEAST) if not any(abs(place - one) <= 2 for one in began)]
    return [daily.day(place) for place in sorted([*places, *alone])]


def quarter(day: date) -> str:
    return f"{day.year}-Q{(day.month + 2) // 3}"


@pytest.mark.parametrize("trace", sorted(SETS))
def test_at_most_one_alarm_per_team_and_quarter(trace: str) -> None:
    lines = [f"{trace}: team, quarter, days, alarms"]
    for team, daily in teams(trace).items():
        told = Counter(map(quarter, alarms(daily)))
        known = Counter(quarter(daily.day(place)) for place in range(len(daily)))
        lines += [f"{team}, {name}, {days}, {told[name]}" for name, days in sorted(known.items())]
        assert max(told.values(), default=0) <= 1, (team, told)
    print("\n".join(lines))


def lasting(before: int, now: int) -> int:
    return now or before


def test_at_most_one_alarm_per_price_and_quarter() -> None:
    """Real spot prices of GPU instances, each type in each zone a pool of its own; a price holds until the next."""
    query = "select AvailabilityZone || ' ' || InstanceType, Timestamp[:10]::date, (avg(SpotPrice::double) * 1e6)::bigint from {} group by all order by all"
    file = TRACES / "gpu_prices" / "aws_spot_price_history.parquet"
    found: dict[str, dict[date, int]] = {}
    with duckdb.connect() as connection:
        for name, day, price in connection.execute(query.format(f"read_parquet('{file}')")).fetchall():
            found.setdefault(name, {})[day] = price
    pools, told = 0, 0
    for name, prices in found.items():
        days = [min(prices) + timedelta(days=n) for n in range((max(prices) - min(prices)).days + 1)]
        held = tuple(accumulate((prices.get(day, 0) for day in days), lasting))
        daily = Daily(days[0], held, (1,) * len(held))
        quarters = Counter(quarter(daily.day(step.seen)) for step in steps(daily, 0, PRICES))
        assert max(quarters.values(), default=0) <= 1, name
        pools, told = pools + (len(held) > 35), told + quarters.total()
    print(f"prices of {pools} pools, {told} alarms")
    assert pools > 50


def is_steady(daily: Daily, at: int) -> bool:
    """The eight weeks before and the two after come to the same within twelve percent."""
    weeks = [sum(daily.parts[start : start + 7]) for start in range(at - 56, at + 14, 7)]
    usual = median(weeks)
    return all(100 * abs(week - usual) <= 12 * usual for week in weeks)


@pytest.mark.parametrize(("tenths", "way"), [(13, UP), (7, DOWN)])
def test_every_step_planted_where_a_trace_is_steady_is_found_within_two_weeks_and_told_once(
    tenths: int, way: int
) -> None:
    planted = 0
    for team, daily in teams("spot").items():
        for at in (at for at in range(56, len(daily) - 14, 7) if is_steady(daily, at)):
            parts = tuple(part * tenths // 10 if place >= at else part for place, part in enumerate(daily.parts))
            found = [one for one in steps(Daily(daily.first, parts, daily.wholes)) if at <= one.seen <= at + 14]
            assert [one.way for one in found] == [way], (team, at)
            planted += 1
    print(f"{planted} planted, all found")
    assert planted >= 10
