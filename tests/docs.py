"""What the docs are checked against: snippets that run and help texts. `make docs` rewrites what is generated."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CLI_PAGE = ROOT / "docs/reference/cli.md"
CLI_INTRO = """# The command line

Made by `make docs` from the commands' own help.

Data goes to stdout, talk and progress to stderr. `NO_COLOR` is honoured. `--project DIR` stands before the verb.
"""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!-- (not run|file): (.+?) -->\s*$")
HELP = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8"}


class Snippet(NamedTuple):
    language: str
    text: str
    line: int
    file: str  # the name under which it is saved, for the snippets after it
    skipped: str  # why it is not run


class Step(NamedTuple):
    command: str
    expected: str


def snippets(page: str) -> Iterator[Snippet]:
    """The fenced blocks of a page. A comment above one says `not run: why` or `file: name`."""
    for fence in FENCE.finditer(page):
        before = COMMENT.search(page[: fence.start()])
        kind, what = before.groups() if before else ("", "")
        line = page.count("\n", 0, fence.start()) + 1
        yield Snippet(fence[1], fence[2], line, what if kind == "file" else "", what if kind == "not run" else "")


def steps(console: str) -> Iterator[Step]:
    """`$ command` lines, each with the output shown under it. A command goes on after a backslash."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, _, expected = re.sub(r"\\\n\s*", "", part).partition("\n")
        yield Step(command, expected)


def matches(expected: str, found: str) -> bool:
    """`...` stands for any text inside a line, and alone on a line for any lines."""
    pattern = ""
    for line in expected.rstrip().splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += "[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + "\n"
    tidied = "".join(line.rstrip() + "\n" for line in found.rstrip().splitlines())
    return re.fullmatch(pattern, tidied) is not None


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Output and talk together, as a reader sees them."""
    environment = {**os.environ, **HELP, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment.pop("APPORTION_PROJECT", None)
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def run_page(page: str, folder: Path) -> Iterator[str]:
    """Runs the snippets in order in one folder and yields what is not as shown."""
    for snippet in snippets(page):
        if snippet.file:
            (folder / snippet.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / snippet.file).write_text(snippet.text, encoding="utf-8")
        elif snippet.skipped:
            continue
        elif snippet.language == "console":
            yield from (
                f"line {snippet.line}: {wrong}" for step in steps(snippet.text) for wrong in run_step(step, folder)
            )
        elif snippet.language == "python":
            done = shell(f"{sys.executable} - <<'END-OF-SNIPPET'\n{snippet.text}\nEND-OF-SNIPPET", folder)
            if done.returncode:
                yield f"line {snippet.line}: {done.stdout}"


def run_step(step: Step, folder: Path) -> Iterator[str]:
    done = shell(step.command, folder)
    if done.returncode:
        yield f"$ {step.command}\nended with {done.returncode}:\n{done.stdout}"
    elif step.expected.strip() and not matches(step.expected, done.stdout):
        yield f"$ {step.command}\nshown:\n{step.expected}\nfound:\n{done.stdout}"


@dataclass(frozen=True)
class Verb:
    name: str
    help: str


def verbs() -> Iterator[Verb]:
    """Every command and sub-command with the help that a user sees."""
    yield from verbs_under(())


def verbs_under(path: tuple[str, ...]) -> Iterator[Verb]:
    text = help_of(path)
    yield Verb(" ".join(("apportion", *path)), text)
    for name in re.findall(r"^  ([a-z][a-z-]*)(?:  .*)?$", text.partition("Commands:\n")[2], re.MULTILINE):
        yield from verbs_under((*path, name))


def help_of(path: tuple[str, ...]) -> str:
    done = shell(" ".join(("apportion", *path, "--help")), ROOT)
    if done.returncode:
        raise SystemExit(f"apportion {' '.join(path)} --help failed:\n{done.stdout}")
    return "".join(line.rstrip() + "\n" for line in done.stdout.strip().splitlines())


def cli_page() -> str:
    return CLI_INTRO + "".join(f"\n## {verb.name}\n\n```text\n{verb.help}```\n" for verb in verbs())


def headings(page: str) -> set[str]:
    without_fences = FENCE.sub("", page)
    return {found.strip("` ") for found in re.findall(r"^##+ (.+)$", without_fences, re.MULTILINE)}


def main() -> None:
    CLI_PAGE.parent.mkdir(parents=True, exist_ok=True)
    CLI_PAGE.write_text(cli_page(), encoding="utf-8")
    print("wrote", CLI_PAGE.relative_to(ROOT))


if __name__ == "__main__":
    if not shutil.which("bash"):
        raise SystemExit("the docs tools need bash")
    main()
