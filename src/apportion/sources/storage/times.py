"""When a report was made: by the stanza, by its file's name, or, with a note, by when the file was written."""

import re
from zoneinfo import ZoneInfo

from apportion.errors import InputError, Problem
from apportion.model.times import instant_text, parse_instant
from apportion.sources.cells.clock_changes import clock_changes
from apportion.sources.files.paths import InputFile

DATED = re.compile(
    r"(?<!\d)(\d{4})[-_]?(\d\d)[-_]?(\d\d)(?:[T_ .-]?(\d\d)[-:_h]?(\d\d)(?:[-:_m]?(\d\d))?(Z)?)?(?!\d)", re.ASCII
)
SECONDS = re.compile(r"(?<!\d)([12]\d{9})(?!\d)", re.ASCII)


def time_of(file: InputFile, zone: ZoneInfo, problems: list[Problem]) -> int:
    named = time_in(file.name.rpartition("/")[2], zone)
    if named is not None:
        for text in texts_in(file.name.rpartition("/")[2])[:1]:
            problems += clock_changes(file.name, text, zone)
        return named
    written = int(file.path.stat().st_mtime)
    problems.append(
        Problem(
            file.name,
            "time-of-file",
            f"the name holds no time, so the report counts from when the file was written, {instant_text(written)}",
        )
    )
    return written


def texts_in(name: str) -> list[str]:
    """The times that a file's name may hold, as ISO 8601 writes them."""
    parts = (found.groups() for found in DATED.finditer(name))
    return [
        f"{year}-{month}-{day}T{hour or '00'}:{minute or '00'}:{second or '00'}{utc or ''}"
        for year, month, day, hour, minute, second, utc in parts
    ]


def time_in(name: str, zone: ZoneInfo) -> int | None:
    """`lustre-2026-10-05.txt`, `20261005T0600Z.txt`, `quota.1791158400`; a day alone is its midnight. Without Z it is local to the zone."""
    for text in texts_in(name):
        try:
            return parse_instant(text, zone)
        except InputError:
            continue
    seconds = SECONDS.search(name)
    return int(seconds[1]) if seconds else None
