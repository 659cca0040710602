"""Faults planted one at a time in a copy of a package, to see that the tests notice."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """`old`, which occurs once in the module, becomes `new`. `seed` is a world that shows it."""

    name: str
    module: str
    old: str
    new: str
    seed: int = 1
    methods: tuple[str, ...] = ()


def plant(package: Path, folder: Path, fault: Fault | None) -> None:
    """A copy of `package` under `folder`, with the fault in it (or without, as the control)."""
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    if fault is None:
        return
    path = folder / package.name / fault.module
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise LookupError(f"{fault.name}: {fault.old!r} occurs {text.count(fault.old)} times in {fault.module}")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def run_with(folder: Path, command: list[str], root: Path) -> subprocess.CompletedProcess[str]:
    """`command` under this Python, with the packages of `folder` before all others."""
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{root}", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=root, capture_output=True, text=True, check=False
    )
