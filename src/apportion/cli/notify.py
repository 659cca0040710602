"""`apportion notify`: list, test and deliver."""

from typing import Annotated

import typer

from apportion.cli.verb import FAILED, OK, Answer, Call, verb
from apportion.cli.webhooks import deliver, told_sheet


def list_(call: Call) -> Answer:
    """List channels: where they lead, of what and of whom they tell, and what waits."""
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.notify import channel_rows

    names, rows = channel_rows(call.project())
    table = Table(tuple(Column(name, name.replace("_", " ")) for name in names), rows)
    value = {"channels": [dict(zip(names, row, strict=True)) for row in rows]}
    return Answer(Sheet(f"{counted(len(rows), 'channel')}.", (table,), value))


def try_(
    call: Call,
    channel: Annotated[
        str, typer.Argument(metavar="[CHANNEL]", help="As apportion.toml names it; all unless given.")
    ] = "",
) -> Answer:
    """Send a message that tells of nothing, now, and say what happened."""
    from apportion.verbs.notify import try_channels

    told = try_channels(call.project(), channel)
    return Answer(told_sheet(told), code=OK if all(one.is_told for one in told) else FAILED)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Tell people by mail, Slack and Microsoft Teams."
    )
    for name, command in (("list", list_), ("test", try_), ("deliver", deliver)):
        verb(group, name)(command)
    app.add_typer(group, name="notify")
