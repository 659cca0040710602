"""Amounts of resources as amounts of meters, by what the node's labels say of its boards: MIG, time-slicing and MPS cut them into parts."""

import re
from collections.abc import Mapping
from fractions import Fraction

from apportion.errors import InputError
from apportion.model.accelerators import accelerator_of, resource_key
from apportion.model.gpus import CORES, MEMORY, PERCENT, Board, gpus_of, share_of
from apportion.model.meters import METERS

Labels = Mapping[str, str]
LARGEST = 2**62
GPU = "nvidia.com/gpu"
FRACTION = "gpu-fraction"  # an annotation of Run:ai
PLAIN = {"cpu": "cpu", "memory": "memory"}
MACHINE = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
MODEL = (
    "nvidia.com/gpu.product", "amd.com/gpu.product-name", "cloud.google.com/gke-accelerator", "cloud.google.com/gke-tpu-accelerator",
    "karpenter.k8s.aws/instance-gpu-name", "k8s.amazonaws.com/accelerator",
)  # fmt: skip
SINGLE = re.compile(r".*-MIG-([0-9a-z.+]+?)(?:-SHARED)?", re.ASCII)
GKE_PROFILE, GKE_CLIENTS = "cloud.google.com/gke-gpu-partition-size", "cloud.google.com/gke-max-shared-clients-per-gpu"


def first_of(labels: Labels, keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")


def model_of(labels: Labels) -> str:
    return first_of(labels, MODEL)


def count(labels: Labels, key: str) -> int:
    text = labels.get(key, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0


def board_of(labels: Labels, stated: Board) -> Board:
    """The node's labels, else what the settings say."""
    return Board(
        slices=stated.slices,
        replicas=count(labels, f"{GPU}.replicas") or stated.replicas,
        memory=count(labels, f"{GPU}.memory") or stated.memory,
    )


def part_of(resource: str, labels: Labels, stated: Board) -> tuple[str, Fraction] | None:
    """The meter, and what one of the resource is of one device on a node with these labels."""
    found = accelerator_of(resource, board_of(labels, stated), first_of(labels, MACHINE))
    if found is None:
        return None
    meter, part = found
    key = resource_key(resource)
    if key == GPU:
        part *= single_profile(labels)
    if key.startswith("nvidia.com/") and not key.endswith(".shared"):  # replicas that go by the board's own name
        part /= count(labels, f"{key}.replicas") or (count(labels, GKE_CLIENTS) if key == GPU else 0) or 1
    return meter, part


def single_profile(labels: Labels) -> Fraction:
    """MIG's single strategy hands out slices of one profile as if they were GPUs."""
    if labels.get(GKE_PROFILE):
        return share_of(f"mig-{labels[GKE_PROFILE]}", Board())
    found = SINGLE.fullmatch(labels.get(f"{GPU}.product", ""))
    return (
        share_of(f"mig-{found[1]}", Board())
        if found and labels.get("nvidia.com/mig.strategy") == "single"
        else Fraction(1)
    )


def metered(amounts: Mapping[str, Fraction], labels: Labels, stated: Board) -> dict[str, Fraction]:
    """Amounts by meter: cores, bytes as GiB, devices. Resources that nobody meters are left out."""
    limits = {name: amounts[name] for name in (MEMORY, PERCENT, CORES) if name in amounts}
    rest = {name: amount for name, amount in amounts.items() if name not in limits}
    total: dict[str, Fraction] = {}
    if limits:  # HAMi hands out parts of each GPU
        boards = rest.pop(GPU, Fraction(1))
        text = ",".join(f"{name}={amount}" for name, amount in {GPU: boards, **limits}.items())
        total["gpu"] = gpus_of(text, board_of(labels, stated))
    for name, amount in rest.items():
        if name in PLAIN:
            total[name] = amount / (2**30 if name == "memory" else 1)
        elif amount and (found := part_of(name, labels, stated)):
            meter, part = found
            total[meter] = total.get(meter, Fraction(0)) + amount * part
    if any(amount * METERS[meter].base > LARGEST for meter, amount in total.items()):
        raise InputError("too-many-digits", "an amount is larger than anything that could be counted")
    return total


def held(
    amounts: Mapping[str, Fraction], labels: Labels, stated: Board
) -> tuple[dict[str, Fraction], InputError | None]:
    """Amounts by meter, and what is wrong with the devices where nobody can say how many they are: cores and memory count all the same."""
    plain = {name: amount for name, amount in amounts.items() if name in PLAIN}
    try:
        return metered(amounts, labels, stated), None
    except InputError as error:
        return metered(plain, labels, stated), error
