"""The fenced snippets of a page: run in order, compared with what the page shows, and brought up to date by `make docs`."""

import os
import pty
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from tests import processes, warm

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!-- (not run|file): (.+?) -->\s*$")
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
PIPE = re.compile(r"(?<!\|)\|(?!\|)")
CHANGING = re.compile(r"\b[0-9a-f]{64}\b")  # a ledger's head differs from run to run


class Snippet(NamedTuple):
    language: str
    text: str
    start: int  # where in the page
    file: str  # the name under which it is saved, for the snippets after it
    skipped: str  # why it is not run


class Step(NamedTuple):
    command: str
    expected: str
    written: str  # the command as it is written, over several lines perhaps


class Played(NamedTuple):
    snippet: Snippet
    step: Step
    code: int
    output: str

    @property
    def wrong(self) -> str:
        if self.code:
            return f"$ {self.step.command}\nended with {self.code}:\n{self.output}"
        if self.step.expected.strip() and not matches(self.step.expected, self.output):
            return f"$ {self.step.command}\nshown:\n{self.step.expected}\nfound:\n{self.output}"
        return ""


def snippets(page: str) -> Iterator[Snippet]:
    """The fenced blocks of a page. A comment above one says `not run: why` or `file: name`."""
    for fence in FENCE.finditer(page):
        before = COMMENT.search(page[: fence.start()])
        kind, what = before.groups() if before else ("", "")
        yield Snippet(fence[1], fence[2], fence.start(2), what * (kind == "file"), what * (kind == "not run"))


def steps(console: str) -> Iterator[Step]:
    """`$ command` lines, each with the output shown under it. A command goes on after a backslash."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        written = re.match(r"(?:.*\\\n)*.*\n?", part)
        command = written[0] if written else part
        yield Step(re.sub(r"\\\n\s*", "", command).strip(), part[len(command) :], command)


def matches(expected: str, found: str) -> bool:
    """`...` stands for any text inside a line, and alone on a line for any lines."""
    pattern = ""
    for line in expected.rstrip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += "[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + "\n"
    return re.fullmatch(pattern, tidied(found)) is not None


def tidied(output: str) -> str:
    """Without blanks at line ends and empty lines around; a progress bar on a dumb terminal leaves one."""
    return "".join(line.rstrip() + "\n" for line in output.strip("\n").rstrip().splitlines())


def shell(command: str, folder: Path) -> processes.CompletedProcess[str]:
    """What a reader sees on a terminal of 100 columns; a dumb one, so that no progress bar is drawn.

    In a pipeline, chance orders what its commands write to stderr and what its end prints: here stderr comes first.
    """
    environment = {**os.environ, **TERMINAL, **warm.environment()}
    environment.pop("APPORTION_PROJECT", None)
    screen, terminal = pty.openpty()
    talk, talker = pty.openpty() if PIPE.search(command) else (None, terminal)
    process = processes.Process(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdin=processes.DEVNULL,
        stdout=terminal,
        stderr=talker,
    )
    for end in {terminal, talker}:
        os.close(end)
    with ThreadPoolExecutor() as readers:
        parts = list(readers.map(read_screen, [end for end in (talk, screen) if end is not None]))
    output = b"".join(parts).replace(b"\r\n", b"\n").decode()
    return processes.CompletedProcess(command, process.wait(), output)


def read_screen(screen: int) -> bytes:
    """All that is written until the last writer is gone, which a terminal reports as an error."""
    found = b""
    with os.fdopen(screen, "rb", buffering=0) as stream, suppress(OSError):
        while part := stream.read(65536):
            found += part
    return found


def play(page: str, folder: Path) -> Iterator[Played]:
    """Runs the snippets in order in one folder."""
    for snippet in snippets(page):
        if snippet.file:
            (folder / snippet.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / snippet.file).write_text(snippet.text, encoding="utf-8")
        elif snippet.skipped or snippet.language not in {"console", "python"}:
            continue
        else:
            python = Step(f"{sys.executable} - <<'END-OF-SNIPPET'\n{snippet.text}\nEND-OF-SNIPPET", "", "")
            for step in steps(snippet.text) if snippet.language == "console" else [python]:
                done = shell(step.command, folder)
                yield Played(snippet, step, done.returncode, done.stdout.replace(str(folder), "..."))


def wrongs(page: str, folder: Path) -> list[str]:
    """What is not as the page shows it."""
    return [
        f"line {page.count(chr(10), 0, played.snippet.start)}: {played.wrong}"
        for played in play(page, folder)
        if played.wrong
    ]


def rewritten(page: str, folder: Path) -> str:
    """The page with its outputs as they are now. Where lines were left out by `...`, as many are shown before and after it."""
    texts: dict[Snippet, str] = {}
    for played in play(page, folder):
        if played.code:
            raise SystemExit(played.wrong)
        shown = abridged(played.step.expected, played.output) if played.wrong else played.step.expected
        texts[played.snippet] = texts.get(played.snippet, "") + f"$ {played.step.written}{shown}"
    for snippet, text in reversed(texts.items()):
        if snippet.language == "console":
            page = page[: snippet.start] + text + page[snippet.start + len(snippet.text) :]
    return page


def abridged(old: str, output: str) -> str:
    lines = [CHANGING.sub("...", line) for line in tidied(output).splitlines(keepends=True)]
    shown = old.rstrip().splitlines()
    if "..." not in shown:
        return "".join(lines)
    first = shown.index("...")
    last = len(shown) - first - 1
    return "".join([*lines[:first], "...\n", *(lines[-last:] if last else [])])
