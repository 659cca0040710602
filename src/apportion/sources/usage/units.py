"""Units in which logs write amounts. Each is a whole number of the meter's base units, but for parts of a GPU that divide it otherwise."""

from fractions import Fraction

from apportion.errors import InputError, ProjectError
from apportion.model.gpus import PARTS, Board
from apportion.model.meters import GPU, METERS
from apportion.sources.settings import nearest

BYTES = {
    "bytes": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
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
OF_ALLOCATED = {"percent of allocated": 100, "fraction of allocated": 1}  # utilisation, as monitors give it


def scale(meter: str, unit: str | None, board: Board, where: str) -> Fraction:
    """Base units in one of a log's units; the meter's natural unit where none is named."""
    parts = PARTS if meter in SHARED else ()
    if unit is None:
        return Fraction(METERS[meter].base)
    if unit in parts:
        return GPU * part(unit, board, where)
    if unit not in UNITS[meter]:
        valid = (*UNITS[meter], *parts)
        raise ProjectError(
            "unknown-unit", f"{meter} is not counted in {unit!r}", where=where, hint=nearest(unit, valid)
        )
    return Fraction(UNITS[meter][unit])


def part(scheme: str, board: Board, where: str) -> Fraction:
    try:
        return board.part(scheme)
    except InputError as unsaid:
        raise ProjectError(
            "missing-setting", unsaid.message, where=where, hint=f"sharing = {{{scheme} = 4}}"
        ) from unsaid
