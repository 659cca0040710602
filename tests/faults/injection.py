"""Faults at exact system calls, by strace."""

import os
import re
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests import processes
from tests.faults.story import Stage
from tests.processes import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
CALLS = ("pwrite64", "write", "fsync", "fdatasync", "ftruncate", "unlink", "rename", "mkdir", "openat", "sendto")
LINE = re.compile(r"(?P<pid>\d+) +(?P<call>\w+)\((?P<rest>.*)")


@dataclass(frozen=True)
class Fault:
    """At the `number`th call of this kind; `onwards`: and at every later one."""

    call: str
    number: int
    what: str  # signal=SIGKILL, error=ENOSPC, error=EIO
    onwards: bool = False

    def __str__(self) -> str:
        return f"{self.what} at {self.call} {self.number}{'+' if self.onwards else ''}"


@dataclass(frozen=True)
class Call:
    """A traced system call of the actor's: the `number`th of its kind."""

    call: str
    number: int
    text: str


@dataclass(frozen=True)
class Ending:
    code: int
    calls: tuple[Call, ...]

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def cannot_trace() -> str:
    """Why there will be no faults, or nothing."""
    if not shutil.which("strace"):
        return "no strace is installed"
    tried = processes.run(["strace", "-f", "-qq", "-e", "trace=none", "true"], text=True)
    return "" if tried.returncode == 0 else f"strace may not trace here: {tried.stderr.strip()[:100]}"


class Actors:
    """The process that forks an actor per telling."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
            "PYTHONHASHSEED": "0",
        }
        command = [sys.executable, "-m", "tests.faults.actor"]
        self.process = processes.Process(
            command, stdin=processes.PIPE, stdout=processes.PIPE, text=True, env=environment, cwd=ROOT
        )
        assert self.answer() == "imported"

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def play(self, story: str, stage: Stage, fault: Fault | None = None, strings: int = 32) -> Ending:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{story}\t{stage.folder}\t{stage.url}\n")
        self.process.stdin.flush()
        child = self.answer()
        wait_until((stage.folder / "ready").exists)
        log = stage.folder.with_name(stage.folder.name + ".trace")
        command = [
            "strace",
            "-f",
            "-qq",
            "-y",
            "-p",
            child,
            "-o",
            str(log),
            "-s",
            str(strings),
            "-e",
            "signal=none",
            "-e",
            f"trace={','.join(CALLS)}",
        ]
        if fault:
            when = f"{fault.number}{'+' if fault.onwards else ''}"
            command += ["-e", f"inject={fault.call}:{fault.what}:when={when}"]
        with processes.Process(command, stderr=processes.PIPE) as tracer:
            wait_until(lambda: is_traced(child) or tracer.poll() is not None)
            (stage.folder / "go").touch()
            code = int(self.answer())
        calls = tuple(calls_of(child, log.read_text(errors="replace")))
        log.unlink()
        return Ending(code, calls)

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@contextmanager
def actors() -> Iterator[Actors]:
    started = Actors()
    try:
        yield started
    finally:
        started.close()


def is_traced(pid: str) -> bool:
    try:
        return "TracerPid:\t0\n" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


def wait_until(true: Callable[[], bool]) -> None:
    patience = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < patience, "the actor does not answer"
        time.sleep(0.002)


def calls_of(pid: str, log: str) -> Iterator[Call]:
    """The calls of the actor's own thread, in order; strace counts each kind by itself."""
    numbers: Counter[str] = Counter()
    for line in log.splitlines():
        found = LINE.match(line)
        if found and found["pid"] == pid:
            numbers[found["call"]] += 1
            yield Call(found["call"], numbers[found["call"]], found["rest"])
