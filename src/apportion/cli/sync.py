"""`apportion sync`."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import BROKEN, FAILED, OK, PENDING, Answer, Call, verb

if TYPE_CHECKING:
    from apportion.books.rounds import Round
    from apportion.render.sheet import Sheet


class LogForm(StrEnum):
    text = "text"
    json = "json"


LOG_FORMAT = Annotated[
    LogForm | None,
    typer.Option(
        "--log-format",
        help="Say each event on stderr, for people or as one JSON object a line. [default: $APPORTION_LOG]",
    ),
]


def start_log(call: Call, asked: LogForm | None, unless: str = "") -> None:
    """Logs and traces of a process that goes on by itself; `unless` is the form where nobody asked for one."""
    from apportion.verbs import logs, traces

    form = logs.chosen(asked) or unless
    if form:
        logs.start(form)
        call.bar.quiet = True
    trouble = traces.start()
    if trouble:
        logs.event(trouble, 30)


def sync(
    call: Call,
    wait: Annotated[
        int, typer.Option("--wait", metavar="SECONDS", min=0, help="Wait so long for another round to end.")
    ] = 0,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit 3 if something changed.")] = False,
    last: Annotated[
        bool, typer.Option("--last", help="Do nothing: show the last round, or the one that runs.")
    ] = False,
    log_format: LOG_FORMAT = None,
) -> Answer:
    """Do the daily round; safe to repeat.

    Reads all sources, plans every open month, posts where [sync] of apportion.toml says apply = true, looks for advice and anomalies, and tells people.
    What fails does not stop the rest; what is done is not done again.
    """
    from apportion.errors import ProjectError
    from apportion.verbs.sync import sync as go_round

    if not last:
        start_log(call, log_format)
    project = call.project()
    if last:
        made = project.books.rounds.last()
        if made is None:
            raise ProjectError("no-round", "there was no round yet", hint=f"run `apportion {call.flag}sync`")
        return Answer(round_sheet(made), code=code_of(made, exit_code=False))
    made = go_round(project, wait, step=call.bar)
    return Answer(round_sheet(made), code=code_of(made, exit_code))


def code_of(made: "Round", exit_code: bool) -> int:
    if made.status in ("ok", "running"):
        return PENDING if exit_code and made.changed else OK
    return BROKEN if made.status == "broken" else FAILED


def round_sheet(made: "Round") -> "Sheet":
    from apportion.model.times import instant_text
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column

    columns = (
        Column("step", "step"),
        Column("subject", "of"),
        Column("outcome", "outcome"),
        Column("what", "what"),
        Column("changed", "changed", "count"),
        Column("seconds", "seconds"),
    )
    rows = tuple(
        (one.step, one.subject, one.outcome, one.what, one.changed, f"{one.took_ms / 1000:.1f}") for one in made.steps
    )
    value = {
        "round": made.number,
        "status": made.status,
        "began": instant_text(made.began_s),
        "ended": instant_text(made.ended_s) if made.ended_s else "",
        "host": made.host,
        "process": made.process,
        "who": made.who,
        "changed": made.changed,
        "steps": made.steps,
    }
    return Sheet(title_of(made), (Table(columns, rows),), value)


def title_of(made: "Round") -> str:
    from apportion.model.times import instant_text
    from apportion.reports.words import counted

    states = {
        "ok": "nothing failed",
        "failed": f"{counted(len(made.failed), 'step')} failed",
        "broken": "the record is not what its inputs say",
        "running": "it runs",
        "interrupted": "it was interrupted, and the next goes on",
    }
    new = f"{counted(made.changed, 'change')}" if made.changed else "nothing changed"
    return f"Round {made.number} of {instant_text(made.began_s)}: {new}, {states[made.status]}."


def add_to(app: typer.Typer) -> None:
    verb(app, "sync")(sync)
