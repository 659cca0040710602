"""Outputs of Slurm's commands that were saved as files. Each is known by what it begins with, so that its name does not matter."""

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from apportion.errors import InputError, Problem
from apportion.model.delivery import FileDigest
from apportion.sources.cells.clock_changes import TOLD
from apportion.sources.files.json_lines import whole_lines
from apportion.sources.files.paths import InputFile, input_files
from apportion.sources.files.stream import Stream
from apportion.sources.live import Progress
from apportion.sources.settings import Stanza
from apportion.sources.slurm import capacity, nodes, reservations, sacct_json
from apportion.sources.slurm.delivery import Said
from apportion.sources.slurm.report import report_of
from apportion.sources.slurm.sacct_text import Text
from apportion.sources.slurm.settings import How
from apportion.sources.slurm.tables import clock_changes

FORMATS = ("text", "json")
ACCOUNTING, NODES, SINFO, EVENTS, RESERVED, RESERVED_NOW, ASSOCIATIONS, REPORT = (
    "accounting", "nodes", "sinfo", "events", "reserved", "reserved now", "associations", "report",
)  # fmt: skip


BEGINNINGS = {
    "NodeName=": NODES, "ReservationName=": RESERVED_NOW, "-----": REPORT, "NODELIST": SINFO, "HOSTNAMES": SINFO, "NODENAMES": SINFO,
    "JobID": ACCOUNTING, "No reservations": RESERVED_NOW,
}  # fmt: skip
HEADERS = (
    ({"cluster nodes"}, EVENTS), ({"assocs"}, RESERVED), ({"id", "account", "user"}, ASSOCIATIONS), ({"jobid"}, ACCOUNTING), ({"jobidraw"}, ACCOUNTING),
)  # fmt: skip


def read_saved(found: Stanza, base: Path, how: How, said: Said) -> Iterator[Progress]:
    """Fills `said` from all the files that `path` names."""
    files = input_files(found.text("path"), base, FORMATS, found.where)
    texts: dict[str, list[str]] = {}
    total = sum(file.path.stat().st_size for file in files)
    done = 0
    for file in files:
        for read in read_file(file, how, said, texts):
            yield Progress(min(done + read, total), total, file.name)
        done += file.path.stat().st_size
    understand(texts, how, said)


def read_file(file: InputFile, how: How, said: Said, texts: dict[str, list[str]]) -> Iterator[int]:
    """The bytes read so far, now and then."""
    before = sum(block.num_rows for _, block in said.accounting)
    with Stream(file) as stream:
        if file.format == "json":
            take_json(json_of(stream, file), file, said)
        else:
            parts = (part.decode("utf-8", "replace") for part in whole_lines(stream))
            first = next(parts, "")
            kind = kind_of(first, how)
            if kind == ACCOUNTING:
                yield from read_accounting(
                    Text(file.name, how.fields, how.delimiter), chain([first], parts), said, stream
                )
            else:
                texts.setdefault(kind, []).append("\n".join((first, *parts)))
            if not kind:
                said.problems.append(Problem(file.name, "passed-over", "this is no output of Slurm that is known"))
        rows = sum(block.num_rows for _, block in said.accounting) - before
        said.files.append(FileDigest(file.name, stream.sha256, rows, "0"))


def read_accounting(told: Text, parts: Iterable[str], said: Said, stream: Stream) -> Iterator[int]:
    for block in told.blocks(parts):
        said.accounting.append((told.name, block))
        yield stream.hashed.size
    said.problems += [Problem(f"{told.name}:{line}", "malformed-row", why) for line, why in told.malformed]


def json_of(stream: Stream, file: InputFile) -> Any:
    try:
        return json.loads(stream.read_all())
    except (ValueError, RecursionError) as error:
        raise InputError(
            "corrupt-file", f"{file.name} is no JSON: {str(error)[:120]}", where=file.name, hint="save it again"
        ) from error


def take_json(document: Any, file: InputFile, said: Said) -> None:
    if isinstance(document, dict) and isinstance(document.get("nodes"), list):
        said.nodes |= {node.name: node for node in nodes.from_rest(document["nodes"])}
        return
    doubt(document, file, said)
    said.accounting += [(file.name, block) for block in sacct_json.blocks(document, file.name)]


def doubt(document: Any, file: InputFile, said: Said) -> None:
    """From 23.11 on JSON says how it was made."""
    meta = document.get("meta") if isinstance(document, dict) else None
    command = meta.get("command") if isinstance(meta, dict) else None
    if not isinstance(command, list) or not command:
        return
    short = {
        letter
        for word in map(str, command)
        if word.startswith("-") and not word.startswith("--")
        for letter in word[1:]
    }
    for letter, long, lack in (
        ("D", "--duplicates", "earlier attempts of requeued jobs"),
        ("a", "--allusers", "jobs of other users"),
    ):
        if letter not in short and long not in command:
            said.problems.append(
                Problem(file.name, "attempts-missing", f"it was saved without -{letter}: {lack} are missing")
            )


def kind_of(text: str, how: How) -> str:
    """By the first line; empty where nothing knows it."""
    line = text.lstrip("\ufeff\n").partition("\n")[0]
    for begin, kind in BEGINNINGS.items():
        if line.startswith(begin):
            return kind
    names = {name.strip().casefold() for name in line.replace("\x1f", "|").split("|")}
    known = (kind for wanted, kind in HEADERS if wanted <= names)
    first = line.replace("\x1f", "|").partition("|")[0]
    return next(known, ACCOUNTING if how.fields or first.isdecimal() else "")


def changed_times(where: str, texts: Iterable[str], how: How) -> Iterator[Problem]:
    """One for each kind of doubt that a change of clocks leaves."""
    found = [clock_changes(text, how.zone) for text in texts]
    for code, told in TOLD.items():
        times = [time for one in found for time in one[code]]
        if times:
            yield Problem(
                where, code, f"{times[0]!r} {told}, of this and {len(times) - 1} others", row=f"+{len(times)}"
            )


def understand(texts: dict[str, list[str]], how: How, said: Said) -> None:
    """The small outputs, once all are there."""
    for kind in (EVENTS, RESERVED, RESERVED_NOW):
        said.problems += changed_times(f"{said.name}, {kind}", texts.get(kind, ()), how)
    for text in texts.get(SINFO, ()):
        said.nodes |= {node.name: node for node in nodes.from_sinfo(text)}
    for text in texts.get(NODES, ()):
        said.nodes |= {node.name: node for node in nodes.from_scontrol(text)}
    if EVENTS in texts:
        said.events = [event for text in texts[EVENTS] for event in capacity.events_of(text, how.zone)]
    said.reports = [report for text in texts.get(REPORT, ()) if (report := report_of(text, how.zone))]
    ids = {
        number: who
        for text in texts.get(ASSOCIATIONS, ())
        for number, who in reservations.associations_of(text).items()
    }
    said.reservations += reservations.merged(
        [one for text in texts.get(RESERVED, ()) for one in reservations.from_sacctmgr(text, ids, how.zone)],
        [
            one
            for text in texts.get(RESERVED_NOW, ())
            for one in reservations.from_scontrol(text, how.cluster, how.zone)
        ],
    )
