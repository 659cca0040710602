"""Forecasts of real clusters, a dollar for each unit-second: better than 'same as last month' on every trace that has months enough.

The traces lie beside a development checkout. Philly has the GPU-seconds of 15 virtual clusters, Spot the GPUs asked for by model (its hours have no date:
they are laid from 2025-01-01 on), LISA all cores of a site, Helios the GPUs that each virtual cluster was given.
"""

from datetime import date

import duckdb
import pyarrow as pa
import pytest

from apportion.model.rows import POSTINGS
from apportion.model.times import Period
from apportion.reports.forecast.made import Backtest, Known, backtest_of
from apportion.reports.forecast.report import backtest_report
from apportion.reports.forecast.series import NEEDED
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


@pytest.mark.parametrize(
    ("query", "first", "last", "clearly"),
    [
        pytest.param(PHILLY, date(2017, 9, 1), date(2017, 11, 30), (0.6, 0.4, 0.3), id="philly"),
        pytest.param(SPOT, date(2025, 1, 1), date(2025, 6, 30), (0.9, 0.7, 0.4), id="spot"),
        pytest.param(LISA, date(2022, 7, 1), date(2022, 10, 31), (0.8, 0.5, 0.4), id="lisa", marks=pytest.mark.long),
        pytest.param(HELIOS, date(2020, 4, 1), date(2020, 8, 31), (0.5, 0.5, 0.2), id="helios", marks=pytest.mark.long),
    ],
)
def test_it_beats_the_month_before_on_real_clusters(
    query: str, first: date, last: date, clearly: tuple[float, ...]
) -> None:
    """By how much at days 7, 14 and 21, at least; and intervals that are not far too narrow."""
    made = tried(query, first, last)
    print(backtest_report(made).title)
    assert made.is_better
    for one, part in zip(made.every, clearly, strict=True):
        assert one.error is not None
        assert one.same_as_last is not None
        assert float(one.error) < part * float(one.same_as_last)
        assert one.within[1] >= 0.7
        assert one.within[2] >= 0.85
    assert backtest_report(made).title.startswith(f"Over {len(made.months)} months the forecast beats 'same as last")
