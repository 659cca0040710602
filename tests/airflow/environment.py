"""Airflow in an environment of its own: `python -m tests.airflow.environment` makes it of its lock in .servers/airflow, as `make test-long` does."""

import os
import shutil
import sys
from pathlib import Path

from tests import processes

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "tests/airflow/requirements.lock"
HERE = ROOT / ".servers/airflow"
PYTHON = HERE / "bin/python"
UV = Path(sys.executable).with_name("uv")


def is_here() -> bool:
    """As locked now, not as it was once."""
    lock = HERE / LOCK.name
    return lock.exists() and lock.read_bytes() == LOCK.read_bytes()


def install() -> str:
    """What went wrong, or nothing."""
    commands = (
        ["venv", "--quiet", "--clear", "--python", sys.executable, str(HERE)],
        ["pip", "install", "--quiet", "--python", str(PYTHON), "--require-hashes", "--only-binary", ":all:", "-r", str(LOCK)],
    )  # fmt: skip
    for command in commands:
        done = processes.run([UV, *command], text=True, stdin=processes.DEVNULL, timeout=1200)
        if done.returncode:
            return (done.stderr or done.stdout).strip().splitlines()[-1]
    shutil.copy(LOCK, HERE / LOCK.name)
    return ""


if __name__ == "__main__" and not is_here() and not os.environ.get("APPORTION_NO_INSTALL"):
    print("Installing Airflow into .servers/airflow for the tests", file=sys.stderr)
    if trouble := install():
        print("Skipping the tests with a real Airflow:", trouble, file=sys.stderr)
