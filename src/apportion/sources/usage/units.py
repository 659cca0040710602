"""Units in which logs write amounts. Each is a whole number of the meter's base units, but for parts of a GPU that divide it otherwise."""

import re
from collections.abc import Mapping
from fractions import Fraction

from apportion.errors import InputError, ProjectError
from apportion.model.gpus import PARTS, Board
from apportion.model.meters import GPU, METERS
from apportion.sources.cells.amounts import LARGEST
from apportion.sources.settings import nearest

BESIDE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]{1,12})", re.ASCII)

BYTES = {  # with an i powers of 1024, else of 1000, whatever the case of the k
    "bytes": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50,
}  # fmt: skip
ACCELERATORS = {"milli": GPU // 1000, "percent": GPU // 100, "sevenths": GPU // 7}
SHARED = ("gpu", "tpu", "neuron", "gaudi", "accelerator")  # what sharing = {...} cuts into parts
UNITS = {
    "gpu": {"GPU": GPU, **ACCELERATORS},
    "tpu": {"TPU chip": GPU, **ACCELERATORS},
    "neuron": {"Neuron device": GPU, **ACCELERATORS},
    "gaudi": {"Gaudi": GPU, **ACCELERATORS},
    "accelerator": {"accelerator": GPU, **ACCELERATORS},
    "cpu": {"core": 1000, "millicores": 1},
    "memory": BYTES,
    "storage": BYTES,
    "network": BYTES,
    "node": {"node": 1},
    "licence": {"seat": 1},
    "energy": {"kWh": 3_600_000, "Wh": 3_600, "MWh": 3_600_000_000, "joules": 1, "kJ": 1_000, "MJ": 1_000_000},
    "tokens": {"token": 1, "thousand": 1_000, "million": 1_000_000},
}
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
DECIMAL = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
KUBERNETES = {f"{letter}i": size for letter, size in BINARY.items()}  # `64Gi`; nothing else calls anything so
SIZED = ("memory", "storage", "network")
WRITTEN = {
    "kubernetes": (*SIZED, "cpu"),
    "slurm": SIZED,
}  # ways to write a unit beside each amount: what a plain number and a bare letter mean
OF_ALLOCATED = {"percent of allocated": 100, "fraction of allocated": 1}  # utilisation, as monitors give it


def scale(meter: str, unit: str | None, board: Board, where: str) -> Fraction:
    """Base units in one of a log's units; the meter's natural unit where none is named."""
    parts = PARTS if meter in SHARED else ()
    if unit is None:
        return Fraction(METERS[meter].base)
    if unit in parts:
        return GPU * part(unit, board, where)
    if meter in WRITTEN.get(unit, ()):
        return Fraction(1000 if meter == "cpu" else 2**20 if unit == "slurm" else 1)
    if unit not in UNITS[meter]:
        valid = (*UNITS[meter], *parts, *(way for way, meters in WRITTEN.items() if meter in meters))
        raise ProjectError(
            "unknown-unit", f"{meter} is not counted in {unit!r}", where=where, hint=nearest(unit, valid)
        )
    return Fraction(UNITS[meter][unit])


def suffixes(meter: str, unit: str | None) -> dict[str, Fraction]:
    """Base units in what a cell may name itself: `64 GiB`, `512Mi`, `250m`. A bare `G` only where `unit` says whose it is."""
    known: dict[str, int] = {**UNITS[meter]} if meter not in SHARED else {}
    if meter in SIZED:
        known |= KUBERNETES
        known |= {"kubernetes": DECIMAL, "slurm": BINARY}.get(unit or "", {})
    if meter == "cpu":
        known |= {"m": 1, "cores": 1000}
    folded = {name.casefold(): size for name, size in known.items() if len(name) > 2}
    return {name: Fraction(size) for name, size in (folded | known).items()}


def sized(cell: str, known: Mapping[str, Fraction]) -> int | str:
    """Base units of an amount with its unit beside it, or the code of what is wrong."""
    found = BESIDE.fullmatch(cell.strip())
    if not found:
        return "invalid-number"
    factor = known.get(found[2]) or known.get(found[2].casefold())
    if factor is None:
        return "unknown-unit"
    amount = round(Fraction(found[1]) * factor)
    return amount if amount <= LARGEST else "too-many-digits"


def part(scheme: str, board: Board, where: str) -> Fraction:
    try:
        return board.part(scheme)
    except InputError as unsaid:
        raise ProjectError(
            "missing-setting", unsaid.message, where=where, hint=f"sharing = {{{scheme} = 4}}"
        ) from unsaid
