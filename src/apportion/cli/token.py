"""`apportion token`: new, list, revoke."""

from dataclasses import dataclass
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


@dataclass(frozen=True, slots=True)
class Rights:
    role: Annotated[str, typer.Option(metavar="ROLE", help="viewer, lead, finance or admin.")] = "viewer"
    team: Annotated[list[str] | None, typer.Option(metavar="TEAM", help="A team that it may see; repeat it.")] = None
    deed: Annotated[
        list[str] | None, typer.Option(metavar="DEED", help="What it may do, such as push; repeat it. [default: read]")
    ] = None
    days: Annotated[int, typer.Option(help="How long it lasts, at most 366.")] = 90


def new(
    call: Call, label: Annotated[str, typer.Argument(metavar="LABEL", help="What it is for.")], rights: Rights
) -> Answer:
    """Make a token for a program that asks the REST API.

    It is printed this once and kept as a hash alone.
    """
    from apportion.model.times import instant_text
    from apportion.render.sheet import Sheet
    from apportion.web.door.granting import Wanted, at_the_terminal, granted

    project = call.project()
    wanted = Wanted(label, rights.role, tuple(rights.team or ()), tuple(rights.deed or ()), rights.days)
    made, key = project.books.tokens.make(granted(at_the_terminal(), wanted, project.policy.teams))
    until = instant_text(made.until_s)
    said = f"Token {made.id} is good until {until}. Keep it now: it is not shown again."
    next_step = (
        f"Next: send it along as `Authorization: Bearer ...`; end it with apportion {call.flag}token revoke {made.id}"
    )
    return Answer(
        Sheet(key, value={"id": made.id, "label": made.label, "token": key, "until": until}), (said, next_step)
    )


def list_(call: Call) -> Answer:
    """List all tokens, with whose they are, what they may and when they were last used."""
    from apportion.render.sheet import sheet_of
    from apportion.verbs.tokens import tokens

    return Answer(sheet_of(tokens(call.project())))


def revoke(
    call: Call, number: Annotated[str, typer.Argument(metavar="ID", help="As `token list` shows it.")]
) -> Answer:
    """End a token now."""
    gone = call.project().books.tokens.revoke(number)
    return Answer(talk=(f"Token {gone.id} ({gone.label}) of {gone.owner} is good for nothing any more.",))


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Make, list and revoke tokens for programs.")
    verb(group, "new")(new)
    verb(group, "list")(list_)
    verb(group, "revoke", output=False)(revoke)
    app.add_typer(group, name="token")
