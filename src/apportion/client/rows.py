"""Rows that can be pushed, as the model has them: times are whole UTC seconds, amounts whole base units of the row's meter."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from apportion.client.shapes import Shape

LAST_S = 4_102_444_800  # 2100-01-01
Second = Annotated[int, Field(strict=True, ge=0, le=LAST_S, description="UTC, in seconds since 1970")]
Units = Annotated[
    int,
    Field(strict=True, ge=0, le=10**18, description="in base units of the meter; 504000 are one GPU, 1000 one core"),
]
Name = Annotated[str, Field(strict=True, min_length=1, max_length=1024)]
Labels = Annotated[dict[Name, Annotated[str, Field(strict=True, max_length=4096)]], Field(default_factory=dict)]
Meter = Literal[
    "gpu", "tpu", "neuron", "gaudi", "accelerator", "cpu", "memory", "node", "storage", "licence", "network", "energy", "tokens",
]  # fmt: skip
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


class UsageRow(Timed):
    """What a workload held of one meter on one resource; `used` is left out where nobody measured it."""

    workload: Name
    meter: Meter
    resource: Name
    allocated: Units
    used: Units | None = None


class WorkloadRow(Timed):
    """Whose it is (its labels) and how it ended; `run` is what it is an attempt or task of, itself unless given."""

    workload: Name
    run: Name | None = None
    name: Annotated[str, Field(strict=True, max_length=1024)] | None = None
    outcome: Outcome
    labels: Labels


class CapacityRow(Timed):
    """What there was to hold."""

    resource: Name
    meter: Meter
    amount: Units
    state: State = "up"
    labels: Labels


class ReservationRow(Timed):
    reservation: Name
    meter: Meter
    amount: Units
    labels: Labels


Table = Literal["usage", "workloads", "capacity", "reservations"]
ROWS: dict[str, type[Timed]] = {
    "usage": UsageRow, "workloads": WorkloadRow, "capacity": CapacityRow, "reservations": ReservationRow,
}  # fmt: skip
