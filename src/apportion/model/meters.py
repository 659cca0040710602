"""What is counted. A *level* is held for a time (unit-seconds); a *flow* is an amount spread evenly over its interval (units).

Amounts are whole base units, so that a seventh of a GPU (MIG), a quarter (time-slicing) or a thousandth is exact.
"""

from dataclasses import dataclass

from apportion.errors import InputError
from apportion.model.numbers import parse_fraction

GPU = 504_000  # divisible by 7 (MIG slices), 1000 (milli-GPUs), 64 (time-slices), 9 and 5


@dataclass(frozen=True, slots=True)
class Meter:
    name: str
    unit: str  # what people call one of it
    base: int  # base units in one of it
    flow: bool
    component: str  # the cost component that it usually drives


METERS = {
    meter.name: meter
    for meter in (
        Meter("gpu", "GPU", GPU, flow=False, component="compute"),
        Meter("tpu", "TPU chip", GPU, flow=False, component="compute"),
        Meter("neuron", "Neuron device", GPU, flow=False, component="compute"),  # Trainium and Inferentia
        Meter("gaudi", "Gaudi", GPU, flow=False, component="compute"),
        Meter("accelerator", "accelerator", GPU, flow=False, component="compute"),  # any other kind
        Meter("cpu", "core", 1000, flow=False, component="compute"),
        Meter("memory", "GiB", 2**30, flow=False, component="compute"),
        Meter("node", "node", 1, flow=False, component="compute"),
        Meter("storage", "GiB", 2**30, flow=False, component="storage"),
        Meter("licence", "seat", 1, flow=False, component="licence"),
        Meter("network", "GiB", 2**30, flow=True, component="network"),
        Meter("energy", "kWh", 3_600_000, flow=True, component="energy"),
        Meter("tokens", "token", 1, flow=True, component="compute"),
    )
}


def to_base(value: object, meter: Meter, where: str = "") -> int:
    """`0.5` GPU or `3/7` GPU as base units; what is finer than a base unit is refused, never rounded away."""
    amount = parse_fraction(value, where) * meter.base
    if amount < 0:
        raise InputError("negative-amount", f"an amount of {meter.name} cannot be negative: {value}", where=where)
    if amount.denominator != 1:
        raise InputError(
            "too-fine",
            f"{value} {meter.unit} is finer than 1/{meter.base}, the smallest amount of {meter.name}",
            where=where,
        )
    return amount.numerator
