"""`mmrepquota -u|-g|-j` of Storage Scale (GPFS 4.2 to 5.2): the text, and the colon-separated form of `-Y`, whose header names the fields.

Where quotas hold in each fileset, a user has a row for each; they add up. What is in doubt is not counted.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from apportion.sources.storage.report import Level, Part, Said, gathered, limit, size

COLONS = re.compile(r"^mmrepquota:.*:HEADER:", re.MULTILINE)
TEXT = re.compile(r"^\*\*\* Report for (?:USR|GRP|FILESET)[A-Z ]* quotas on ", re.MULTILINE)
REPORT = re.compile(r"\*\*\* Report for [A-Z ]+quotas on (\S+)")
TYPES = {"USR": "user", "GRP": "group", "FILESET": "fileset"}
UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
Found = dict[tuple[str, str], list[Level]]


def parse_colons(said: Said) -> Iterator[Part]:
    """By the names of the HEADER line. Blocks are KiB; values are percent-encoded."""
    fields: list[str] = []
    found: Found = {}
    for number, line in said.lines():
        cells = line.split(":")
        if line.startswith("***"):
            continue
        if len(cells) > 2 and cells[2] == "HEADER":
            fields = cells
            continue
        row = {name: unquote(cell) for name, cell in zip(fields, cells, strict=False)}
        used = size(row.get("blockUsage", ""), said.unit)
        if used is None or row.get("quotaType") not in TYPES:
            said.misread(number, line)
            continue
        quota = limit(row.get("blockLimit", ""), row.get("blockQuota", ""), unit=said.unit)
        key = said.named(row["filesystemName"]), TYPES[row["quotaType"]]
        found.setdefault(key, []).append(Level(row["name"], used, quota))
    yield from parts(found)


def parse_text(said: Said) -> Iterator[Part]:
    """`Name [fileset] type KB quota limit in_doubt grace | ...`; with `--block-size` the fourth word is the unit."""
    found: Found = {}
    volume, columns, unit = "", [""], said.unit
    for number, line in said.lines():
        left = line.split("|")[0].split()
        if report := REPORT.match(line):
            volume = said.named(report[1])
        elif left[:1] == ["Name"] and "type" in left:
            columns = left
            unit = UNITS.get(left[left.index("type") + 1], said.unit)
        elif left[:2] != ["Block", "Limits"]:
            level = text_row(left, columns, unit)
            if level is None:
                said.misread(number, line)
            else:
                found.setdefault((volume, level[0]), []).append(level[1])
    yield from parts(found)


def text_row(cells: list[str], columns: list[str], unit: int) -> tuple[str, Level] | None:
    if "type" not in columns or len(cells) < columns.index("type") + 4:
        return None
    at = columns.index("type")
    kind, (usage, soft, hard) = cells[at], cells[at + 1 : at + 4]
    used = size(usage, unit)
    if kind not in TYPES or used is None:
        return None
    return TYPES[kind], Level(cells[0], used, limit(hard, soft, unit=unit))


def parts(found: Found) -> Iterator[Part]:
    for (volume, kind), levels in found.items():
        yield gathered(volume, kind, levels)
