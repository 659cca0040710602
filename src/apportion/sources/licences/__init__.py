"""Licences in use: check-out logs of FlexLM-style servers, tables of check-outs, lists of named users' seats and of orders, and what `lmstat` tells.

The logs of a stanza are those of one server, one after the other: a seat taken in one may be given back in the next.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import InputError
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import Interval
from apportion.sources.files.paths import InputFile, input_files
from apportion.sources.files.stream import Stream
from apportion.sources.licences.delivery import deliveries
from apportion.sources.licences.events import Told
from apportion.sources.licences.flexlm import ISSUED, LOG, parse_lmstat, parse_log
from apportion.sources.licences.settings import How, how_of
from apportion.sources.licences.table import parse_table

FORMATS = ("csv", "text")
STANZA = """\
# Check-outs of a licence server: its debug logs, and what lmstat -a printed.
[[sources]]
name = "licences"
kind = "licences"
path = "licences/*.log"
time_zone = "UTC"
# tokens = { solver = 25 }      # what one check-out takes, where it is not 1
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """A delivery for each month of the logs, or for the window asked for."""
    how = how_of(settings)
    told, files = [], []
    for file in input_files(how.path, base, FORMATS, how.where):
        one, digest = read_file(file, how)
        told.append((file.name, one))
        files.append(digest)
    yield from deliveries(told, files, how, window)


def read_file(file: InputFile, how: How) -> tuple[Told, FileDigest]:
    if file.format == "csv":
        told, sheet = parse_table(file, how.columns, how.zone)
        return told, FileDigest(
            file.name, sheet.sha256, told.rows, str(len(told.events) + len(told.assigned) + len(told.bought))
        )
    with Stream(file) as stream:
        text = stream.read_all().decode("utf-8-sig", "replace")  # daemons print users' names in any encoding
        digest = stream.sha256
    told = parsed(file, text, how)
    return told, FileDigest(file.name, digest, told.rows, str(len(told.events)))


def parsed(file: InputFile, text: str, how: How) -> Told:
    if ISSUED.search(text):
        return parse_lmstat(file.name, text, how.zone)
    if LOG.search(text):
        return parse_log(file.name, text, how.zone)
    raise InputError(
        "unknown-form",
        f"{file.name} is neither a licence server's debug log nor what lmstat -a prints",
        where=file.name,
        hint="other logs can be read as CSV: check-outs with feature, user, out, in; seats with feature, user, from, until",
    )
