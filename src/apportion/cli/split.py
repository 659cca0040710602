"""`apportion split`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.output import write
from apportion.cli.verb import Answer, Call, verb
from apportion.errors import InputError


def split(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="One sharing problem as JSON; - is stdin.")] = "-",
) -> Answer:
    """Share one small bill, JSON in and JSON out.

    Prints {"shares": {owner: minor units}}, or {"error": code, "message": text} and exits 1.
    """
    from apportion.render.json import dumps
    from apportion.verbs.split import split as solve

    del call
    code, value = solve(read(file))
    write(sys.stdout, dumps(value))
    return Answer(code=code)


def read(file: str) -> str:
    """Bytes that are not UTF-8 reach the reader as replacement marks, which it refuses as JSON or takes as odd names."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError("unreadable-file", f"{file} cannot be read: {error.strerror}", where=file) from error
    return raw.decode("utf-8", "replace")


def add_to(app: typer.Typer) -> None:
    verb(app, "split", output=False)(split)
