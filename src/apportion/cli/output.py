"""The two streams: answers on stdout, talk on stderr. Colours only on a terminal and without NO_COLOR."""

import os
import shutil
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from apportion.render.sheet import Screen, Sheet


def show(sheet: "Sheet", form: str) -> None:
    from apportion.render.formats import render

    write(sys.stdout, render(sheet, form, screen(sys.stdout)))


def say(*lines: str) -> None:
    for line in lines:
        write(sys.stderr, line + "\n")


def screen(stream: TextIO) -> "Screen":
    from apportion.render.sheet import Screen

    if not stream.isatty():
        return Screen()
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Screen(width=shutil.get_terminal_size().columns, colour=not plain)


def write(stream: TextIO, text: str) -> None:
    """A stream that cannot carry a character (a Latin-1 pipe) gets its code instead of a failure."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
    stream.flush()
