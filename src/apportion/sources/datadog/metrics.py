"""Which metric is which meter, and what its numbers count in.

GPU Monitoring (`gpu.*`) writes power in milliwatts; the older DCGM check (`dcgm.*`) in watts, and energy in millijoules. Units of metrics that
are not listed are those that the answer states.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from apportion.model.meters import METERS

PROFILES: Mapping[str, tuple[Mapping[str, str], Mapping[str, str]]] = MappingProxyType({  # held and used, by meter
    "gpu": ({"gpu": "gpu.device.total"}, {"gpu": "gpu.sm_active", "energy": "gpu.power.usage"}),
    "dcgm": ({}, {"gpu": "dcgm.gpu_utilization", "energy": "dcgm.power_usage"}),
    "none": ({}, {}),
})  # fmt: skip
KNOWN = MappingProxyType({
    "gpu.device.total": "device",
    "gpu.sm_active": "percent",
    "gpu.gr_engine_active": "percent",
    "gpu.tensor_active": "percent",
    "gpu.dram_active": "percent",
    "gpu.power.usage": "milliwatt",
    "dcgm.gpu_utilization": "percent",
    "dcgm.power_usage": "watt",
    "dcgm.total_energy_consumption.count": "millijoule",
    "nvml.gpu_utilization": "percent",
    "nvml.power_usage": "milliwatt",
    "kubernetes.cpu.requests": "core",
    "kubernetes.cpu.usage.total": "nanocore",
    "kubernetes.memory.requests": "byte",
    "kubernetes.memory.usage": "byte",
})  # fmt: skip
SCALES = MappingProxyType({  # one of the unit in a meter's natural measure: devices, cores, bytes, joules a second, joules
    "": Fraction(1), "device": Fraction(1), "unit": Fraction(1), "fraction": Fraction(1), "percent": Fraction(1, 100),
    "core": Fraction(1), "millicore": Fraction(1, 1000), "nanocore": Fraction(1, 10**9),
    "byte": Fraction(1), "kibibyte": Fraction(2**10), "mebibyte": Fraction(2**20), "gibibyte": Fraction(2**30),
    "watt": Fraction(1), "milliwatt": Fraction(1, 1000), "kilowatt": Fraction(1000),
    "joule": Fraction(1), "millijoule": Fraction(1, 1000), "kilojoule": Fraction(1000),
})  # fmt: skip
BASES = MappingProxyType(
    {"memory": 1, "storage": 1, "network": 1, "energy": 1}
)  # in bytes and joules; others in whole ones
AMOUNTS = frozenset({"joule", "millijoule", "kilojoule"})  # counted in a bucket, not held over it


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric that is read, and as what."""

    metric: str
    meter: str
    role: str  # held or used

    def scale(self, unit: str) -> Fraction | None:
        """Base units in one of the metric's; None where nobody knows the unit."""
        found = SCALES.get(KNOWN.get(self.metric, unit))
        return None if found is None else found * BASES.get(self.meter, METERS[self.meter].base)

    def is_amount(self, unit: str) -> bool:
        return KNOWN.get(self.metric, unit) in AMOUNTS

    def query(self, where: str, by: tuple[str, ...]) -> str:
        """Summed over the boards of a group; a count stays a count, not a rate."""
        text = f"sum:{self.metric}{{{where or '*'}}} by {{{','.join(by)}}}"
        return f"{text}.as_count()" if self.metric.endswith(".count") else text
