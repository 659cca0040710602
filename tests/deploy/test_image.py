"""The Dockerfile: linted, and what it names is there and enough to build from. No image is built here: that takes an engine."""

import fnmatch
import re
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests import processes
from tests.deploy.chart import ROOT, rendered
from tests.deploy.chart import pods as pods_of
from tests.deploy.dockerfile import stages
from tests.tidy import tracked_files

DOCKERFILE, IGNORED = ROOT / "Dockerfile", ROOT / ".dockerignore"
BIN = Path(sys.executable).parent
STAGES = stages(DOCKERFILE.read_text("utf-8"))
LOCKS = ("requirements-build.lock", "requirements-server.lock")


def words(kind: str, stage: str) -> list[str]:
    return [rest for found, rest in STAGES[stage] if found == kind]


def test_hadolint_finds_nothing_to_say() -> None:
    done = processes.run([BIN / "hadolint", DOCKERFILE], text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_hadolint_would(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text(DOCKERFILE.read_text("utf-8").replace("python:${PYTHON}", "python:latest"))
    assert processes.run([BIN / "hadolint", tmp_path / "Dockerfile"]).returncode


def test_the_last_stage_is_nobody_and_stops_when_told() -> None:
    assert list(STAGES)[-1] == "apportion"
    (user,) = words("USER", "apportion")
    assert user == "10001:10001"
    for pod in pods_of(rendered("everything")):
        who = pod["spec"]["securityContext"]
        assert f"{who['runAsUser']}:{who['runAsGroup']}" == user
    assert words("STOPSIGNAL", "apportion") == ["SIGTERM"]
    assert words("ENTRYPOINT", "apportion") == ['["apportion"]']
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert "apportion" in scripts
    assert all(
        line == "python:${PYTHON}"
        for stage in STAGES.values()
        for kind, line in stage
        if kind == "FROM"
        for line in [line.split()[0]]
    )


def test_the_python_is_a_version_that_we_name() -> None:
    version = re.search(r"^ARG PYTHON=(\d+\.\d+)\.\d+-slim", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    assert version
    known = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["classifiers"]
    assert f"Programming Language :: Python :: {version[1]}" in known


def test_all_that_is_installed_is_checked_by_its_hash() -> None:
    commands = [
        command
        for stage in STAGES
        for run in words("RUN", stage)
        for command in run.split("&&")
        if " -m pip " in command
    ]
    assert len(commands) == 4
    for command in commands:
        from_index = "--require-hashes" in command and "--only-binary :all:" in command
        from_here = "--no-deps" in command and ("--no-index" in command or "--no-build-isolation" in command)
        assert from_index or from_here, command


@pytest.mark.parametrize("name", LOCKS)
def test_the_images_locks_agree_with_what_is_tested(name: str) -> None:
    def pins(lock: str) -> set[str]:
        return set(
            re.findall(r"^([a-z0-9._-]+(?:\[[a-z,-]+\])?==[^ ;]+)", (ROOT / lock).read_text("utf-8"), re.MULTILINE)
        )

    assert pins(name)
    assert pins(name) <= pins("requirements-dev.lock")


def context() -> list[str]:
    """The files that `docker build .` sends: the last line of .dockerignore that speaks of one decides."""
    rules = [line for line in IGNORED.read_text("utf-8").splitlines() if line and not line.startswith("#")]

    def is_sent(name: str) -> bool:
        said = [rule.startswith("!") for rule in rules if speaks_of(rule.removeprefix("!"), name)]
        return not said or said[-1]

    return [name for name in tracked_files(ROOT) if is_sent(name)]


def speaks_of(rule: str, name: str) -> bool:
    """Of the file or a folder that it lies in; `**/` stands for any folders, and a star for no slash."""
    parts = name.split("/")
    if rule.startswith("**/"):
        return any(fnmatch.fnmatchcase(part, rule.removeprefix("**/")) for part in parts)
    return fnmatch.fnmatchcase("/".join(parts[: rule.count("/") + 1]), rule)


def test_the_context_is_all_that_is_copied_and_no_more() -> None:
    sent = context()
    copied = {
        source
        for stage in STAGES
        for rest in words("COPY", stage)
        if "--from=" not in rest
        for source in rest.split()[:-1]
    }
    copied = {source.replace("${LOCK}", "requirements-server.lock") for source in copied}
    for source in copied:
        assert any(is_in(name, source) for name in sent), source
    others = [name for name in sent if not name.startswith("requirements")]
    assert not [name for name in others if not any(is_in(name, source) for source in copied)]


def is_in(name: str, source: str) -> bool:
    return name == source or name.startswith(f"{source}/")


def test_what_is_copied_is_enough_for_the_whole_wheel(tmp_path: Path) -> None:
    """Built from the context alone, as the first stage does."""
    (copies,) = [rest.split()[:-1] for rest in words("COPY", "wheel") if "pyproject.toml" in rest]
    for name in context():
        if name in copies or name.startswith("src/"):
            (tmp_path / "build" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / "build" / name)
    command = [
        str(BIN / "uv"),
        "build",
        "--quiet",
        "--offline",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
    ]
    done = processes.run([*command, "--out-dir", tmp_path / "dist", tmp_path / "build"], text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    ours = {name.removeprefix("src/") for name in tracked_files(ROOT) if name.startswith("src/apportion/")}
    assert ours | {"apportion/web/static/vega.js"} <= held
