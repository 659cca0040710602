"""Processes that tests start: all of them through `run` or `Process`, which keep what a process says.

Where a test fails, tests/conftest.py prints the last words of every process that the test started, and of those that still run. Nothing is
thrown away: a stream that nobody asked for goes to a file without a name. Only what runs the tests or installs their servers starts processes
by itself: tests/run.py, warm.py and servers.py.
"""

import atexit
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty
from shlex import quote
from subprocess import DEVNULL, PIPE, STDOUT, CompletedProcess, TimeoutExpired
from typing import TYPE_CHECKING, Any, AnyStr, Literal, Self, TypeVar, overload

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess
    from multiprocessing.queues import Queue

__all__ = [
    "DEVNULL", "PATIENCE_S", "PIPE", "STDOUT", "CompletedProcess", "Process", "TimeoutExpired", "answers_of", "forget", "run", "sections",
]  # fmt: skip

PATIENCE_S = 170  # for anything that a process does: a busy machine is not a failure
LOOK_S = 0.05
LAST = 6_000  # characters of a stream that are shown
MOST = 12  # processes that are shown
COMMAND = 300  # characters of a command that are shown
STREAMS = ("stdout", "stderr")

T = TypeVar("T")
Command = str | Path | Sequence[str | Path]
_started: list["Process[Any]"] = []


class Pipe:
    """One end of a pipe, read by the test; it keeps the last of what was read."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.last = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readline(self, *size: int) -> Any:
        return self.keep(self.stream.readline(*size))

    def read(self, *size: int) -> Any:
        return self.keep(self.stream.read(*size))

    def keep(self, part: Any) -> Any:
        self.last = (self.last + decode(part))[-LAST:]
        return part


class Process(subprocess.Popen[AnyStr]):
    """`subprocess.Popen` whose words are kept: of pipes what was read, of files their end, and all of what nobody asked for."""

    @overload
    def __init__(self: "Process[str]", command: Command, *, text: Literal[True], **options: Any) -> None: ...
    @overload
    def __init__(self: "Process[bytes]", command: Command, **options: Any) -> None: ...
    def __init__(self, command: Command, **options: Any) -> None:
        self.kept: dict[str, Any] = {}
        for name in STREAMS:
            stream = options.get(name)
            if stream in (None, DEVNULL):
                options[name] = self.kept[name] = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process is known
            elif isinstance(getattr(stream, "name", None), str):
                self.kept[name] = Path(stream.name)
        super().__init__(command, **options)
        for name in STREAMS:
            if options[name] == PIPE:
                self.kept[name] = Pipe(getattr(self, name))
                setattr(self, name, self.kept[name])
        _started.append(self)

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:  # noqa: A002 - the library's name
        try:
            heard = super().communicate(input, timeout)
        except TimeoutExpired as error:
            self.hear(error.stdout, error.stderr)
            raise
        self.hear(*heard)
        return heard

    def hear(self, *heard: Any) -> None:
        for name, words in zip(STREAMS, heard, strict=True):
            if words is not None and isinstance(self.kept[name], Pipe):
                self.kept[name].last = decode(words)[-LAST:]

    def wait_until(self, is_so: Callable[[], object], what: str, seconds: float = PATIENCE_S) -> None:
        """Until it has come to something; if it ends before that, or never comes to it, the test fails."""
        late = time.monotonic() + seconds
        while not is_so():
            assert self.poll() is None, f"it ended with {self.returncode}, before {what}"
            assert time.monotonic() < late, f"waited {seconds} s for {what}"
            time.sleep(LOOK_S)

    def words(self) -> Iterator[str]:
        """The last words of each stream that has any."""
        for name, place in self.kept.items():
            said = last_words(place)
            if said.strip():
                yield f"{name}: {said.rstrip()}"

    def close(self) -> None:
        """What it said is not asked for any more."""
        for place in self.kept.values():
            if not isinstance(place, Path | Pipe):
                place.close()


def last_words(place: Any) -> str:
    if isinstance(place, Pipe):
        return place.last
    with suppress(OSError, ValueError):  # it is gone, or closed
        data = place.read_bytes() if isinstance(place, Path) else read_again(place)
        return decode(data)[-LAST:]
    return ""


def read_again(file: Any) -> bytes:
    """By a position of its own: the process may still write."""
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), 4 * LAST, max(0, size - 4 * LAST))


def decode(part: Any) -> str:
    return part.decode(errors="replace") if isinstance(part, bytes) else part or ""


@overload
def run(command: Command, *, text: Literal[True], **options: Any) -> CompletedProcess[str]: ...
@overload
def run(command: Command, **options: Any) -> CompletedProcess[bytes]: ...
def run(command: Command, **options: Any) -> CompletedProcess[Any]:
    """`subprocess.run` with both streams captured; `check` fails with the words of the process."""
    check, given, seconds = (options.pop(name, None) for name in ("check", "input", "timeout"))
    options = {"stdin": DEVNULL if given is None else PIPE, "stdout": PIPE, "stderr": PIPE, **options}
    options.pop("capture_output", None)
    with Process(command, **options) as process:
        try:
            out, err = process.communicate(given, seconds)
        except BaseException:
            process.kill()
            raise
    if check and process.returncode:
        said = "\n".join(process.words())
        raise AssertionError(f"{describe(process)} ended with {process.returncode}\n{said}")
    return CompletedProcess(process.args, process.returncode, out, err)


def describe(process: "Process[Any]") -> str:
    args = process.args
    words = [args] if isinstance(args, str | bytes | Path) else args
    return " ".join(quote(str(word)) for word in words)[:COMMAND]  # type: ignore[union-attr]  # no path-like of other kinds


def sections() -> list[tuple[str, str]]:
    """For the report of a test that failed: who was started, how it ended, and its last words."""
    shown = []
    for process in _started[-MOST:]:
        state = "runs" if process.returncode is None else f"ended with {process.returncode}"
        said = "\n".join(process.words()) or "(it said nothing)"
        shown.append((f"process {process.pid} {state}", f"$ {describe(process)}\n{said}"))
    return shown


def forget() -> None:
    """Those that ended belong to a test that is over."""
    ended = [process for process in _started if process.returncode is not None]
    _started[:] = [process for process in _started if process.returncode is None]
    for process in ended:
        process.close()


def answers_of(queue: "Queue[T]", children: Sequence["BaseProcess"]) -> list[T]:
    """One of each child of multiprocessing; where one never answers, how each of them ended."""
    found: list[T] = []
    try:
        while len(found) < len(children):
            found.append(queue.get(timeout=PATIENCE_S))
    except Empty:
        ends = ", ".join(
            f"{one.name} {'runs' if one.exitcode is None else f'ended with {one.exitcode}'}" for one in children
        )
        raise AssertionError(f"{len(found)} of {len(children)} processes answered, with {found}: {ends}") from None
    return found


@atexit.register
def close_all() -> None:
    for process in _started:
        process.close()
