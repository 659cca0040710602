"""Trees, in which a parent counts its children: `zfs list -Hp -o name,used,quota` (OpenZFS 0.8 to 2.3) and `du` (coreutils 8 and 9).

Each node is left with what its children do not hold, so that the sum is the root's and nothing is counted twice.
"""

import re
from collections.abc import Iterable, Iterator

from apportion.sources.storage.report import Level, Part, Said, limit, size

ZFS_LIST = re.compile(
    r"\A(?:NAME\s+USED\s+QUOTA\s*\n)?[\w][^\t\n ]*[\t ]+\d[\d.]*[KMGTPE]?[\t ]+(?:none|-|\d\S*)\s*$", re.MULTILINE
)
DU = re.compile(r"\A\d[\d.]*[kKMGTPE]?[\t ]+[./~]", re.ASCII)
DU_ROW = re.compile(r"(\d[\d.]*[kKMGTPE]?)[\t ]+(.*\S)\s*")


def parse_zfs_list(said: Said) -> Iterator[Part]:
    """The volume is the pool. Sizes in bytes."""
    found: dict[str, list[Level]] = {}
    for number, line in said.lines():
        cells = line.split()
        if cells == ["NAME", "USED", "QUOTA"]:
            continue
        used = size(cells[1]) if len(cells) == 3 else None
        if used is None:
            said.misread(number, line)
            continue
        pool = cells[0].split("/")[0]
        found.setdefault(said.named(pool), []).append(Level(cells[0], used, limit(cells[2])))
    for volume, levels in found.items():
        yield Part(volume, "dataset", tuple(own(levels)))


def parse_du(said: Said) -> Iterator[Part]:
    """Blocks of 1 KiB unless `unit` says otherwise (`bytes` for `du -b`)."""
    levels = []
    for number, line in said.lines():
        row = DU_ROW.fullmatch(line)
        used = size(row[1], said.unit) if row else None
        if row is None or used is None:
            said.misread(number, line)
        elif row[2] != "total":  # `du -c`
            levels.append(Level(row[2].rstrip("/") or "/", used))
    yield Part(said.own_volume(), "directory", tuple(own(levels)))


def own(levels: Iterable[Level]) -> Iterator[Level]:
    """What each node holds itself. A quota is left with what the children's quotas, or their use where they have none, do not take."""
    nodes = {level.name: level for level in levels}
    taken_used = dict.fromkeys(nodes, 0)
    taken_held = dict.fromkeys(nodes, 0)
    for name, level in nodes.items():
        parent = parent_of(name, nodes)
        if parent is not None:
            taken_used[parent] += level.used
            taken_held[parent] += level.used if level.quota is None else level.quota
    for name in sorted(nodes):
        level = nodes[name]
        quota = None if level.quota is None else max(0, level.quota - taken_held[name])
        yield Level(name, max(0, level.used - taken_used[name]), quota)


def parent_of(name: str, nodes: dict[str, Level]) -> str | None:
    """The nearest node above."""
    above = name
    while "/" in above:
        above = above.rpartition("/")[0] or ("/" if above != "/" else "")
        if above in nodes and above != name:
            return above
        if above == "/":
            break
    return None
