"""What every verb of the command line shares: its options, where its answer goes, and its exit code.

A command is a function from a `Call` (and its own options) to an `Answer`. Heavy rooms are imported inside it, so that `--help` stays quick.
"""

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from apportion.cli.output import say, show, write
from apportion.cli.progress import Bar
from apportion.errors import InputError
from apportion.model.times import parse_period, parse_periods
from apportion.verbs.periods import today

if TYPE_CHECKING:
    from apportion.model.times import Period
    from apportion.render.sheet import Sheet
    from apportion.verbs.project import Project

ACCEPT = "Let findings of this code stand; repeat it for several. Needs --why."
WHY = "Why they may stand: kept in the audit log, and said on the statements of those concerned."
OK, FAILED, USAGE, PENDING, OVER_QUOTA, BROKEN = range(6)


class Form(StrEnum):
    table = "table"
    json = "json"
    csv = "csv"
    md = "md"


def _months(text: str | None) -> str | None:
    """A wrong month is wrong usage, said before anything is opened."""
    if text is not None:
        try:
            parse_periods(text, today())
        except InputError as error:
            others = "" if ".." in text else ", 2026-Q4, 2026-04..2026-10 or last-month"
            raise typer.BadParameter(f"{error.message}; {error.hint}{others}") from error
    return text


def month_of(text: str | None) -> str | None:
    """One month, said before anything is opened."""
    if text is not None:
        try:
            parse_period(text)
        except InputError as error:
            raise typer.BadParameter(f"{error.message}; {error.hint}") from error
    return text


PERIOD = Annotated[
    str | None,
    typer.Option(
        "--period",
        metavar="PERIOD",
        callback=_months,
        help="A month (2026-10), a quarter (2026-Q4), several (2026-04..2026-10) or last-month; the newest there is unless given.",
    ),
]
ENGINE = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="Where to compute: duckdb, spark, or Spark's address (local[4], spark://HOST:7077, sc://HOST); apportion.toml's unless given.",
    ),
]
OUTPUT = Annotated[Form, typer.Option("--output", "-o", help="How to print the answer.")]
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing beside the answer.")]


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked for, beside a verb's own options."""

    folder: Path | None
    period: str | None = None
    form: Form = Form.table
    quiet: bool = False
    bar: Bar = field(default_factory=lambda: Bar(quiet=True))
    engine: str | None = None

    def project(self) -> "Project":
        from apportion.verbs.project import open_project

        return open_project(self.folder).on(self.engine)

    def months(
        self, known: Iterable[str], hint: str = "run `apportion ingest` first", *, every: bool = False
    ) -> "list[Period]":
        """The months asked for (of several, those known, or `every`), else the newest of those known."""
        from apportion.verbs.periods import asked

        some = set(known)
        months = asked(self.period, some, today(), hint)
        return [month for month in months if every or len(months) == 1 or str(month) in some] or months

    @property
    def flag(self) -> str:
        """`--project DIR ` for commands that we suggest, where it was needed for this one."""
        return f"--project {self.folder} " if self.folder else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """`sheet` goes to stdout in the asked form, or `text` as it is; `talk` to stderr."""

    sheet: "Sheet | None" = None
    talk: tuple[str, ...] = ()
    code: int = OK
    text: str = ""


def verb(
    app: typer.Typer, name: str, *, period: bool = False, engine: bool = False, output: bool = True
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Registers a command under `name` with the shared options that it takes."""

    def register(command: Callable[..., Answer]) -> Callable[..., Answer]:
        def run(ctx: typer.Context, **given: Any) -> None:
            quiet = given.pop("quiet")
            period, form, engine = (given.pop(name, None) for name in ("period", "output", "engine"))
            for own_name, group in groups.items():
                given[own_name] = group(**{one.name: given.pop(one.name) for one in fields(group)})
            call = Call(ctx.obj, period, form or Form.table, quiet, Bar(quiet=quiet), engine)
            with call.bar:
                answer = command(call, **given)
            if answer.sheet is not None:
                show(answer.sheet, call.form)
            if answer.text:
                write(sys.stdout, answer.text)
            if not quiet:
                say(*answer.talk)
            if answer.code:
                raise typer.Exit(answer.code)

        signature = inspect.signature(command, eval_str=True)
        groups = {name: one.annotation for name, one in signature.parameters.items() if is_group(one.annotation)}
        own = [part for one in list(signature.parameters.values())[1:] for part in expanded(one)]
        shared = [
            *([_option("engine", ENGINE, None)] if engine else []),
            *([_option("period", PERIOD, None)] if period else []),
            *([_option("output", OUTPUT, Form.table)] if output else []),
        ]
        parameters = [
            inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
            *(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own),
            *shared,
            _option("quiet", QUIET, default=False),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions have it, stubs do not say so
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        app.command(name)(run)
        return command

    return register


def is_group(annotation: Any) -> bool:
    """A dataclass whose fields are options: a command with many of them takes them as one value."""
    return is_dataclass(annotation) and annotation is not Call


def expanded(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    if not is_group(parameter.annotation):
        return [parameter]
    hints = get_type_hints(parameter.annotation, include_extras=True)
    return [
        _option(one.name, hints[one.name], inspect.Parameter.empty if one.default is MISSING else one.default)
        for one in fields(parameter.annotation)
    ]


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
