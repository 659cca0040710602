"""A release, built once, and an environment in which nothing but it is installed."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import processes
from tests.cli.tiny import write_tiny
from tests.release.dist import UV, write
from tests.release.parts import ROOT

JOB = """
import sys
from apportion.cli.main import main
for words in ("ingest", "plan", "apply", "report showback --period 2026-10 -o csv", "verify"):
    try:
        main(["--project", sys.argv[1], *words.split(), "--quiet"])
    except SystemExit as stop:
        if stop.code:
            sys.exit(f"{words}: {stop.code}")
"""


@dataclass(frozen=True)
class Clean:
    """An environment of its own, and a project in which the main job was done from it."""

    folder: Path
    project: Path
    said: str

    def command(self, name: str) -> str:
        return str(self.folder / "bin" / name)


def alone() -> dict[str, str]:
    """An environment that leads nowhere near this checkout."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "TZ")
    return {name: os.environ[name] for name in kept if name in os.environ}


def run(*command: str | Path, **environment: str) -> processes.CompletedProcess[str]:
    return processes.run(command, cwd="/", env={**alone(), **environment}, text=True)


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    assert len(list(write(folder))) == 5
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (found,) = dist.glob("*.whl")
    return found


@pytest.fixture(scope="session")
def sdist(dist: Path) -> Path:
    (found,) = dist.glob("*.tar.gz")
    return found


@pytest.fixture(scope="session")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Clean:
    """By the runtime lock with its hashes, then the wheel; nothing is fetched, and compiled on first use."""
    folder = tmp_path_factory.mktemp("clean") / "env"
    assert not run(UV, "venv", "--quiet", "--offline", "--python", sys.executable, folder).returncode
    install = (UV, "pip", "install", "--quiet", "--offline")
    locked = run(*install, "--require-hashes", "-r", ROOT / "requirements.lock", VIRTUAL_ENV=str(folder))
    if locked.returncode and "network was disabled" in locked.stderr:
        pytest.skip("no wheels of the runtime lock in uv's cache")
    assert not locked.returncode, locked.stderr
    ours = run(*install, "--no-deps", wheel, VIRTUAL_ENV=str(folder))
    assert not ours.returncode, ours.stderr
    project = write_tiny(tmp_path_factory.mktemp("job"))
    done = run(folder / "bin/python", "-c", JOB, project)
    assert not done.returncode, done.stderr
    return Clean(folder, project, done.stdout)
