"""Exchange rates by day, from CSV: `day,from,to,rate`, or what the European Central Bank publishes (its wide tables and its SDMX-CSV).

A table is taken whole or refused with its line: a rate that is wrong by a digit is wrong on every line of a bill. Days that follow one another
are one delivery, so that a table of one day, as the bank publishes daily, replaces that day alone.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import Problem, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.files.paths import input_files
from apportion.sources.fx.delivery import deliveries
from apportion.sources.fx.forms import KNOWN, Stated, read_table
from apportion.sources.settings import stanza

SETTINGS = ("base",)
FORMATS = ("csv",)
STANZA = """\
# Exchange rates by day: day,from,to,rate, or a table of the European Central Bank. The policy's `fx` names it.
[[sources]]
name = "ecb"
kind = "fx"
path = "rates/*.csv"
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery for each stretch of days without a gap of over a month; with `window`, of the days in it."""
    found = stanza(settings, SETTINGS)
    against = found.word("base", KNOWN, "EUR")
    tables = [read_table(file, against) for file in input_files(found.text("path"), base, FORMATS, found.where)]
    if "base" in settings and not any(table.wide for table in tables):
        raise ProjectError(
            "invalid-setting",
            "base is for tables with a column for each currency; these files say both currencies of a rate",
            where=found.where,
            hint="take base out of the stanza",
        )
    problems = tuple(unended(table) for table in tables if not table.sheet.ended)
    yield from deliveries(found.text("name"), tables, problems, window)


def unended(table: Stated) -> Problem:
    return Problem(table.sheet.file.name, "no-last-newline", "the last line has no end: the file may have been cut off")
