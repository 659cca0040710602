"""The house style as tests: each rule of tests/tidy.py over every file of the project, and each rule on a planted mistake."""

import re
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests import processes, tidy

ROOT = Path(__file__).resolve().parents[1]
ROOMS = sorted(path for path in (ROOT / "src/apportion").iterdir() if (path / "__init__.py").exists())
FILES = tidy.tracked_files(ROOT)

ENGINE, ANYWHERE = "src/apportion/engine/price.py", "src/apportion/cli/main.py"
MISTAKES: dict[tidy.Rule, list[tuple[str, str]]] = {
    tidy.module_size: [(ANYWHERE, "a = 1\n" * 401)],
    tidy.function_size: [(ANYWHERE, "def f():\n" + "    a = 1\n" * 60)],
    tidy.parameter_count: [
        (ANYWHERE, "def f(a, b, c, d, e, f): ..."),
        (ANYWHERE, "class A:\n    def f(self, a, b, c, *, d, e, f): ..."),
    ],
    tidy.nesting: [
        (ANYWHERE, "def f():\n  for a in b:\n    if a:\n      with a:\n        while a:\n          a()"),
        (
            ANYWHERE,
            "def f():\n  try:\n    pass\n  except E:\n    if a:\n      pass\n    else:\n      if c: a()\n      for b in c:\n        if b: b()",
        ),
    ],
    tidy.empty_names: [
        ("src/apportion/utils/money.py", ""),
        ("src/apportion/engine/helpers.py", ""),
        ("tests/core/test_a.py", ""),
    ],
    tidy.class_names: [
        (ANYWHERE, "class PlanManager: ..."),
        (ANYWHERE, "class BaseSource: ..."),
        (ANYWHERE, "class CostData: ..."),
        (ANYWHERE, "class FOCUSInfo: ..."),
    ],
    tidy.floats: [
        (ENGINE, "a = float(b)"),
        ("src/apportion/books/post.py", "def f(a: float): ..."),
        ("src/apportion/model/money.py", "def f() -> float: ..."),
        (ENGINE, "import pyarrow as pa\na = pa.float64()"),
    ],
    tidy.wall_clock: [
        (ENGINE, "from datetime import datetime\na = datetime.now()"),
        ("src/apportion/policy/load.py", "import datetime\na = datetime.date.today()"),
        (ENGINE, "import time"),
        ("src/apportion/model/times.py", "from time import monotonic"),
    ],
    tidy.chance: [
        (ENGINE, "import random"),
        (ENGINE, "import ibis\na = ibis.random()"),
        (ENGINE, "from uuid import uuid4"),
    ],
    tidy.own_processes: [
        ("tests/cli/test_a.py", "import subprocess"),
        ("tests/cli/conftest.py", "def f():\n    from subprocess import run"),
    ],
    tidy.unfinished: [(ANYWHERE, "a = 1  # TO" + "DO: later"), ("docs/a.md", "FIX" + "ME")],
    tidy.readme_size: [("README.md", "a\n" * 121), ("src/apportion/engine/README.md", "a\n" * 41)],
    tidy.machine_paths: [
        ("docs/a.md", "see /wo" + "rk/main"),
        ("Makefile", "cp a /ho" + "me/me/a"),
        (ANYWHERE, "'/ro" + "ot'"),
    ],
    tidy.index_hosts: [("requirements.lock", "--index-" + "url x"), ("docs/a.md", "https://py" + "pi.org/simple")],
}
GOOD = '''
"""At most this."""
from datetime import datetime

class Plan:
    def post(self, a, b, c, *, d, e):
        for line in a:
            if line:
                with b:
                    c()
            elif d:
                e()
            elif c:
                b()

def moment(text): return datetime.fromisoformat(text)  # a path such as docs/work/x or ~/home is no machine's
'''


@pytest.mark.parametrize("rule", tidy.RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps(rule: tidy.Rule, findings: dict[tidy.Rule, list[str]]) -> None:
    assert not findings[rule], "\n" + "\n".join(findings[rule])


@pytest.fixture(scope="module")
def findings() -> dict[tidy.Rule, list[str]]:
    found: dict[tidy.Rule, list[str]] = {rule: [] for rule in tidy.RULES}
    for name in FILES:
        text = read(name)
        if text is None:
            continue
        for rule in tidy.RULES:
            found[rule] += [f"{name}: {sentence}" for sentence in rule(name, text)]
    return found


@pytest.mark.parametrize("rule", tidy.RULES, ids=lambda rule: rule.__name__)
def test_a_planted_mistake_is_caught_by(rule: tidy.Rule) -> None:
    for path, text in MISTAKES[rule]:
        assert list(rule(path, text)), (path, text)
    assert not list(rule(ENGINE, GOOD))


def test_every_rule_has_planted_mistakes() -> None:
    assert set(MISTAKES) == set(tidy.RULES)


def test_the_rules_see_the_project() -> None:
    assert {"README.md", "Makefile", "src/apportion/errors.py", "tests/test_tidy.py"} <= set(FILES)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_the_room_says_what_it_owns(room: Path) -> None:
    assert (room / "README.md").exists()


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("requirements*.lock")))
def test_the_lock_names_exact_versions_and_hashes_and_nothing_else(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    requirement = re.compile(r"[a-z0-9._-]+(\[[a-z,-]+\])?==[^ ;]+( ; .+)? \\")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [
        line for line in lines if not (line.startswith("#") or requirement.fullmatch(line) or digest.fullmatch(line))
    ] == []


def test_the_runtime_lock_is_part_of_the_development_lock() -> None:
    """The same versions; development may need one on more platforms."""
    pinned = {
        name: {line.split()[0] for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if "==" in line}
        for name in ("requirements.lock", "requirements-dev.lock")
    }
    assert pinned["requirements.lock"] <= pinned["requirements-dev.lock"]


def read(name: str) -> str | None:
    """The text of a file, nothing where it is no text or the licence, whose words are not ours."""
    if name == "LICENSE":
        return None
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


BROKEN_IMPORTS = {  # by contract, in two copies: a room that is not listed breaks what an import that looks up breaks
    "Rooms look down": ("src/apportion/model/planted.py", "import apportion.engine"),
    "The engine is a pure function": ("src/apportion/engine/planted.py", "import pathlib"),
    "Sources know nothing": ("src/apportion/sources/planted.py", "import apportion.books"),
    "Reports never see policy": ("src/apportion/reports/planted.py", "import apportion.policy"),
    "Only the books": ("src/apportion/verbs/planted.py", "import sqlalchemy"),
    "Sources do not know each other": ("src/apportion/sources/planted_too.py", "import apportion.sources.demo"),
}
NEW_ROOM = {"Rooms look down": ("src/apportion/utils/__init__.py", "")}


@pytest.mark.parametrize("planted", [BROKEN_IMPORTS, NEW_ROOM], ids=["imports", "a new room"])
def test_what_is_planted_breaks_each_contract(planted: dict[str, tuple[str, str]], tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in planted.values():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    done = processes.run(
        [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache", "--config", ROOT / "pyproject.toml"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "src")},
        text=True,
    )
    said = done.stdout + done.stderr
    kept = [name for name in planted if not re.search(rf"^{name}.* BROKEN", said, re.MULTILINE)]
    unseen = [path for path, _ in planted.values() if module_of(path) not in said]
    assert (kept, unseen) == ([], []), said


def module_of(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def test_the_entry_points_name_what_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for target in [*project["scripts"].values(), *project["entry-points"]["apportion.sources"].values()]:
        module, _, function = target.partition(":")
        path = ROOT / "src" / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), target
        assert function
