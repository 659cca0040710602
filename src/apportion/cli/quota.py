"""`apportion quota`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from apportion.cli.verb import OK, OVER_QUOTA, Answer, Call, verb
from apportion.errors import ApportionError
from apportion.verbs.periods import today


def amount(text: str | None) -> str | None:
    """A need that is no number is wrong usage, said before anything is opened."""
    if text is not None:
        from apportion.verbs.fit import read_amount

        try:
            read_amount(text)
        except ApportionError as error:
            raise typer.BadParameter(f"{error.message}; {error.hint}") from error
    return text


@dataclass(frozen=True, slots=True)
class Options:
    need: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT", callback=amount, help="Say whether so much fits today: GPU-hours, or what --of says."
        ),
    ] = None
    of: Annotated[str, typer.Option(metavar="METER", help="What is needed: a meter such as cpu, or money.")] = "gpu"
    pool: Annotated[str, typer.Option(metavar="NAME", help="Where; quotas of other pools are not asked.")] = ""
    project: Annotated[str, typer.Option(metavar="NAME", help="Of this project of the team.")] = ""


def quota(
    call: Call,
    team: Annotated[str, typer.Argument(metavar="[TEAM]", help="Of this team; of all unless given.")] = "",
    options: Options = Options(),  # noqa: B008 - frozen
) -> Answer:
    """Say what is left of each quota, and whether a job fits.

    Hours are what was held, money is what is posted. The exit code is 4 where one is exceeded. With --need it is 0 if so much fits in
    what is left today of every quota of the team, the running month as it is estimated, and 4 if not.
    """
    from apportion.render.sheet import report_sheet
    from apportion.reports.quotas import OVER, quota_report
    from apportion.verbs.budget import refuse_unknown
    from apportion.verbs.periods import one
    from apportion.verbs.quota import quotas
    from apportion.verbs.report import posted_periods

    if options.need is not None:
        return fitting(call, team, options)
    project = call.project()
    period = one(call.months(posted_periods(project) or {f"{today():%Y-%m}"}), "quota")
    if team:
        refuse_unknown(project, team)
    found = [one for one in quotas(project, period) if team in ("", one.limit.team)]
    code = OVER_QUOTA if any(one.state == OVER for one in found) else OK
    return Answer(report_sheet(quota_report(found, str(period), project.books.head())), code=code)


def fitting(call: Call, team: str, options: Options) -> Answer:
    from apportion.render.sheet import report_sheet
    from apportion.reports.fit import fit_report
    from apportion.verbs.fit import fit, needed

    if not team:
        raise typer.BadParameter("--need is about one team: name it before --need")
    if call.period is not None:
        raise typer.BadParameter("--need is about today: leave --period out")
    project = call.project()
    need = needed(project, options.need or "", options.of, options.pool, options.project)
    made = fit(project, team, need, step=call.bar)
    return Answer(report_sheet(fit_report(made, project.books.head())), code=OK if made.fits else OVER_QUOTA)


def add_to(app: typer.Typer) -> None:
    verb(app, "quota", period=True)(quota)
