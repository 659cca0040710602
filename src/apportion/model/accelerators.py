"""Accelerators of every vendor: the names by which schedulers hand them out and exporters measure them, and the meter that counts them.

A GPU of any vendor is a `gpu`; its model is a label. What is no GPU has a meter of its own, since nobody prices a TPU chip by a GPU's hour.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from apportion.errors import InputError
from apportion.model.gpus import WHOLE, Board, share_of

DEVICES = MappingProxyType({  # resources of which one is one device
    "nvidia.com/gpu": "gpu", "amd.com/gpu": "gpu", "gpu.intel.com/i915": "gpu", "gpu.intel.com/xe": "gpu",
    "k8s.amazonaws.com/vgpu": "gpu", "google.com/tpu": "tpu", "cloud-tpus.google.com/v2": "tpu", "cloud-tpus.google.com/v3": "tpu",
    "aws.amazon.com/neuron": "neuron", "aws.amazon.com/neurondevice": "neuron", "habana.ai/gaudi": "gaudi",
    "huawei.com/ascend910": "accelerator", "huawei.com/ascend310": "accelerator", "graphcore.ai/ipu": "accelerator",
    "furiosa.ai/npu": "accelerator", "rebellions.ai/atom": "accelerator", "tenstorrent.com/n150": "accelerator",
})  # fmt: skip
CORE = "aws.amazon.com/neuroncore"
CORES = MappingProxyType(
    {"inf1": 4, "inf2": 2, "trn1": 2, "trn2": 8, "trn3": 8}
)  # AWS Neuron, "Architecture": cores of a device
PARTS = re.compile(r"nvidia\.com/(?:gpu\.shared|mig-[a-z0-9.+-]+)|amd\.com/[cd]px_nps[1-9].*|amd\.com/spx_nps[1-9].*")
AMD_PARTITIONS = MappingProxyType(
    {"spx": 1, "dpx": 2, "tpx": 3, "qpx": 4, "cpx": 8}
)  # ROCm, "Compute partitioning": parts of an MI300


def resource_key(name: str) -> str:
    """The name as Kubernetes spells it, also from kube-state-metrics' spelling: `nvidia_com_mig_3g_40gb` is `nvidia.com/mig-3g.40gb`."""
    if "/" in name:
        return name.casefold()
    if found := SPELLED.get(name.casefold()):
        return found
    for vendor in ("nvidia_com_mig_", "amd_com_"):
        if name.startswith(vendor):
            rest = name.removeprefix(vendor)
            return f"nvidia.com/mig-{rest.replace('_', '.')}" if vendor.startswith("nvidia") else f"amd.com/{rest}"
    return name


def spelled(key: str) -> str:
    """As kube-state-metrics spells a resource."""
    return re.sub(r"[^a-z0-9_]", "_", key.casefold())


SPELLED = MappingProxyType({spelled(key): key for key in (*DEVICES, CORE, "nvidia.com/gpu.shared")})


def accelerator_of(resource: str, board: Board = WHOLE, machine: str = "") -> tuple[str, Fraction] | None:
    """The meter, and what one of the resource is of one device; None where it is no accelerator. `machine` is the instance type.

    Raises `unknown-share` where nobody said into how many parts a board is cut.
    """
    key = resource_key(resource)
    if key in DEVICES:
        return DEVICES[key], Fraction(1)
    if key == CORE:
        return "neuron", Fraction(1, cores_of(machine))
    if PARTS.fullmatch(key):
        kind = key.rpartition("/")[2]
        parts = AMD_PARTITIONS.get(kind.partition("_")[0]) if key.startswith("amd.com/") else None
        return "gpu", Fraction(1, parts) if parts else share_of(key, board)
    return None


def cores_of(machine: str) -> int:
    family = re.match(r"[a-z]+[0-9]+", machine.casefold())
    if not family or family[0] not in CORES:
        raise InputError(
            "unknown-share",
            f"nobody said how many cores a Neuron device of {machine or 'an unknown instance type'} has",
            hint=f"known: {', '.join(CORES)}; the node's label node.kubernetes.io/instance-type tells",
        )
    return CORES[family[0]]


@dataclass(frozen=True, slots=True)
class Exporter:
    """What an exporter calls what it measures. `used` metrics by what full use reads; `energy` by joules and `power` by watts of one unit."""

    name: str
    meter: str
    used: Mapping[str, int]
    energy: Mapping[str, Fraction]
    power: Mapping[str, Fraction]
    board: tuple[str, ...]  # labels that tell devices apart, the best first
    node: tuple[str, ...]
    model: tuple[str, ...]


MILLI, MICRO, ONE = Fraction(1, 1000), Fraction(1, 1_000_000), Fraction(1)
NVIDIA_NODE = ("Hostname", "hostname", "node", "instance")
EXPORTERS = (
    Exporter(
        "dcgm-exporter", "gpu",
        {"DCGM_FI_PROF_GR_ENGINE_ACTIVE": 1, "DCGM_FI_PROF_SM_ACTIVE": 1, "DCGM_FI_DEV_GPU_UTIL": 100},
        {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": MILLI}, {"DCGM_FI_DEV_POWER_USAGE": ONE},
        ("UUID", "uuid"), NVIDIA_NODE, ("modelName",),
    ),
    Exporter(
        "AMD device-metrics-exporter", "gpu",
        {"gpu_gfx_activity": 100, "amd_gpu_gfx_activity": 100},
        {"gpu_energy_consumed": MICRO, "amd_gpu_energy_consumed": MICRO}, {"gpu_package_power": ONE, "amd_gpu_package_power": ONE},
        ("gpu_uuid", "serial_number", "gpu_id"), ("hostname", "node", "instance"), ("card_series", "card_model"),
    ),
    Exporter(
        "GKE TPU device plugin", "tpu",
        {"tensorcore_utilization": 100, "duty_cycle": 100}, {}, {},
        ("accelerator_id",), ("node", "node_name", "instance"), ("model",),
    ),
    Exporter(
        "neuron-monitor", "neuron",
        {"neuroncore_utilization_ratio": 1}, {}, {},
        ("neuron_device", "neuroncore"), ("node", "instance_name", "instance_id", "instance"), ("instance_type",),
    ),
    Exporter(
        "Gaudi metric exporter", "gaudi",
        {"habanalabs_utilization": 100}, {"habanalabs_energy": MILLI}, {"habanalabs_power_mW": MILLI},
        ("UUID", "uuid"), ("node", "hostname", "instance"), ("device", "card_name"),
    ),
)  # fmt: skip
