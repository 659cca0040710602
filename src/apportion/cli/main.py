"""`apportion`: the terminal face. One thin command per verb; this file holds the door, the global options and the exit codes."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from apportion import __version__
from apportion.cli import (
    adjust,
    advise,
    agent,
    anomalies,
    apply,
    audit,
    backup,
    budget,
    check,
    close,
    cost,
    demo,
    dispute,
    draft,
    enforce,
    erase,
    estimate,
    explain,
    export,
    forecast,
    gc,
    ingest,
    init,
    ledger,
    mcp,
    methods,
    notify,
    plan,
    prices,
    quota,
    report,
    review,
    schedule,
    serve,
    split,
    statement,
    sync,
    token,
    verify,
    views,
    webhooks,
    whatif,
)
from apportion.cli.output import say
from apportion.cli.verb import BROKEN, FAILED
from apportion.errors import ApportionError, InvariantError

DEBUG = "APPORTION_DEBUG"
COMMANDS = (
    demo,
    init,
    check,
    ingest,
    plan,
    apply,
    sync,
    schedule,
    whatif,
    draft,
    close,
    statement,
    export,
    adjust,
    dispute,
    budget,
    quota,
    enforce,
    estimate,
    prices,
    forecast,
    explain,
    cost,
    report,
    anomalies,
    advise,
    review,
    ledger,
    serve,
    token,
    webhooks,
    notify,
    methods,
    split,
    audit,
    views,
    backup,
    verify,
    erase,
    gc,
    agent,
    mcp,
)


class InOrder(TyperGroup):
    """Verbs in the order in which one uses them."""

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return [command.__name__.rpartition(".")[2] for command in COMMANDS]


app = typer.Typer(
    name="apportion",
    cls=InOrder,
    help="Apportion says who owes what for shared ML training infrastructure, and can prove it.",
    epilog="Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 changes pending (only with --exit-code), 4 over quota, 5 integrity broken.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    pretty_exceptions_show_locals=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
for command in COMMANDS:
    command.add_to(app)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"apportion {__version__}")
        raise typer.Exit


@app.callback()
def door(
    ctx: typer.Context,
    project: Annotated[
        Path | None,
        typer.Option(
            "--project",
            metavar="DIR",
            help="The folder with apportion.toml. [default: this folder or a parent, then $APPORTION_PROJECT]",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version
    ctx.obj = project


def main(arguments: list[str] | None = None) -> None:
    """Errors become sentences on stderr and an exit code; APPORTION_DEBUG=1 shows where they came from."""
    try:
        app(arguments, prog_name="apportion")
    except ApportionError as error:
        code, text = FAILED, str(error)
        if os.environ.get(DEBUG):
            raise
    except OSError as error:
        code, text = (
            FAILED,
            f"error[system]: {error}\n  hint: see that the disk has space and the files can be read and written",
        )
        if os.environ.get(DEBUG):
            raise
    except InvariantError as error:
        code, text = BROKEN, f"error[integrity-broken]: {error}\n  Nothing was written. hint: run `apportion verify`"
        if os.environ.get(DEBUG):
            raise
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        code = FAILED
        reason = " ".join(str(error).split())[:300]
        text = (
            f"error[unexpected]: {type(error).__name__}: {reason}\n  This is a defect. {DEBUG}=1 shows the traceback."
        )
    complain(text)
    sys.exit(code)


def complain(text: str) -> None:
    """A line of the log where there is one, so that whoever reads it reads nothing else."""
    from apportion.verbs import logs

    if logs.form() == logs.JSON:
        logs.event("failed", 40, error=text)
    else:
        say(text)
