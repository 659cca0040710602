"""`apportion schedule`."""

from typing import Annotated

import typer

from apportion.cli.sync import LOG_FORMAT, start_log
from apportion.cli.verb import Answer, Call, verb


def schedule(
    call: Call,
    once_now: Annotated[bool, typer.Option("--once-now", help="Begin with a round, whenever the next is due.")] = False,
    listen: Annotated[
        str,
        typer.Option(metavar="HOST:PORT", help="Answer /livez and /readyz there, for probes; nowhere unless given."),
    ] = "",
    log_format: LOG_FORMAT = None,
) -> Answer:
    """Do the daily round by the clock, until it is ended.

    [sync] of apportion.toml says when. A round that was missed is caught up at the start. SIGTERM ends it at the next step of a round.
    """
    import signal
    from contextlib import nullcontext

    from apportion.verbs import logs
    from apportion.verbs.schedule import Schedule
    from apportion.web.beacon import beacon

    start_log(call, log_format, unless=logs.TEXT)
    call.project()  # refuses
    made = Schedule(call.folder)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: made.stop.set())
    with beacon(made, listen) if listen else nullcontext("") as address:
        if address:
            logs.event("listening", address=address)
        made.go_on(at_once=once_now)
    return Answer()


def add_to(app: typer.Typer) -> None:
    verb(app, "schedule", output=False)(schedule)
