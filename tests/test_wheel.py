"""The wheel: built from the lock alone, complete, and working away from this folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy import tracked_files

ROOT = Path(__file__).resolve().parents[1]
UV = str(Path(sys.executable).parent / "uv")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked in a folder of its own; nothing is fetched."""
    folder = tmp_path_factory.mktemp("wheel")
    run(UV, "build", "--quiet", "--offline", "--wheel", "--no-build-isolation", "--out-dir", folder / "dist", ROOT)
    wheel = next((folder / "dist").glob("*.whl"))
    run(UV, "pip", "install", "--quiet", "--offline", "--no-deps", "--target", folder / "site", wheel)
    return folder / "site"


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command,
        cwd="/",
        env={**os.environ, "VIRTUAL_ENV": sys.prefix, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_file_of_the_package_is_in_the_wheel(installed: Path) -> None:
    package = {name.removeprefix("src/") for name in tracked_files(ROOT) if name.startswith("src/apportion/")}
    found = {str(path.relative_to(installed)) for path in (installed / "apportion").rglob("*") if path.is_file()}
    assert package <= found


def test_the_command_runs_from_the_wheel(installed: Path) -> None:
    script = "import apportion; print(apportion.__file__)"
    assert run(sys.executable, "-c", script, PYTHONPATH=str(installed)).startswith(str(installed))
    assert "Usage: apportion" in run(installed / "bin/apportion", "--help", PYTHONPATH=str(installed))
