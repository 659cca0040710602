"""`zfs userspace`, `groupspace` and `projectspace` with `-Hp` (OpenZFS 0.8 to 2.3): type, name, used and quota, tab-separated, in bytes."""

import re
from collections.abc import Iterator

from apportion.sources.storage.report import Level, Part, Said, gathered, limit, size

TYPES = {
    "POSIX User": "user", "SMB User": "user", "POSIX Group": "group", "SMB Group": "group", "Project": "project",
}  # fmt: skip
MATCHES = re.compile(r"\A(?:POSIX User|SMB User|POSIX Group|SMB Group|Project)\t")


def parse(said: Said) -> Iterator[Part]:
    found: dict[str, list[Level]] = {}
    for number, line in said.lines():
        cells = line.split("\t")
        used = size(cells[2]) if len(cells) >= 4 else None
        if used is None or cells[0] not in TYPES:
            said.misread(number, line)
            continue
        found.setdefault(TYPES[cells[0]], []).append(Level(cells[1], used, limit(cells[3].strip())))
    for kind, levels in found.items():
        yield gathered(said.own_volume(), kind, levels)
