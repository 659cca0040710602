"""The spool: a folder of JSON lines, one batch a line, only ever appended to.

Each start of the agent writes files of its own, one a day, so nothing ever follows a line that a kill cut off. A line carries the
SHA-256 of its own text and is synced before the next is begun. The newest whole line says where to go on: it is the only memory.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError

HEAD = '{"sha256":"'
LINE = re.compile(r'\{"sha256":"([0-9a-f]{64})",', re.ASCII)
NAME = re.compile(r"(?P<node>.+)\.(?P<day>\d{8})\.(?P<run>\d{13})\.jsonl", re.ASCII)


def line_of(batch: Mapping[str, Any]) -> str:
    body = json.dumps(batch, separators=(",", ":"), sort_keys=True, ensure_ascii=True)
    return f'{HEAD}{hashlib.sha256(body.encode()).hexdigest()}",{body[1:]}\n'


def batch_of(line: str) -> dict[str, Any] | None:
    """None where the line was cut off or changed."""
    found = LINE.match(line)
    if not found:
        return None
    body = "{" + line[found.end() :].rstrip("\n")
    if hashlib.sha256(body.encode()).hexdigest() != found[1]:
        return None
    batch: dict[str, Any] = json.loads(body)
    return {**batch, "sha256": found[1]}


@dataclass(frozen=True, slots=True)
class Spool:
    """Where one node's agent writes. Files are `NODE.DAY.RUN.jsonl`: the day (UTC) on which a batch ends, the run's start in ms."""

    folder: Path
    node: str

    def append(self, batch: Mapping[str, Any]) -> Path:
        day = datetime.fromtimestamp(batch["to"]["wall_ms"] / 1000, UTC).strftime("%Y%m%d")
        path = self.folder / f"{self.node}.{day}.{batch['run']}.jsonl"
        fresh = not path.exists()
        with path.open("a", encoding="ascii") as file:
            file.write(line_of(batch))
            file.flush()
            os.fsync(file.fileno())
        if fresh:
            sync(self.folder)
        return path

    def last(self) -> dict[str, Any] | None:
        """The newest whole batch: of the newest run that wrote one. A run's files are in order of their days, its lines of their numbers."""
        names = {path: found for path in self.folder.glob("*.jsonl") if (found := NAME.fullmatch(path.name))}
        own = [path for path, found in names.items() if found["node"] == self.node]
        for path in sorted(own, key=lambda path: (names[path]["run"], names[path]["day"]), reverse=True):
            whole = [batch for line in lines(path) if (batch := batch_of(line))]
            if whole:
                return max(whole, key=lambda batch: batch["seq"])
        return None

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """By one agent at a time: two would count everything twice."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f".{self.node}.lock").open("w", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ProjectError(
                    "agent-running",
                    f"another agent writes to {self.folder} for {self.node}",
                    where=str(self.folder),
                    hint="stop it first, or give this one another --spool",
                ) from error
            yield


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="ascii", errors="replace").splitlines(keepends=True)


def sync(folder: Path) -> None:
    """A new name is safe once its folder is."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
