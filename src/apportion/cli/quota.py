"""`apportion quota`: show, reserve, post, void, lend, return, pledges. `apportion quota TEAM` is `quota show TEAM`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from apportion.cli.verb import OK, OVER_QUOTA, Answer, Call, verb
from apportion.errors import ApportionError
from apportion.verbs.periods import today

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apportion.books.pledges import Pledge
    from apportion.verbs.project import Project

DEFAULT = "show"
HELP = """Say what is left of quotas, reserve and lend them.

`apportion quota [TEAM]` is `apportion quota show [TEAM]`.
"""


class Quotas(TyperGroup):
    """What is no word of ours is a team: `quota vision` asks for it, as `quota show vision` does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)


def amount(text: str | None) -> str | None:
    """A need that is no number is wrong usage, said before anything is opened."""
    if text is not None:
        from apportion.verbs.fit import read_amount

        try:
            read_amount(text)
        except ApportionError as error:
            raise typer.BadParameter(f"{error.message}; {error.hint}") from error
    return text


Amount = Annotated[str, typer.Argument(metavar="AMOUNT", callback=amount, help="How much, such as 512.")]
Unit = Annotated[
    str,
    typer.Argument(metavar="[UNIT]", help="Of what: gpu-hours, core-hours, GiB-hours, GiB-months, a meter, or money."),
]
Team = Annotated[str, typer.Argument(metavar="TEAM", help="Whose quota it is.")]
Number = Annotated[int, typer.Argument(metavar="NUMBER", help="As `reserve`, `lend` and `pledges` show it.")]
Why = Annotated[str, typer.Option(metavar="TEXT", help="The reason, for those who ask.")]


@dataclass(frozen=True, slots=True)
class Options:
    need: Annotated[
        str | None,
        typer.Option(
            metavar="AMOUNT", callback=amount, help="Say whether so much fits today: GPU-hours, or what UNIT says."
        ),
    ] = None
    of: Annotated[str, typer.Option(metavar="METER", help="What is needed, instead of UNIT.")] = ""
    pool: Annotated[str, typer.Option(metavar="NAME", help="Where; quotas of other pools are not asked.")] = ""
    project: Annotated[str, typer.Option(metavar="NAME", help="Of this project of the team.")] = ""
    user: Annotated[str, typer.Option(metavar="NAME", help="Of this user of the team.")] = ""


def show(
    call: Call,
    team: Annotated[str, typer.Argument(metavar="[TEAM]", help="Of this team; of all unless given.")] = "",
    unit: Unit = "",
    options: Options = Options(),  # noqa: B008 - frozen
) -> Answer:
    """Say what is left of each quota, and whether a job fits.

    Hours are what was held, money is what is posted. The exit code is 4 where a hard one is exceeded. With --need it is 0 if so much fits in
    what is left today of every quota of the team and its department, the running month as it is estimated, and 4 if not.
    """
    from apportion.render.sheet import report_sheet
    from apportion.reports.quotas import OVER, quota_report
    from apportion.verbs.asked import refuse_unknown
    from apportion.verbs.periods import one
    from apportion.verbs.quota import quotas
    from apportion.verbs.report import posted_periods

    if options.need is not None:
        return fitting(call, team, unit, options)
    if unit:
        raise typer.BadParameter(f"{unit!r} is said with --need: --need 512 gpu-hours")
    project = call.project()
    period = one(call.months(posted_periods(project) or {f"{today():%Y-%m}"}), "quota")
    if team:
        refuse_unknown(project, team)
    found = [one for one in quotas(project, period) if not team or one.limit.is_of(team)]
    code = OVER_QUOTA if any(one.state == OVER for one in found) else OK
    return Answer(report_sheet(quota_report(found, str(period), project.books.head())), code=code)


def fitting(call: Call, team: str, unit: str, options: Options) -> Answer:
    from apportion.render.sheet import report_sheet
    from apportion.reports.fit import fit_report
    from apportion.verbs.fit import Where, fit, needed

    if not team:
        raise typer.BadParameter("--need is about one team: name it before --need")
    if call.period is not None:
        raise typer.BadParameter("--need is about today: leave --period out")
    project = call.project()
    where = Where(options.pool, options.project, options.user)
    need = needed(project, options.need or "", options.of or unit or "gpu", where)
    made = fit(project, team, need, step=call.bar)
    return Answer(report_sheet(fit_report(made, project.books.head())), code=OK if made.fits else OVER_QUOTA)


@dataclass(frozen=True, slots=True)
class Holding:
    job: Annotated[str, typer.Option("--for", metavar="JOB", help="The job, by its id as its scheduler writes it.")]
    expires: Annotated[str, typer.Option(metavar="TIME", help="Free it after this time, such as 30m, 24h or 7d.")] = ""
    cost: Annotated[
        str, typer.Option(metavar="AMOUNT", help="Money that is expected beside it, of quotas of money.")
    ] = ""
    pool: Annotated[str, typer.Option(metavar="NAME", help="Where it runs.")] = ""
    project: Annotated[str, typer.Option(metavar="NAME", help="Of this project of the team.")] = ""
    user: Annotated[str, typer.Option(metavar="NAME", help="Whose job it is.")] = ""


def reserve(call: Call, team: Team, amount: Amount, holding: Holding, unit: Unit = "") -> Answer:
    """Set a part of a team's quotas aside for a job.

    The exit code is 4, and nothing is kept, where it does not fit. The same again for the same job changes nothing.
    """
    from apportion.render.sheet import report_sheet
    from apportion.reports.fit import fit_report
    from apportion.verbs.fit import Where
    from apportion.verbs.reserve import Wish
    from apportion.verbs.reserve import reserve as keep

    project = call.project()
    where = Where(holding.pool, holding.project, holding.user)
    wish = Wish(team, amount, holding.job, unit or "gpu", where, holding.cost, holding.expires)
    made = keep(project, wish, step=call.bar)
    if not made.pledges:
        against = next(one for one in made.fits if not one.fits)
        return Answer(report_sheet(fit_report(against, project.books.head())), code=OVER_QUOTA)
    numbers = " and ".join(str(one.number) for one in made.pledges)
    said = f"Reserved for {holding.job}: {numbers}." if made.made else f"Reserved for {holding.job} before: {numbers}."
    next_step = f"Next: apportion {call.flag}quota post {made.pledges[0].number}, or quota void"
    return pledge_answer(project, made.pledges, said, (next_step,))


def post(
    call: Call,
    number: Number,
    actual: Annotated[
        str, typer.Option(metavar="AMOUNT", help="What it came to; as its usage says unless given.")
    ] = "",
) -> Answer:
    """Settle a reservation with what the job came to."""
    from apportion.verbs.reserve import post_reservation

    project = call.project()
    return pledge_answer(project, [post_reservation(project, number, actual)], f"Reservation {number} is posted.")


def void(call: Call, number: Number, why: Why = "") -> Answer:
    """Free what was reserved for a job that does not run."""
    from apportion.verbs.reserve import void_reservation

    project = call.project()
    return pledge_answer(project, [void_reservation(project, number, why)], f"Reservation {number} is void.")


@dataclass(frozen=True, slots=True)
class Lending:
    to: Annotated[str, typer.Option(metavar="OWNER", help="Who borrows: TEAM or TEAM/PROJECT.")]
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, for those who ask.")]
    pool: Annotated[str, typer.Option(metavar="NAME", help="Of the quotas of this pool.")] = ""
    approver: Annotated[str, typer.Option(metavar="NAME", help="Who approved it.")] = ""


def lend(call: Call, team: Team, amount: Amount, lending: Lending, unit: Unit = "") -> Answer:
    """Lend a part of a quota to another team for a month.

    It is this month unless --period says another. Only what is neither used nor reserved can be lent; what one has more the other has less.
    """
    from apportion.verbs.lend import Loan
    from apportion.verbs.lend import lend as give

    month = call.period or f"{today():%Y-%m}"
    loan = Loan(team, lending.to, amount, month, lending.why, unit or "gpu", lending.pool, lending.approver)
    project = call.project()
    made = give(project, loan)
    next_step = f"Next: apportion {call.flag}quota return {made.number} takes it back"
    return pledge_answer(project, [made], f"Loan {made.number}: {team} lends to {lending.to}.", (next_step,))


def return_(call: Call, number: Number, why: Why = "") -> Answer:
    """Give back what was lent, while it is not used."""
    from apportion.verbs.lend import give_back

    project = call.project()
    return pledge_answer(project, [give_back(project, number, why)], f"Loan {number} is returned.")


def pledges(
    call: Call,
    team: Annotated[str, typer.Argument(metavar="[TEAM]", help="Of this team; of all unless given.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Those that are over, too.")] = False,
) -> Answer:
    """List what is reserved and lent."""
    from apportion.verbs.reserve import all_pledges

    project = call.project()
    return pledge_answer(project, all_pledges(project, team, every=every))


def pledge_answer(project: "Project", found: "Sequence[Pledge]", title: str = "", talk: tuple[str, ...] = ()) -> Answer:
    import time

    from apportion.render.sheet import report_sheet
    from apportion.reports.pledges import pledge_report

    return Answer(report_sheet(pledge_report(found, title, project.books.head(), int(time.time()))), talk)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(cls=Quotas, rich_markup_mode=None, help=HELP)
    verb(group, DEFAULT, period=True)(show)
    verb(group, "reserve")(reserve)
    verb(group, "post")(post)
    verb(group, "void")(void)
    verb(group, "lend", period=True)(lend)
    verb(group, "return")(return_)
    verb(group, "pledges")(pledges)
    app.add_typer(group, name="quota")
