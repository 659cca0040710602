"""Forecasts as a viewer may see them: made of their own teams' days alone, and once while the books stand still."""

from collections.abc import Sequence
from datetime import date

from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Period
from apportion.reports.budgets import MonthEnds
from apportion.reports.forecast.made import Backtest, Forecast, Known, backtest_of, forecast_of
from apportion.reports.live import Estimate
from apportion.verbs.asked import today_of
from apportion.verbs.budget import Foresee
from apportion.verbs.forecast import Asked, ends_beside, known_beside
from apportion.verbs.project import Project
from apportion.web.ask import Ask
from apportion.web.desk import Desk
from apportion.web.estimates import whole_estimate


def teams_asked(ask: Ask) -> tuple[str, ...]:
    """Those of the filters that the URL has; a forecast is not told apart by anything else."""
    found = []
    for one in ask.query.get("where", ()):
        by, _, name = one.partition("=")
        if by != "team":
            raise ProjectError("invalid-filter", f"a forecast has no filter {by!r}", hint="write where=team=NAME")
        ask.require_team(name)
        found.append(name)
    return tuple(found)


def running(desk: Desk) -> Estimate | None:
    try:
        return whole_estimate(desk)
    except ApportionError:  # without usage there is nothing to estimate; what is posted stays
        return None


def known(ask: Ask, teams: Sequence[str], by: str, through: date | None = None) -> Known:
    asked = Asked(tuple(teams), by, through=through, seen=ask.viewer.teams)
    project = ask.project
    return known_beside(project, asked, running(ask.desk), today_of(project))


def month_ends(ask: Ask) -> Foresee:
    """Of the viewer's own teams, for their budgets."""

    def foresee(project: Project, month: Period, today: date) -> MonthEnds | None:
        def made() -> MonthEnds | None:
            try:
                return ends_beside(project, month, running(ask.desk), today)
            except ProjectError:  # nothing is known yet
                return None

        return ask.desk.kept(("month ends", str(month), today), made)

    return foresee


def forecast(ask: Ask, teams: Sequence[str], by: str = "team", through: date | None = None) -> Forecast:
    key = ("forecast", tuple(teams), by, through, ask.viewer.teams)
    return ask.desk.kept(key, lambda: forecast_of(known(ask, teams, by, through), by))


def backtest(ask: Ask, teams: Sequence[str], by: str = "team", through: date | None = None) -> Backtest:
    key = ("forecast tried", tuple(teams), by, through, ask.viewer.teams)
    return ask.desk.kept(key, lambda: backtest_of(known(ask, teams, by, through), by))
