"""`apportion split`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.output import write
from apportion.cli.verb import FAILED, Answer, Call, verb
from apportion.errors import InputError


def split(
    call: Call,
    file: Annotated[str, typer.Argument(metavar="[FILE]", help="One sharing problem as JSON; - is stdin.")] = "-",
) -> Answer:
    """Share one small bill, JSON in and JSON out.

    Prints {"shares": {owner: minor units}}, with "findings" where something does not fit together, or {"error": code, "message": text} and exits 1.
    """
    from apportion.render.json import dumps
    from apportion.verbs.split import split as solve

    del call
    text = read(file)
    code, value = (
        solve(text)
        if text is not None
        else (FAILED, {"error": "invalid_json", "message": "the problem is not UTF-8 text"})
    )
    write(sys.stdout, dumps(value))
    return Answer(code=code)


def read(file: str) -> str | None:
    """None where it is no UTF-8 text."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError("unreadable-file", f"{file} cannot be read: {error.strerror}", where=file) from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def add_to(app: typer.Typer) -> None:
    verb(app, "split", output=False)(split)
