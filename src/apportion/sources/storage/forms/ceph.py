"""Ceph 14 (Nautilus) to 19 (Squid): `rbd du`, `ceph df detail`, both as text and as JSON, and CephFS attributes as `getfattr` prints them.

A pool counts with its copies (USED), as the raw capacity does; its quota is of what was stored, so it is not compared. An image counts
with its snapshots; its provisioned size is its quota.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apportion.sources.storage.forms.trees import own
from apportion.sources.storage.report import Level, Part, Said, Size, gathered, limit, size

RBD = re.compile(r"^NAME\s+PROVISIONED\s+USED\s*$", re.MULTILINE)
RBD_ROW = re.compile(r"(\S+)\s+(\d\S*(?: [KMGTPE]?i?B)?)\s+(\d\S*(?: [KMGTPE]?i?B)?)\s*")
DF = re.compile(r"^--- RAW STORAGE ---", re.MULTILINE)
ATTRIBUTES = re.compile(r"^# file: .*\nceph\.", re.MULTILINE)
ATTRIBUTE = re.compile(r'ceph\.(dir\.rbytes|quota\.max_bytes)="?(\d+)"?')
CELL = re.compile(r"N/A|\d[\d.]*(?: [KMGTPE]?i?B|[kMGTPE])?(?=\s|$)")
RAW = "ceph"


def parse_rbd(said: Said) -> Iterator[Part]:
    levels = []
    for number, line in said.lines():
        if RBD.match(line) or line.startswith(("warning:", "<TOTAL>")):
            continue
        row = RBD_ROW.fullmatch(line.strip())
        provisioned, used = (size(row[2]), size(row[3])) if row else (None, None)
        if row is None or provisioned is None or used is None:
            said.misread(number, line)
            continue
        levels.append(image(row[1], provisioned, used))
    yield gathered(said.own_volume(), "image", levels)


def image(name: str, provisioned: int, used: int) -> Level:
    """`image@snapshot` belongs to its image; only the image itself is provisioned."""
    bare, _, snapshot = name.partition("@")
    return Level(bare, used, None if snapshot else provisioned)


def parse_rbd_json(said: Said, found: Mapping[str, Any]) -> Iterator[Part]:
    levels = [
        image(f"{one['name']}@{one['snapshot']}" if one.get("snapshot") else one["name"],
              int(one["provisioned_size"]), int(one["used_size"]))
        for one in found["images"]
    ]  # fmt: skip
    yield gathered(said.own_volume(), "image", levels)


def parse_df(said: Said) -> Iterator[Part | Size]:
    """Sections RAW STORAGE and POOLS. Cells are sizes with a space before the unit, so they are cut by what they look like."""
    volume, section, columns = said.volume or RAW, "", [""]
    levels = []
    for number, line in said.lines():
        word = line.split()[0]
        if line.startswith("---"):
            section = line.strip("- ")
        elif word in ("CLASS", "POOL"):
            columns = re.split(r"\s{2,}", line.strip())
        elif section == "RAW STORAGE":
            if word == "TOTAL" and (total := size(CELL.findall(line)[0])) is not None:
                yield Size(volume, total)
        elif (used := pool_used(line, columns)) is not None:
            levels.append(Level(word, used))
        else:
            said.misread(number, line)
    yield gathered(volume, "pool", levels)


def pool_used(line: str, columns: list[str]) -> int | None:
    """The cell of USED, counted from the pool's name on; headings may stand closer together than cells."""
    headings = [
        word for column in columns for word in re.findall(r"QUOTA \w+|MAX AVAIL|USED COMPR|UNDER COMPR|\S+", column)
    ]
    cells = CELL.findall(line, len(line) - len(line.lstrip().split(None, 1)[-1]))
    at = headings.index("USED") - 1 if "USED" in headings else len(cells)
    return size(cells[at]) if at < len(cells) else None


def parse_df_json(said: Said, found: Mapping[str, Any]) -> Iterator[Part | Size]:
    volume = said.volume or RAW
    yield Size(volume, int(found["stats"]["total_bytes"]))
    levels = [Level(pool["name"], int(pool["stats"]["bytes_used"])) for pool in found["pools"]]
    yield gathered(volume, "pool", levels)


def parse_attributes(said: Said) -> Iterator[Part]:
    """`getfattr -n ceph.dir.rbytes -n ceph.quota.max_bytes DIR...`: a directory with its limit, one that lies in another not apart from it."""
    path = ""
    found: dict[str, dict[str, str]] = {}
    for number, line in said.lines():
        if line.startswith("# file: "):
            path = line.removeprefix("# file: ").strip()
            found[path] = {}
        elif (attribute := ATTRIBUTE.fullmatch(line.strip())) and path:
            found[path][attribute[1]] = attribute[2]
        else:
            said.misread(number, line)
    levels = [
        Level(name, int(cells["dir.rbytes"]), limit(cells.get("quota.max_bytes", "")))
        for name, cells in found.items()
        if "dir.rbytes" in cells
    ]
    yield Part(said.own_volume(), "directory", tuple(own(levels)))
