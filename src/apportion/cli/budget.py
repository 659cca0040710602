"""`apportion budget`: set, list."""

from dataclasses import dataclass
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, month_of, verb
from apportion.verbs.periods import today


@dataclass(frozen=True, slots=True)
class Options:
    since: Annotated[
        str | None,
        typer.Option(metavar="MONTH", callback=month_of, help="The month that it begins with; this one unless given."),
    ] = None
    project: Annotated[str, typer.Option(metavar="NAME", help="Of this project of the team.")] = ""
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, for those who ask.")] = ""


def set_(
    call: Call,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="Whose budget it is.")],
    amount: Annotated[str, typer.Argument(metavar="AMOUNT", help="For a month, such as 12000; 0 ends the budget.")],
    options: Options,
) -> Answer:
    """Set what a team or a project means to spend a month.

    It holds from its month on until another one begins. Nothing is enforced: pages and reports show what is left.
    """
    from apportion.render.sheet import Sheet
    from apportion.reports.words import shown
    from apportion.verbs.budget import set_budget

    opened = call.project()
    owner = f"{team}/{options.project}" if options.project else team
    made = set_budget(opened, owner, amount, options.since or f"{today():%Y-%m}", options.why)
    said = f"{made.owner} may spend {shown(made.amount, made.currency)} a month from {made.since} on."
    return Answer(
        Sheet(said if made.amount else f"{made.owner} has no budget from {made.since} on.", value=made),
        (f"Next: apportion {call.flag}budget list --period {made.since}",),
    )


def list_(call: Call) -> Answer:
    """List budgets with what was spent of them and what is left."""
    from apportion.render.sheet import report_sheet
    from apportion.reports.budgets import budget_report
    from apportion.verbs.budget import budgets
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project) or {f"{today():%Y-%m}"}), "budget list")
    return Answer(report_sheet(budget_report(budgets(project, period), period, project.books.head())))


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Set and list budgets.")
    verb(group, "set")(set_)
    verb(group, "list", period=True)(list_)
    app.add_typer(group, name="budget")
