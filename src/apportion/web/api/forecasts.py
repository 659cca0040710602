"""`GET /api/v1/forecast`: where the month ends and how sure that is, as `apportion forecast -o json` says it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from apportion.client.shapes import ReportAnswer
from apportion.client.texts import DAY, Name, maybe
from apportion.reports.forecast.report import backtest_report, forecast_report
from apportion.verbs.forecast import as_day
from apportion.web.api.asked import Reading, about
from apportion.web.api.reports import report_answer
from apportion.web.ask import Ask
from apportion.web.forecasts import backtest
from apportion.web.forecasts import forecast as foreseen
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"])
Teams = Annotated[list[Name] | None, Query(description="only these; all that you may see unless given", max_length=100)]
By = Annotated[Literal["team", "pool"], Query(description="what a row is")]
Through = Annotated[
    str,
    Query(description="as if this day were the last that is known", examples=["2026-10-14"], pattern=maybe(DAY)),
]


@router.get("/forecast", **about(Deed.read, 409))
def forecast(ask: Reading, team: Teams = None, by: By = "team", through: Through = "") -> ReportAnswer:
    """The end of the month by team or pool, with intervals, the chance to exceed the budget, and the error of such forecasts before."""
    return report_answer(forecast_report(foreseen(ask, theirs(ask, team), by, as_day(through or None))))


@router.get("/forecast/back-test", **about(Deed.read, 409))
def forecast_backtest(ask: Reading, team: Teams = None, by: By = "team", through: Through = "") -> ReportAnswer:
    """Forecasts of the months that are over, with what was known at days 7, 14 and 21, beside 'same as last month' and the run-rate."""
    return report_answer(backtest_report(backtest(ask, theirs(ask, team), by, as_day(through or None))))


def theirs(ask: Ask, teams: list[str] | None) -> tuple[str, ...]:
    for team in teams or ():
        ask.require_team(team)
    return tuple(teams or ())
