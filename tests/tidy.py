"""What import-linter, ruff and mypy do not see: sizes, names, floats, clocks and stray paths. Each rule reads one file's text.

A rule takes the path from the repository's root and the text, and yields a sentence for each thing that is wrong.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from tests import processes

Rule = Callable[[str, str], Iterator[str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef

MODULE_LINES, FUNCTION_LINES, PARAMETERS, NESTING = 400, 60, 5, 3
README_LINES, ROOM_README_LINES = 120, 40

EMPTY_NAMES = {"utils", "util", "common", "helpers", "helper", "core", "base", "misc", "shared", "lib"}
EMPTY_WORDS = {"Manager", "Helper", "Helpers", "Base", "Utils"}
EMPTY_ENDINGS = {"Data", "Info", "Processor"}
MONEY_ROOMS = {"model", "engine", "books"}
TIMELESS_ROOMS = {"model", "engine", "policy"}
CLOCKS = {"now", "today", "utcnow", "monotonic", "perf_counter", "time_ns", "monotonic_ns", "perf_counter_ns"}
CHANCE = {"random", "secrets", "uuid4", "uuid1", "urandom", "randint", "shuffle"}
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
STARTERS = tuple(f"tests/{name}.py" for name in ("processes", "run", "servers", "warm"))
# Spelled in two parts, so that this file is no finding of its own.
UNFINISHED = re.compile("|".join(rf"\b{a}{b}\b" for a, b in (("TO", "DO"), ("FIX", "ME"), ("HA", "CK"))))
MACHINE_PATH = re.compile(r"(?<![\w.~*{}-])/(?:work|root|home|Users)(?=/|\b)(?!\w)")
HOSTS = (
    ("py", "pi.org"),
    ("python", "hosted.org"),
    ("deb.", "debian.org"),
    ("registry.", "npmjs.org"),
    ("--index", "-url"),
)
INDEX_HOST = re.compile("|".join(re.escape(a + b) for a, b in (*HOSTS, ("--extra-index", "-url"))))


def tracked_files(root: Path) -> list[str]:
    """The project's files, also those not yet committed; all of them where git is missing (an unpacked archive)."""
    try:
        done = processes.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, text=True
        )
    except OSError:
        return all_files(root)
    if done.returncode:
        return all_files(root)
    return sorted(name for name in done.stdout.split("\0") if name and (root / name).is_file())


def all_files(root: Path) -> list[str]:
    return sorted(
        str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() and ".venv" not in path.parts
    )


def room_of(path: str) -> str:
    """The room that a source file belongs to; nothing for all other files."""
    parts = Path(path).parts
    return Path(parts[2]).stem if parts[:2] == ("src", "apportion") and len(parts) > 2 else ""


@lru_cache(maxsize=1)
def nodes(path: str, text: str) -> tuple[ast.AST, ...]:
    """All of a module; a file is parsed once if all rules look at it before they look at the next."""
    return tuple(ast.walk(ast.parse(text))) if path.endswith(".py") else ()


def functions(path: str, text: str) -> Iterator[Function]:
    yield from (node for node in nodes(path, text) if isinstance(node, Function))


def module_size(path: str, text: str) -> Iterator[str]:
    lines = len(text.splitlines())
    if path.endswith(".py") and lines > MODULE_LINES:
        yield f"{lines} lines; a module has at most {MODULE_LINES}"


def function_size(path: str, text: str) -> Iterator[str]:
    for function in functions(path, text):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        if lines > FUNCTION_LINES:
            yield f"line {function.lineno}: {function.name} has {lines} lines; a function has at most {FUNCTION_LINES}"


def parameter_count(path: str, text: str) -> Iterator[str]:
    if not room_of(path):
        return  # fixtures arrive as parameters
    for function in functions(path, text):
        given = function.args
        names = [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        count = len(names) - (names[:1] in (["self"], ["cls"]))
        if count > PARAMETERS:
            yield f"line {function.lineno}: {function.name} takes {count} parameters; at most {PARAMETERS}, then a frozen dataclass"


def nesting(path: str, text: str) -> Iterator[str]:
    for function in functions(path, text):
        depth = deepest(function.body)
        if depth > NESTING:
            yield f"line {function.lineno}: {function.name} nests {depth} deep; at most {NESTING}"


def deepest(body: list[ast.stmt]) -> int:
    """How many blocks lie in each other; an `elif` is no deeper than its `if`, and a function inside counts for itself."""
    return max((depth_of(statement) for statement in body), default=0)


def depth_of(statement: ast.stmt) -> int:
    if not isinstance(statement, BLOCKS):
        return 0
    inner: list[int] = []
    for name, value in ast.iter_fields(statement):
        if name == "orelse" and isinstance(statement, ast.If) and len(value) == 1 and isinstance(value[0], ast.If):
            inner.append(depth_of(value[0]) - 1)
        elif name in {"body", "orelse", "finalbody"}:
            inner.append(deepest(value))
        elif name in {"handlers", "cases"}:
            inner += [deepest(part.body) for part in value]
    return 1 + max(inner)


def empty_names(path: str, text: str) -> Iterator[str]:
    if path.endswith(".py"):
        for part in Path(path).with_suffix("").parts:
            if part in EMPTY_NAMES:
                yield f"{part} does not say what may enter"


def class_names(path: str, text: str) -> Iterator[str]:
    for node in nodes(path, text):
        if isinstance(node, ast.ClassDef):
            words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", node.name)
            if EMPTY_WORDS & set(words) or EMPTY_ENDINGS & set(words[-1:]):
                yield f"line {node.lineno}: the name {node.name} says nothing"


def floats(path: str, text: str) -> Iterator[str]:
    """Also where one is only named: money that has been a float is not exact any more."""
    for node in nodes(path, text) if room_of(path) in MONEY_ROOMS else ():
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if re.fullmatch(r"float(16|32|64)?|double", name):
            yield f"line {node.lineno}: {name} in {room_of(path)}"  # type: ignore[attr-defined]


def wall_clock(path: str, text: str) -> Iterator[str]:
    yield from named(path, text, TIMELESS_ROOMS, CLOCKS, {"time"})


def chance(path: str, text: str) -> Iterator[str]:
    yield from named(path, text, {"engine", "model", "policy"}, CHANCE, {"random", "secrets", "uuid"})


def named(path: str, text: str, rooms: set[str], attributes: set[str], modules: set[str]) -> Iterator[str]:
    """Uses of attributes or imports of modules that the rooms must not know."""
    for node in nodes(path, text) if room_of(path) in rooms else ():
        if isinstance(node, ast.Attribute) and node.attr in attributes:
            yield f"line {node.lineno}: .{node.attr} in {room_of(path)}"
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            yield f"line {node.lineno}: import of {node.module} in {room_of(path)}"
        elif isinstance(node, ast.Import) and any(alias.name in modules for alias in node.names):
            yield f"line {node.lineno}: import of {node.names[0].name} in {room_of(path)}"


def unfinished(path: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := UNFINISHED.search(line):
            yield f"line {number}: {found[0]}; open an issue instead"


def readme_size(path: str, text: str) -> Iterator[str]:
    most = (
        README_LINES
        if path == "README.md"
        else ROOM_README_LINES
        if path.endswith("/README.md") and room_of(path)
        else None
    )
    lines = len(text.splitlines())
    if most and lines > most:
        yield f"{lines} lines; this page has at most {most}"


def machine_paths(path: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := MACHINE_PATH.search(line):
            yield f"line {number}: {found[0]} is a path of one machine"


def index_hosts(path: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := INDEX_HOST.search(line):
            yield f"line {number}: {found[0]} names a package index"


def own_processes(path: str, text: str) -> Iterator[str]:
    """A process that a test starts by itself says nothing when the test fails; tests/processes.py keeps its words."""
    if not path.startswith("tests/") or path in STARTERS:
        return
    for node in nodes(path, text):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if "subprocess" in names:
            yield f"line {node.lineno}: import of subprocess; tests start processes by tests/processes.py"  # type: ignore[attr-defined]


RULES: tuple[Rule, ...] = (
    module_size, function_size, parameter_count, nesting, empty_names, class_names, floats, wall_clock, chance,
    unfinished, readme_size, machine_paths, index_hosts, own_processes,
)  # fmt: skip
