"""`apportion serve`."""

import sys
from typing import Annotated

import typer

from apportion.cli.output import say, write
from apportion.cli.sync import LOG_FORMAT, start_log
from apportion.cli.verb import Answer, Call, verb


def serve(
    call: Call,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes a free one.")] = 8765,
    processes: Annotated[int, typer.Option(help="How many processes answer.", min=1)] = 1,
    log_format: LOG_FORMAT = None,
) -> Answer:
    """Show the pages and answer the REST API, until Ctrl-C.

    On loopback it prints a link that logs you in once; elsewhere [web] of apportion.toml says how people log in.
    """
    from apportion.verbs import logs
    from apportion.web.serve import serve as run

    start_log(call, log_format)
    tell = say if logs.form() != logs.JSON else say_apart
    run(call.project(), host, port, processes, tell)
    return Answer()


def say_apart(line: str) -> None:
    """On stdout: stderr holds nothing but the log, and a link that lets somebody in is no part of that."""
    write(sys.stdout, line + "\n")


def add_to(app: typer.Typer) -> None:
    verb(app, "serve", output=False)(serve)
