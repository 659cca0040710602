"""Run every check in blocks, some at a time, and say what happened: name, time, tests, skips by reason, one closing line.

A folder under tests/ with test files is a block, and so is each test file directly in tests/. Lint, types and import
contracts are blocks of one check each. A skip whose reason is not in tests/skips.txt fails the run.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # run as a script, too

from tests import warm  # noqa: E402

BIN = Path(sys.executable).parent
NO_TESTS = 5  # pytest's exit code when no test of a block ran
SLOW_S = 180
STUCK_S = 5400
UNUSED = (
    "cacheprovider",
    "schemathesis",
    "anyio",
)  # plug-ins that every block would import, a second each, and no test asks for
QUIETLY = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # of plug-ins that the warm process has imported
LONGEST = (
    "pages",
    "browse",
    "web",
    "engine",
    "books",
    "spark_project",
    "faults",
    "property",
    "drawn",
    "spark",
    "books_together",
    "spark_worlds",
    "planted",
    "tutorials",
    "peaks",
    "boards",
    "measures",
    "served",
    "corrections",
    "backtest",
    "enforce",
    "cli",
    "deploy",
    "sync",
    "mcp",
    "metrics",
    "bi",
)


@dataclass(frozen=True)
class Block:
    name: str
    commands: tuple[tuple[str, ...], ...]
    is_pytest: bool = False


@dataclass
class Result:
    block: Block
    seconds: float = 0
    cpu_s: float = 0
    passed: int = 0
    failed: int = 0
    skipped: dict[str, str] = field(default_factory=dict)
    properties: list[tuple[str, str]] = field(default_factory=list)
    output: str = ""


def discover(tests: Path) -> Iterator[Block]:
    """The checks, then the blocks of tests."""
    ruff, mypy, contracts = (str(BIN / name) for name in ("ruff", "mypy", "lint-imports"))
    yield Block("lint", ((ruff, "check", "--quiet", "."), (ruff, "format", "--check", "--quiet", ".")))
    yield Block("types", ((mypy, "--no-error-summary"),))
    yield Block("contracts", ((contracts, "--no-logo"),))
    yield from discover_tests(tests)


def discover_tests(tests: Path) -> Iterator[Block]:
    pytest = ("pytest", "-q", "-p", "tests.report", *QUIETLY, *(f"-pno:{name}" for name in UNUSED))
    for file in sorted(tests.glob("test_*.py")):
        yield Block(file.stem.removeprefix("test_"), ((*pytest, str(file)),), is_pytest=True)
    for folder in sorted(path for path in tests.iterdir() if path.is_dir()):
        if any(folder.rglob("test_*.py")):
            yield Block(folder.name, ((*pytest, str(folder)),), is_pytest=True)


def run_block(block: Block, environment: dict[str, str]) -> Result:
    """What Python compiles is kept: without, each of some hundred processes would compile the project and Hypothesis anew."""
    result = Result(block)
    started = time.monotonic()
    environment = {key: value for key, value in environment.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        environment = {**environment, "APPORTION_TEST_REPORT": str(report), "PYTHONPATH": str(ROOT)}
        commands = block.commands
        if block.is_pytest:
            place = warm.environment()
            environment[warm.SOCKET] = place[warm.SOCKET]
            commands = tuple((str(Path(place[warm.SOCKET]).with_name("bin") / word), *rest) for word, *rest in commands)
        codes = []
        for command in commands:
            code, output = run_command(command, environment)
            codes.append(code)
            result.output += output
        if block.is_pytest and report.exists():
            read_report(result, report, codes[0])
        else:
            result.failed = int(any(codes))
            result.passed = 1 - result.failed
    result.seconds = time.monotonic() - started
    return result


def run_command(command: Sequence[str], environment: dict[str, str]) -> tuple[int, str]:
    """Exit code and output. A command that never ends is stopped, with what it started."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=STUCK_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\nstopped after {STUCK_S} s: {shlex.join(command)}\n"
    return process.returncode, output


def read_report(result: Result, report: Path, code: int) -> None:
    found = json.loads(report.read_text(encoding="utf-8"))
    result.passed, result.failed = found["passed"], found["failed"]
    result.skipped, result.cpu_s = found["skipped"], found["cpu_s"]
    result.properties = [(name, value) for name, value in found["properties"]]
    all_left_out = code == NO_TESTS and bool(found["deselected"] or found["skipped"])
    if code and not result.failed and not all_left_out:
        result.failed = 1  # pytest itself failed: no test found, an internal error, an interrupt


def allowed_skips(text: str) -> list[str]:
    """The patterns of tests/skips.txt; one without a comment above it is not allowed."""
    patterns, explained = [], False
    for line in text.splitlines():
        if line.startswith("#"):
            explained = True
        elif not line.strip():
            explained = False
        elif not explained:
            raise SystemExit(f"tests/skips.txt: {line!r} has no comment above it that says why")
        else:
            patterns.append(line.strip())
    return patterns


def show(result: Result, slow_s: int | None) -> None:
    word = "FAILED" if result.failed else "ok"
    skipped = f", {len(result.skipped)} skipped" if result.skipped else ""
    count = f"{result.passed} passed{skipped}" if result.block.is_pytest else ""
    worked = f" ({result.cpu_s:.0f} of work)" if result.block.is_pytest else ""
    print(f"{word:7}{result.block.name:12}{result.seconds:8.1f} s{worked}  {count}", flush=True)
    for name, value in result.properties:
        print(f"         {name}: {value}")
    if result.failed:
        print(result.output.rstrip(), flush=True)
    if slow_s and result.seconds > slow_s:
        print(f"warning: block {result.block.name} took over {slow_s} s; split it")


def summarize(results: Sequence[Result], allowed: Sequence[str]) -> bool:
    """Print the skips and the closing line. True where nothing failed and every skip is allowed."""
    reasons = Counter(reason for result in results for reason in result.skipped.values())
    unlisted = [reason for reason in reasons if not any(fnmatchcase(reason, pattern) for pattern in allowed)]
    for reason, count in sorted(reasons.items()):
        note = "  <- not in tests/skips.txt" if reason in unlisted else ""
        print(f"skipped {count}: {reason}{note}")
    passed = sum(result.passed for result in results)
    failed = sum(result.failed for result in results) + len(unlisted)
    print(f"{sum(result.cpu_s for result in results) / 60:.1f} minutes of work")
    print(f"{passed} passed, {failed} failed, {reasons.total()} skipped")
    return not failed


def jobs() -> int:
    """One more than there are cores: some block always waits for a server."""
    return min((os.cpu_count() or 1) + 1, 8)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("blocks", nargs="*", help="run only these blocks")
    parser.add_argument("--long", action="store_true", help="include the long searches and sweeps")
    parser.add_argument("--jobs", type=int, default=jobs(), help="blocks at a time")
    options = parser.parse_args()
    known = list(discover(ROOT / "tests"))
    unknown = set(options.blocks) - {block.name for block in known}
    if unknown:
        parser.error(f"no block {', '.join(sorted(unknown))}; blocks: {', '.join(block.name for block in known)}")
    chosen = [block for block in known if block.name in options.blocks or not options.blocks]
    chosen.sort(key=lambda block: block.name not in LONGEST)  # these begin first, so that none is left alone at the end
    environment = {**os.environ, "APPORTION_LONG": "1"} if options.long else dict(os.environ)
    results = []
    if any(block.is_pytest for block in chosen):
        warm.environment()  # one for all
    with ThreadPoolExecutor(options.jobs) as workers:
        for result in workers.map(lambda block: run_block(block, environment), chosen):
            show(result, None if options.long else SLOW_S)
            results.append(result)
    return 0 if summarize(results, allowed_skips((ROOT / "tests/skips.txt").read_text(encoding="utf-8"))) else 1


if __name__ == "__main__":
    sys.exit(main())
