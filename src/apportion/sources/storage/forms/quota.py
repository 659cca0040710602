"""`lfs quota -u|-g|-p NAME` (Lustre 2.10 to 2.16), `lfs quota -a` (2.16) and `quota` of Linux (4.x, also over NFS): one header, then a row a file system.

A path that is too long stands on a line of its own, its figures on the next. Rows of single targets (`-v`) add up to the first row and are
passed over. Figures in brackets lack the targets that did not answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apportion.sources.storage.report import Level, Part, Said, gathered, limit, size

ABOUT = re.compile(r"Disk (?:default )?quotas for (usr|user|grp|group|prj|project)s? (\S+)(?: \(\w+ \S+\))?:(.*)")
HEADER = re.compile(r"\s*Filesystem\s+(?:(\S+)\s+)?(kbytes|used|blocks|space)\s+quota\s+limit", re.IGNORECASE)
TARGET = re.compile(r"\S+-(?:MDT|OST)[0-9a-fA-F]+_UUID")
REMARKS = re.compile(r"\s*(?:(?:uid|gid|pid|projid|prjid) \S+ is using default|Some errors happened|Total allocated)")
WORDS = {"u": "user", "g": "group", "p": "project"}
MATCHES = re.compile(r"^\s*Filesystem\s+(?:\S+\s+)?(?:kbytes|used|blocks|space)\s+quota\s+limit", re.MULTILINE)


@dataclass
class State:
    """Where the reader stands: whose quotas, and a path whose figures are still to come."""

    kind: str = ""
    name: str = ""
    listing: bool = False  # `-a`: a name in every row
    path: str = ""
    found: dict[tuple[str, str, bool], list[Level]] = field(default_factory=dict)


def parse(said: Said) -> Iterator[Part]:
    state = State(kind=said.kind)
    for number, line in said.lines():
        if about := ABOUT.match(line.strip()):
            state.kind, state.name, state.path = WORDS[about[1][0]], about[2], ""
        elif header := HEADER.match(line):
            state.listing = bool(header[1])
            state.kind = kind_of(header[1], state.kind)
        else:
            row(said, state, number, line)
    for (volume, kind, whole), levels in state.found.items():
        yield gathered(volume, kind, levels, whole=whole)


def kind_of(column: str | None, otherwise: str) -> str:
    """`lfs quota -a` names its second column after the kind of owner."""
    text = (column or "").lower()
    for word in ("usr", "user", "grp", "group", "prj", "proj"):
        if word in text:
            return WORDS[word[0]]
    return otherwise


def row(said: Said, state: State, number: int, line: str) -> None:
    cells = line.split()
    if REMARKS.match(line):
        return
    if len(cells) == 1 and size(cells[0]) is None:
        state.path = cells[0]
        return
    if state.path:
        cells, state.path = [state.path, *cells], ""
    path, *figures = cells
    name = figures.pop(0) if state.listing and len(figures) > 3 else state.name
    used = size(figures[0], said.unit) if len(figures) >= 3 else None
    if TARGET.fullmatch(path):
        return
    if used is None or not name or not state.kind:
        said.misread(number, line)
        return
    if figures[0].startswith("["):
        said.fault(number, f"{name} on {path}: some targets did not answer, so its size is too small", "estimated")
    quota = limit(figures[2], figures[1], unit=said.unit)
    state.found.setdefault((said.named(path), state.kind, state.listing), []).append(Level(name, used, quota))
