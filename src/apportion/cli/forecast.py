"""`apportion forecast`."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


class Row(StrEnum):
    team = "team"
    pool = "pool"


@dataclass(frozen=True, slots=True)
class Options:
    by: Annotated[Row, typer.Option(help="What a row is.")] = Row.team
    through: Annotated[
        str, typer.Option(metavar="DAY", help="As if that day were the last that is known, such as 2026-10-14.")
    ] = ""
    backtest: Annotated[
        bool, typer.Option("--backtest", help="How forecasts of the months before did, instead of a forecast.")
    ] = False


def forecast(
    call: Call,
    options: Options,
    teams: Annotated[list[str] | None, typer.Argument(metavar="TEAM", help="Only these; all unless given.")] = None,
) -> Answer:
    """Say where the month ends, and how sure that is.

    By team or pool, with intervals, the chance to exceed the budget, and how such forecasts did before. Known days count as they are.
    """
    from apportion.model.times import parse_periods
    from apportion.render.sheet import report_sheet
    from apportion.reports.forecast.made import backtest_of, forecast_of
    from apportion.reports.forecast.report import backtest_report, forecast_report
    from apportion.verbs.forecast import Asked, as_day, known
    from apportion.verbs.periods import one, today

    month = one(parse_periods(call.period, today()), "forecast") if call.period else None
    asked = Asked(
        tuple(teams or ()), options.by.value, None if options.backtest else month, as_day(options.through or None)
    )
    found = known(call.project(), asked, call.bar)
    if options.backtest:
        return Answer(report_sheet(backtest_report(backtest_of(found, asked.by))))
    return Answer(report_sheet(forecast_report(forecast_of(found, asked.by))))


def add_to(app: typer.Typer) -> None:
    verb(app, "forecast", period=True)(forecast)
