"""Looks written down, one a line, to be played again: a node without a board, a test, a question about last night."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from apportion.errors import InputError
from apportion.sources.agent.looks import Clock, Look, Machine, from_json, to_json


@dataclass(slots=True)
class Recorder:
    """Hands looks through and keeps a copy of each."""

    machine: Machine
    file: IO[str]

    def look(self) -> Look | None:
        found = self.machine.look()
        if found is not None:
            self.file.write(json.dumps(to_json(found), separators=(",", ":")) + "\n")
            self.file.flush()
        return found


@dataclass(slots=True)
class Player:
    """The looks of a trace as fast as they are asked for, from after a moment of the same boot."""

    looks: Iterator[Look]
    after: Clock | None = None

    def look(self) -> Look | None:
        for found in self.looks:
            if self.after is None or found.clock.boot != self.after.boot or found.clock.boot_ms > self.after.boot_ms:
                return found
        return None


def played(path: Path) -> Iterator[Look]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield parsed(line, f"{path}:{number}")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError("unreadable-file", f"{path} cannot be read: {error}", where=str(path)) from error


def parsed(line: str, where: str) -> Look:
    try:
        return from_json(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "invalid-trace",
            f"the line is no look at a node ({type(error).__name__}: {error})",
            where=where,
            hint="a trace is what `apportion agent record` writes",
        ) from error
