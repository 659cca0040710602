"""Drawn clusters: machines of every cloud with their lives, told by the cluster in one spelling and billed in another. The map is the generator's own."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa

from apportion.model.rows import CAPACITY, COST_LINES

DAY_S = 86_400
DAYS = 20
CHANNELS = ("provider id", "instance id", "ip", "hostname", "name", "id", "rule 1")
REGION = "eu-central-1"
Told = dict[str, object]  # columns of a line


@dataclass(frozen=True)
class Machine:
    """A machine in the days `[first, last)`; `channel` is the only thing that the bill and the cluster both tell."""

    number: int
    channel: str
    node: str
    first: int
    last: int
    ip: str

    @property
    def id(self) -> str:
        return f"i-0{self.number:04x}ab"

    def labels(self, dice: Random) -> dict[str, str]:
        """What the cluster says of it."""
        if self.channel == "provider id":
            return {"k8s.provider_id": dice.choice([azure, google, oracle])(self)[0]}
        if self.channel == "instance id":
            of_provider = {"k8s.provider_id": f"aws:///{REGION}a/{self.id}"}
            return dice.choice([of_provider, {"slurm.instance_id": self.id}, {"instance_id": self.id.upper()}])
        if self.channel == "ip":
            return {"k8s.ip": dice.choice([self.ip, f"{self.ip},198.51.100.{self.number % 250}"])}
        return {"hostname": f"host{self.number}.cluster.local"} if self.channel == "hostname" else {}

    def billed(self, dice: Random) -> Told:
        """What the bill says of it."""
        plain: Told = {"ResourceId": f"vm{self.number}-of-the-bill"}
        if self.channel == "instance id":
            arn = f"arn:aws:ec2:{REGION}:123456789012:instance/{self.id}"
            interface: Told = {
                "ResourceId": f"eni-{self.number}",
                "Tags": [("node.k8s.amazonaws.com/instance_id", self.id)],
            }
            return dice.choice([{"ResourceId": arn}, {"ResourceId": self.id}, interface])
        if self.channel == "ip":
            dashed = self.ip.replace(".", "-")
            named = {"ResourceName": f"ip-{dashed}.{REGION}.compute.internal"}
            return dice.choice([plain | {"Tags": [("Private-IP", self.ip)]}, plain | named])
        if self.channel == "hostname":
            name = f"HOST{self.number}"
            path: Told = {"ResourceId": f"//compute.googleapis.com/projects/p/zones/z/instances/{name}"}
            return dice.choice(
                [plain | {"Tags": [("Name", name)]}, plain | {"ResourceName": f"{name}.other.example"}, path]
            )
        if self.channel == "rule 1":
            return plain | {"Tags": [("slot", self.node.removeprefix("n"))]}
        return {"ResourceId": self.node} if self.channel == "id" else plain | {"ResourceName": self.node}


def azure(machine: Machine) -> tuple[str, str]:
    """As the cluster and as the bill spell it."""
    path = f"/subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/{machine.number}"
    return f"azure://{path}", path.lower()


def google(machine: Machine) -> tuple[str, str]:
    own = f"gke-{machine.number}"
    return f"gce://p/z/{own}", f"//compute.googleapis.com/projects/p/zones/z/instances/{own}"


def oracle(machine: Machine) -> tuple[str, str]:
    ocid = f"ocid1.instance.oc1.iad.{machine.number:08x}"
    return f"oci://{ocid}", ocid


SPELLED = {"azure": azure, "gce": google, "oci": oracle}


@dataclass
class Drawn:
    """`truth[i]` is the node of line i, the rule that finds it, and the days in which it was that node's where its name had others."""

    capacity: pa.Table
    lines: pa.Table
    truth: list[tuple[str, str, tuple[int, int] | None]] = field(default_factory=list)


def machines(dice: Random) -> list[Machine]:
    """Names and addresses are handed on to machines that come later."""
    found: list[Machine] = []
    for number in range(1, dice.randint(8, 40)):
        channel = dice.choice(CHANNELS)
        first = dice.randint(0, DAYS - 2)
        last = dice.randint(first + 1, DAYS)
        gone = [one for one in found if one.last <= first and one.channel == channel and not taken(one, found, first)]
        heir = dice.choice(gone) if gone and dice.random() < 0.6 else None
        node = heir.node if heir and channel in ("provider id", "instance id") else f"n{number}"
        ip = heir.ip if heir and channel == "ip" else f"10.0.{number}.5"
        found.append(Machine(number, channel, node, first, last, ip))
    return found


def taken(one: Machine, found: list[Machine], first: int) -> bool:
    """Whether another has its name or address from some later day on."""
    others = [other for other in found if other is not one and (other.node == one.node or other.ip == one.ip)]
    return any(other.last > first for other in others)


def draw(seed: int) -> Drawn:
    dice = Random(seed)
    every = machines(dice)
    labels = {one.number: one.labels(dice) for one in every}
    rows = [capacity_row(one, labels[one.number]) for one in every]
    billed: list[tuple[Told, tuple[str, str, tuple[int, int] | None]]] = []
    for one in every:
        namesakes = sum(1 for other in every if other.node == one.node)
        span = (one.first, one.last) if namesakes > 1 else None
        told: Told = (
            one.billed(dice) if one.channel != "provider id" else {"ResourceId": bill_path(one, labels[one.number])}
        )
        billed += [(line_row(told, day), (one.node, one.channel, span)) for day in range(one.first, one.last)]
    for number in range(dice.randint(0, 5)):  # of somebody else
        told = {"ResourceId": f"i-ffff{number}", "ResourceName": f"web-{number}", "Tags": [("Name", f"web-{number}")]}
        billed.append((line_row(told, dice.randrange(DAYS)), ("", "", None)))
    dice.shuffle(billed)
    dice.shuffle(rows)
    lines = [row | {"line_id": str(number)} for number, (row, _) in enumerate(billed)]
    return Drawn(
        pa.Table.from_pylist(rows, schema=CAPACITY),
        pa.Table.from_pylist(lines, schema=COST_LINES),
        [truth for _, truth in billed],
    )


def bill_path(one: Machine, labels: dict[str, str]) -> str:
    return SPELLED[labels["k8s.provider_id"].partition(":")[0]](one)[1]


def capacity_row(one: Machine, labels: dict[str, str]) -> dict[str, object]:
    return {
        "source": "drawn", "resource": one.node, "meter": "gpu", "start_s": one.first * DAY_S, "end_s": one.last * DAY_S,
        "amount": 8, "state": "up", "labels": sorted(labels.items()),
    }  # fmt: skip


def line_row(told: Mapping[str, object], day: int) -> dict[str, object]:
    return {
        "source": "drawn", "charge_start_s": day * DAY_S, "charge_end_s": (day + 1) * DAY_S, "billing_start_s": 0,
        "billing_end_s": 31 * DAY_S, "component": "compute", "ChargeCategory": "Usage", "Tags": [], **told,
    }  # fmt: skip
