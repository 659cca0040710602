"""`apportion quota`."""

from typing import Annotated

import typer

from apportion.cli.verb import OK, OVER_QUOTA, Answer, Call, verb
from apportion.verbs.periods import today


def quota(
    call: Call, team: Annotated[str, typer.Argument(metavar="[TEAM]", help="Of this team; of all unless given.")] = ""
) -> Answer:
    """Say what is left of each quota, and how long it lasts.

    Hours are what was held, money is what is posted. The exit code is 4 where one is exceeded.
    """
    from apportion.render.sheet import report_sheet
    from apportion.reports.quotas import OVER, quota_report
    from apportion.verbs.budget import refuse_unknown
    from apportion.verbs.periods import one
    from apportion.verbs.quota import quotas
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project) or {f"{today():%Y-%m}"}), "quota")
    if team:
        refuse_unknown(project, team)
    found = [one for one in quotas(project, period) if team in ("", one.limit.team)]
    code = OVER_QUOTA if any(one.state == OVER for one in found) else OK
    return Answer(report_sheet(quota_report(found, str(period), project.books.head())), code=code)


def add_to(app: typer.Typer) -> None:
    verb(app, "quota", period=True)(quota)
