"""`repquota` (quota-tools 4.x), `xfs_quota -x -c report` (xfsprogs 4 to 6), `df` (coreutils 8 and 9) and `lfs df` (Lustre).

Sizes are KiB unless the header says otherwise.
"""

import re
from collections.abc import Iterator

from apportion.sources.storage.report import Level, Part, Said, Size, gathered, limit, size

REPQUOTA = re.compile(r"^\*\*\* Report for (user|group|project) quotas on device (\S+)", re.MULTILINE)
REPQUOTA_ROW = re.compile(r"(\S+)\s+[-+]{2}\s+(\S+)\s+(\S+)\s+(\S+)(?:\s|$)")
XFS = re.compile(r"^(User|Group|Project) quota on (\S+) \(", re.MULTILINE)
XFS_ROW = re.compile(r"(\S+)\s+(\d\S*)\s+(\d\S*)\s+(\d\S*)(?:\s+\d+\s+\[.*?\])*")
DF = re.compile(r"^\s*(?:Filesystem|UUID)\s.*\bMounted on", re.MULTILINE)
DF_HEADER = re.compile(r"\s*(?:Filesystem|UUID)\s+(?:Type\s+)?(\S+)")
DF_UNIT = re.compile(r"(\d+)([KMG]?)i?B?-blocks")
HEADINGS = re.compile(
    r"\s*(?:Block(?:s)?(?: grace time| limits|\s*$)|(?:User|Group|Project)(?: ID)?\s+[Uu]sed|-{5,}|[-\s]+$|Inodes|Realtime|(?:Blocks\s+))"
)


def parse_repquota(said: Said) -> Iterator[Part]:
    yield from rows(said, REPQUOTA, REPQUOTA_ROW)


def parse_xfs(said: Said) -> Iterator[Part]:
    yield from rows(said, XFS, XFS_ROW)


def rows(said: Said, heading: re.Pattern[str], shape: re.Pattern[str]) -> Iterator[Part]:
    """Sections of `name used soft hard`."""
    found: dict[tuple[str, str], list[Level]] = {}
    section = None
    for number, line in said.lines():
        if new := heading.match(line):
            section = (said.named(new[2]), new[1].lower())
            found.setdefault(section, [])
        elif not HEADINGS.match(line):
            row = shape.match(line.strip())
            used = size(row[2], said.unit) if row else None
            if row is None or used is None or section is None:
                said.misread(number, line)
                continue
            found[section].append(Level(row[1], used, limit(row[4], row[3], unit=said.unit)))
    for (volume, kind), levels in found.items():
        yield gathered(volume, kind, levels)


def parse_df(said: Said) -> Iterator[Size]:
    """The size of each file system. Of `lfs df` the summary alone: its other rows are the targets."""
    unit, lustre, typed, device = said.unit, False, False, ""
    for number, line in said.lines():
        if header := DF_HEADER.match(line):
            lustre, typed = line.split()[0] == "UUID", line.split()[1] == "Type"
            unit = block_size(header[1], said.unit)
            continue
        cells = line.split()
        if len(cells) == 1:  # a long device stands alone
            device = cells[0]
            continue
        cells, device = ([device, *cells] if device else cells), ""
        if lustre and cells[0] != "filesystem_summary:":
            continue
        first = 2 if typed else 1
        total = size(cells[first], unit) if len(cells) >= first + 5 else None
        if total is None:
            said.misread(number, line)
            continue
        yield Size(said.named(" ".join(cells[first + 4 :])), total)


def block_size(column: str, otherwise: int) -> int:
    found = DF_UNIT.fullmatch(column)
    return int(found[1]) * 1024 ** " KMG".index(found[2] or " ") if found else otherwise
