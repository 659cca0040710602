"""The stanza of a cluster."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from apportion.model.gpus import SCHEMES, Board
from apportion.model.meters import METERS
from apportion.model.times import parse_instant
from apportion.sources.kubernetes.objects import CLAIM, CLUSTER_QUEUE, NAMESPACE, NODE, POD, QUOTA, SLICE, Kind
from apportion.sources.settings import Stanza

SETTINGS = (
    "cluster", "kubeconfig", "context", "url", "token", "ca_file", "timeout_s", "retries", "page", "allow_link_local", "labels", "annotations",
    "usage", "capacity", "reservations", "sharing", "drivers", "reach_hours", "as_of", "commands",
)  # fmt: skip
HOLDS = {"false": "none", "true": "all", "claims": "claims"}
RESERVED = ("kueue", "quota")
DRIVERS = {  # of DRA; what they hand out that is no accelerator (network cards, NVIDIA's compute domains) is not counted
    "gpu.nvidia.com": "gpu", "gpu.amd.com": "gpu", "gpu.intel.com": "gpu", "tpu.google.com": "tpu", "neuron.aws.com": "neuron",
    "gaudi.intel.com": "gaudi",
}  # fmt: skip
HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class How:
    source: str
    cluster: str
    labels: tuple[str, ...]  # globs
    annotations: tuple[str, ...]
    usage: str  # none, claims or all
    capacity: bool
    reservations: tuple[str, ...]
    board: Board
    drivers: dict[str, str]
    reach_s: int
    as_of_s: int | None
    commands: bool = False

    def needed(self) -> tuple[Kind, ...]:
        """What a delivery would be wrong without; the rest only says more of it."""
        kinds = [POD, NAMESPACE, NODE]
        if self.usage != "none" or self.capacity:
            kinds += [CLAIM, SLICE]
        if "kueue" in self.reservations:
            kinds.append(CLUSTER_QUEUE)
        if "quota" in self.reservations:
            kinds.append(QUOTA)
        return tuple(kinds)

    def id(self, *parts: str) -> str:
        return "/".join(("k8s", self.cluster, *parts))


def how_of(found: Stanza) -> How:
    usage = found.settings.get("usage", False)
    word = str(usage).lower() if isinstance(usage, bool | str) else ""
    if word not in HOLDS:
        raise found.refuse("usage", 'true, false or "claims"', usage)
    drivers = found.words("drivers")
    for driver, meter in drivers.items():
        if meter not in METERS:
            raise found.refuse(f"drivers.{driver}", f"one of {', '.join(METERS)}", meter)
    return How(
        found.text("name"),
        found.text("cluster"),
        found.names("labels", default=("*",)),
        found.names("annotations"),
        HOLDS[word],
        found.flag("capacity", default=usage is True),  # where metrics say what was held, they say what there was
        found.names("reservations", RESERVED, ("kueue",)),
        Board(**{"mps": 100, **found.counts("sharing", SCHEMES)}),
        DRIVERS | drivers,
        found.number("reach_hours", 2, 1, 24 * 31) * HOUR_S,
        parse_instant(found.text("as_of"), where=found.where) if "as_of" in found.settings else None,
        found.flag("commands"),
    )


def chosen(labels: dict[str, str], globs: tuple[str, ...]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if any(fnmatchcase(key, glob) for glob in globs)}
