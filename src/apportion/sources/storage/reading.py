"""Files to reports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from apportion.errors import InputError, Problem
from apportion.model.delivery import FileDigest
from apportion.model.times import Interval
from apportion.sources.files.delimited import not_text
from apportion.sources.files.paths import InputFile, input_files
from apportion.sources.files.stream import Stream
from apportion.sources.storage.forms.detect import parse_text
from apportion.sources.storage.forms.inventory import is_manifest, parse_inventory
from apportion.sources.storage.forms.table import parse_table
from apportion.sources.storage.held import Report
from apportion.sources.storage.report import Part, Said, Size, rounded
from apportion.sources.storage.settings import How
from apportion.sources.storage.times import time_in, time_of

FORMATS = ("csv", "parquet", "text", "json")


@dataclass
class Read:
    """Problems and files with the time of which they speak: a month's delivery names its own, and does not change with another's."""

    reports: list[Report] = field(default_factory=list)
    problems: list[tuple[int, Problem]] = field(default_factory=list)
    files: list[tuple[Interval, FileDigest]] = field(default_factory=list)

    def take(self, said: Said, digest: FileDigest, times: Sequence[int]) -> None:
        span = Interval(min(times, default=0), max(times, default=0))
        self.problems += ((span.start_s, problem) for problem in (*said.problems, *rounded(said)))
        self.files.append((span, digest))


def read_reports(how: How, base: Path, window: Interval | None = None) -> Read:
    """All reports at `path` that may matter to the window. Where an inventory's manifest is among them, tables are its own and read through it."""
    files = [file for file in input_files(how.path, base, FORMATS, how.where) if matters(file, window, how)]
    texts = [(file, *text_of(file)) for file in files if file.format in ("text", "json")]
    manifests = [entry for entry in texts if entry[0].format == "json" and is_manifest(entry[1])]
    read = Read()
    for entry in texts:
        if entry in manifests:
            add_inventory(read, entry, how, base)
        else:
            add_text(read, entry, how)
    if not manifests:
        for file in files:
            if file.format == "csv":
                add_table(read, file, how)
    return read


def matters(file: InputFile, window: Interval | None, how: How) -> bool:
    """By the time in its name: one that is too long before cannot hold until the window, one that is too long after ends nothing in it."""
    at_s = time_in(file.name.rpartition("/")[2], how.zone) if window and file.format == "text" else None
    reach = how.patience.bridge_s
    return window is None or at_s is None or window.start_s - reach <= at_s <= window.end_s + reach


def text_of(file: InputFile) -> tuple[str, str]:
    with Stream(file) as stream:
        data = stream.read_all()
        digest = stream.sha256
    try:
        return data.decode("utf-8-sig"), digest
    except UnicodeDecodeError as error:
        raise not_text(file, data.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from error


def add_text(read: Read, entry: tuple[InputFile, str, str], how: How) -> None:
    file, text, digest = entry
    said = Said(file.name, text, how.volume.strip("/"), how.by, how.unit or 1024)
    at_s = time_of(file, how.zone, said.problems)
    found = parse_text(said)
    parts = chosen([one for one in found if isinstance(one, Part)], how)
    sizes = tuple(one for one in found if isinstance(one, Size))
    read.reports.append(Report(file.name, at_s, parts, sizes))
    read.take(said, FileDigest(file.name, digest, count(parts), str(control(parts))), [at_s])


def add_table(read: Read, file: InputFile, how: How) -> None:
    said = Said(file.name, "", how.volume.strip("/"), how.by, how.unit or 1)
    sheet, moments = parse_table(file, said, dict(how.columns or {}), how.zone)
    parts: list[Part] = []
    times: list[int] = []
    for moment in moments:
        at_s = time_of(file, how.zone, said.problems) if moment.at_s is None else moment.at_s
        taken = chosen(moment.parts, how)
        parts += taken
        times.append(at_s)
        read.reports.append(Report(file.name, at_s, taken))
    read.take(said, FileDigest(file.name, sheet.sha256, sheet.table.num_rows, str(control(parts))), times)


def add_inventory(read: Read, entry: tuple[InputFile, str, str], how: How, base: Path) -> None:
    file, text, digest = entry
    said = Said(file.name, text, how.volume.strip("/"))
    found = parse_inventory(file, said, base, how.prefix_depth)
    read.reports.append(Report(file.name, found.at_s, (found.part,)))
    read.take(said, FileDigest(file.name, digest, count([found.part]), str(control([found.part]))), [found.at_s])
    read.files += ((Interval(found.at_s, found.at_s), data) for data in found.files)


def count(parts: Sequence[Part]) -> int:
    return sum(len(part.levels) for part in parts)


def control(parts: Sequence[Part]) -> int:
    return sum(level.used for part in parts for level in part.levels)


def chosen(parts: Sequence[Part], how: How) -> tuple[Part, ...]:
    return tuple(part for part in parts if not how.by or part.kind == how.by)


def one_view(reports: Sequence[Report], how: How) -> None:
    """Users, groups and filesets of a volume are the same bytes seen thrice."""
    kinds: dict[str, dict[str, str]] = {}
    for report in reports:
        for part in report.parts:
            kinds.setdefault(part.volume, {}).setdefault(part.kind, report.name)
    for volume, seen in kinds.items():
        if len(seen) > 1:
            raise InputError(
                "counted-twice",
                f"the reports list {volume} by {' and by '.join(sorted(seen))}: the same bytes, seen more than once",
                where=f"{how.where}, {next(iter(seen.values()))}",
                hint=f'add by = "{min(seen)}" to the source to say who owns them',
            )
