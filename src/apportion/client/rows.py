"""Rows that can be pushed. Times are whole UTC seconds. Amounts are in natural units under the name of their meter: `gpu: 4` is four GPUs.

Who counts in whole base units says so by name: `meter: gpu, allocated_base_units: 2016000` is the same.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from apportion.client.shapes import Shape

LAST_S = 4_102_444_800  # 2100-01-01
Second = Annotated[int, Field(strict=True, ge=0, le=LAST_S, description="UTC, in seconds since 1970")]
Units = Annotated[
    int,
    Field(strict=True, ge=0, le=10**18, description="in base units of the meter; 504000 are one GPU, 1000 one core"),
]
Amount = (
    Annotated[
        Annotated[int, Field(strict=True)]
        | Annotated[float, Field(strict=True)]
        | Annotated[str, Field(strict=True, max_length=60)],
        Field(
            description="in GPUs, cores, GiB, nodes, seats, kWh or tokens; a text such as 3/7 where a number would not be exact"
        ),
    ]
    | None
)
Name = Annotated[str, Field(strict=True, min_length=1, max_length=1024)]
Cluster = Annotated[
    Name | None, Field(description="that the resource is of; the stanza's, or the only one that has it, unless given")
]
Labels = Annotated[dict[Name, Annotated[str, Field(strict=True, max_length=4096)]], Field(default_factory=dict)]
Meter = Literal[
    "gpu", "tpu", "neuron", "gaudi", "accelerator", "cpu", "memory", "node", "storage", "licence", "network", "energy", "tokens",
]  # fmt: skip
UNITS_OF = {
    "gpu": "GPUs", "tpu": "TPU chips", "neuron": "Neuron devices", "gaudi": "Gaudis", "accelerator": "accelerators", "cpu": "cores",
    "memory": "GiB", "node": "nodes", "storage": "GiB", "licence": "seats", "network": "GiB", "energy": "kWh", "tokens": "tokens",
}  # fmt: skip
State = Literal["up", "drained", "down", "starting"]
Outcome = Literal[
    "completed", "failed", "cancelled", "timeout", "out_of_memory", "preempted", "requeued", "node_fail", "running",
]  # fmt: skip


class Timed(Shape):
    start_s: Second
    end_s: Second

    @model_validator(mode="after")
    def ends_after_it_starts(self) -> Self:
        if self.end_s < self.start_s:
            raise ValueError("it ends before it starts")
        return self


class Amounts(Timed):
    """Of one meter or several, each under its name; or of one in base units, with `meter` beside them."""

    meter: Meter | None = None
    gpu: Amount = None
    tpu: Amount = None
    neuron: Amount = None
    gaudi: Amount = None
    accelerator: Amount = None
    cpu: Amount = None
    memory: Amount = None
    node: Amount = None
    storage: Amount = None
    licence: Amount = None
    network: Amount = None
    energy: Amount = None
    tokens: Amount = None

    @model_validator(mode="before")
    @classmethod
    def refuse_bare_amounts(cls, given: Any) -> Any:
        """Base units went by these names: 4 of them would be taken for 4 GPUs by everybody else."""
        if isinstance(given, Mapping):
            for name in ("allocated", "used", "amount"):
                if given.get(name) is not None:
                    raise ValueError(bare_amount(name, given))
            return {key: value for key, value in given.items() if key not in ("allocated", "used", "amount")}
        return given


def bare_amount(name: str, given: Mapping[str, Any]) -> str:
    meter = given.get("meter") if given.get("meter") in get_args(Meter) else "gpu"
    natural, amount = f"{meter}_used" if name == "used" else meter, str(given[name])[:20]
    return (
        f'"{name}" does not say its unit: write "{natural}": {amount} for {amount} {UNITS_OF[str(meter)]}, or '
        f'"{name}_base_units": {amount} beside "meter": "{meter}" if you count in base units'
    )


class UsageRow(Amounts):
    """What a workload held on one resource, and what it used where somebody measured that; one of them is enough."""

    workload: Name
    resource: Name
    cluster: Cluster = None
    gpu_used: Amount = None
    tpu_used: Amount = None
    neuron_used: Amount = None
    gaudi_used: Amount = None
    accelerator_used: Amount = None
    cpu_used: Amount = None
    memory_used: Amount = None
    node_used: Amount = None
    storage_used: Amount = None
    licence_used: Amount = None
    network_used: Amount = None
    energy_used: Amount = None
    tokens_used: Amount = None
    allocated_base_units: Units | None = None
    used_base_units: Units | None = None


class WorkloadRow(Timed):
    """Whose it is (its labels) and how it ended; `run` is what it is an attempt or task of, itself unless given."""

    workload: Name
    run: Name | None = None
    name: Annotated[str, Field(strict=True, max_length=1024)] | None = None
    outcome: Outcome
    labels: Labels


class CapacityRow(Amounts):
    """What there was to hold."""

    resource: Name
    amount_base_units: Units | None = None
    state: State = "up"
    labels: Labels
    cluster: Cluster = None


class ReservationRow(Amounts):
    reservation: Name
    amount_base_units: Units | None = None
    labels: Labels


Table = Literal["usage", "workloads", "capacity", "reservations"]
ROWS: dict[str, type[Timed]] = {
    "usage": UsageRow, "workloads": WorkloadRow, "capacity": CapacityRow, "reservations": ReservationRow,
}  # fmt: skip
