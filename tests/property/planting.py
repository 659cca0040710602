"""Faults planted one at a time in a copy of a package, to see that the tests notice."""

import multiprocessing
import os
import runpy
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

# What the engine is built on, imported once by the process that all others are forked from. The package itself each imports anew.
BELOW = ("duckdb", "ibis", "ibis.backends.duckdb", "numpy", "pandas", "pyarrow.compute", "pyarrow.parquet", "pydantic", "ruamel.yaml")  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """`old`, which occurs once in the module, becomes `new`. `seed` is a world that shows it."""

    name: str
    module: str
    old: str
    new: str
    seed: int = 1
    methods: tuple[str, ...] = ()


class Ran(NamedTuple):
    code: int | None
    said: str


def plant(package: Path, folder: Path, fault: Fault | None) -> None:
    """A copy of `package` under `folder`, with the fault in it (or without, as the control). What was compiled of the rest comes along."""
    shutil.copytree(package, folder / package.name)
    if fault is None:
        return
    path = folder / package.name / fault.module
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise LookupError(f"{fault.name}: {fault.old!r} occurs {text.count(fault.old)} times in {fault.module}")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def run_with(folder: Path, module: str, arguments: list[str], root: Path) -> Ran:
    """`module` of `root` as a program of its own, with the packages of `folder` before all others."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(BELOW))
    said = folder / "said.txt"
    process = context.Process(target=run_here, args=(folder, module, arguments, root, said))
    process.start()
    process.join()
    return Ran(process.exitcode, said.read_text(encoding="utf-8"))


def run_here(folder: Path, module: str, arguments: list[str], root: Path, said: Path) -> None:
    """In the process that was forked for it: nothing of the package has been imported."""
    known = {name.partition(".")[0] for name in sys.modules}
    with said.open("w", encoding="utf-8") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    assert not known & {path.name for path in folder.iterdir()}, known
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(folder), str(root)]
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
