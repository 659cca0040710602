"""Forecasts of real clusters, a dollar for each unit-second: better than 'same as last month' on every trace that has months enough.

The traces lie beside a development checkout. Philly has the GPU-seconds of 15 virtual clusters, Spot the GPUs asked for by model (its hours have no date:
they are laid from 2025-01-01 on), LISA all cores of a site, Helios the GPUs that each virtual cluster was given.
"""

from collections.abc import Callable, Sequence
from datetime import date
from statistics import median

import duckdb
import pyarrow as pa
import pytest

from apportion.model.rows import POSTINGS
from apportion.model.times import Period
from apportion.reports.forecast.made import Backtest, Known, backtest_of
from apportion.reports.forecast.outlook import CHECKS
from apportion.reports.forecast.report import backtest_report
from apportion.reports.forecast.series import NEEDED
from apportion.reports.forecast.shares import WHOLE
from apportion.reports.forecast.trial import Trial
from tests.traces.project import MISSING, TRACES

pytestmark = pytest.mark.skipif(not TRACES.exists(), reason=MISSING)
PHILLY = """
with jobs as (select cluster, num_gpus, epoch("timestamp"::timestamp)::bigint as began, duration::bigint as seconds from '{traces}/philly/jobs.parquet'),
days as (select *, unnest(range(began // 86400, (began + seconds - 1) // 86400 + 1)) as day from jobs where seconds > 0)
select cluster as team, 'gpus' as pool, day, num_gpus * (least(began + seconds, (day + 1) * 86400) - greatest(began, day * 86400)) as amount from days
"""
SPOT = """
select team, 'gpus' as pool, 20089 + hour::int // 24 as day, amount from (
  unpivot '{traces}/spot2026/aggregate_hourly_concurrency_top_models.parquet' on columns(* exclude hour) into name team value amount)
"""
LISA = """
select 'lisa' as team, 'cpus' as pool, hour_start // 86400 as day, unit_seconds as amount from '{traces}/surf_lisa/facts_hourly_tasks_2022H2.parquet'
"""
HELIOS = """
select team, 'gpus' as pool, date_diff('day', date '1970-01-01', "date"::date) as day, amount from (
  unpivot (select * exclude total from '{traces}/helios_earth/vc_capacity_by_day.parquet') on columns(* exclude "date") into name team value amount)
"""


def tried(query: str, first: date, last: date) -> Backtest:
    """Of whole months."""
    rows = f"""
    with found as ({query.format(traces=TRACES)})
    select strftime(date '1970-01-01' + day::int, '%Y-%m') as period, date '1970-01-01' + day::int as day, 'USD' as currency, team, '' as project, pool,
      sum(amount)::decimal(38, 18) as amount
    from found where date '1970-01-01' + day::int between date '{first}' and date '{last}' group by all order by all
    """
    with duckdb.connect() as connection:
        table = connection.execute(rows).to_arrow_table()
    table = table.select(list(NEEDED)).cast(pa.schema([POSTINGS.field(name) for name in NEEDED]))
    return backtest_of(Known(table, Period(last.year, last.month), first, last))


PHILLY_DAYS = (PHILLY, date(2017, 9, 1), date(2017, 11, 30))
SPOT_DAYS = (SPOT, date(2025, 1, 1), date(2025, 6, 30))
LISA_DAYS = (LISA, date(2022, 7, 1), date(2022, 10, 31))
HELIOS_DAYS = (HELIOS, date(2020, 4, 1), date(2020, 8, 31))


@pytest.mark.parametrize(
    ("trace", "clearly"),
    [
        pytest.param(PHILLY_DAYS, (0.6, 0.4, 0.3), id="philly"),
        pytest.param(SPOT_DAYS, (0.9, 0.7, 0.4), id="spot"),
        pytest.param(LISA_DAYS, (0.8, 0.5, 0.4), id="lisa", marks=pytest.mark.long),
        pytest.param(HELIOS_DAYS, (0.5, 0.5, 0.2), id="helios", marks=pytest.mark.long),
    ],
)
def test_it_beats_the_month_before_on_real_clusters(trace: tuple[str, date, date], clearly: tuple[float, ...]) -> None:
    """By how much at days 7, 14 and 21, at least."""
    made = tried(*trace)
    print(backtest_report(made).title)
    assert made.is_better
    for one, part in zip(made.every, clearly, strict=True):
        assert one.error is not None
        assert one.same_as_last is not None
        assert float(one.error) < part * float(one.same_as_last)
    assert backtest_report(made).title.startswith(f"Over {len(made.months)} months the forecast beats 'same as last")


def held(found: Sequence[Trial], level: int) -> float:
    return sum(one.within[level] for one in found) / len(found)


@pytest.mark.parametrize(
    "traces",
    [
        pytest.param((PHILLY_DAYS, SPOT_DAYS), id="two"),
        pytest.param((PHILLY_DAYS, SPOT_DAYS, LISA_DAYS, HELIOS_DAYS), id="all", marks=pytest.mark.long),
    ],
)
def test_intervals_of_80_percent_hold_between_70_and_90_percent_of_the_time(
    traces: Sequence[tuple[str, date, date]], record_property: Callable[[str, object], None]
) -> None:
    """Of all months, days 7, 14 and 21: for sums and for teams, and over more traces on each of the days.

    The sum's error beats that of the month before on the median trace.
    """
    made = [tried(*trace) for trace in traces]
    sums = [one for back in made for one in back.trials if one.name == WHOLE or len(back.scores) == len(CHECKS)]
    teams = [one for back in made for one in back.trials if one not in sums]
    days = [[one for one in (*sums, *teams) if one.day == day] for day in CHECKS]
    shares = {"sums": held(sums, 1), "teams": held(teams, 1)}
    if len(traces) > 2:
        shares |= {f"day {day}": held(found, 1) for day, found in zip(CHECKS, days, strict=True)}
    record_property("80 % intervals held", {name: round(share, 2) for name, share in shares.items()})
    assert all(0.7 <= share <= 0.9 for share in shares.values()), shares
    assert held(sums, 0) < held(sums, 1) <= held(sums, 2)
    for day in CHECKS:
        wholes = [next(one for one in back.scores if one.day == day and one.name in (WHOLE, "lisa")) for back in made]
        ratios = [float(one.error) / float(one.same_as_last) for one in wholes if one.error and one.same_as_last]
        assert len(ratios) == len(made)
        assert median(ratios) < 1
