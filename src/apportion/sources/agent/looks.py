"""One look at a node: what its boards and the processes on them said at one moment, raw.

A vendor is one file that makes `Board`s. Everything after a look is a pure function of it, so that a recorded one counts as a live one.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Clock:
    """`wall_ms` is what people call the time and may jump; `boot_ms` runs evenly from the boot that `boot` names."""

    wall_ms: int
    boot_ms: int
    boot: str


@dataclass(frozen=True, slots=True)
class Process:
    """Something that holds memory or a context on a board. `slices` is the size of its MIG instance, 1 where there is none."""

    pid: int
    memory: int = 0
    slices: int = 1
    instance: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What the driver's accounting says of a process after its end: average use in thousandths, over so long."""

    pid: int
    use: int
    ran_ms: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What one board said.

    `energy_mj` counts since the driver was loaded. `busy` is each process' use of the compute units in thousandths since the
    look before, None where the board does not say. `weights` stand in for it then (lifetime average of the driver's accounting).
    """

    uuid: str
    model: str
    energy_mj: int
    processes: tuple[Process, ...] = ()
    busy: Mapping[int, int] | None = None
    weights: Mapping[int, int] | None = None
    ended: tuple[Ended, ...] = ()

    @property
    def pids(self) -> set[int]:
        found = {process.pid for process in self.processes} | {process.pid for process in self.ended}
        return found | {*(self.busy or {}), *(self.weights or {})}


@dataclass(frozen=True, slots=True)
class Seen:
    """Who a process is, as /proc says. `started` is its start in clock ticks since boot: a pid that is used again has another."""

    pid: int
    started: int
    started_s: int
    uid: int
    user: str
    cgroup: str = ""
    job: str = ""  # SLURM_JOB_ID of its environment
    cluster: str = ""  # as Slurm or its prolog says, else SLURM_CLUSTER_NAME of its environment
    noted: str = ""  # the job that Slurm's prolog noted of its user
    sluid_job: str = ""  # the job of the SLUID in its cgroup, as Slurm says
    confirmed: bool = False  # Slurm says that its user runs the job of its environment


@dataclass(frozen=True, slots=True)
class Look:
    """`seen` names every process that a reading speaks of, unless it was gone before anybody looked."""

    clock: Clock
    readings: tuple[Reading, ...]
    seen: Mapping[int, Seen]


class Board(Protocol):
    """What a vendor's library must answer for one physical board."""

    uuid: str

    def read(self) -> Reading:
        """Now; raises `BoardGoneError` where the driver was unloaded or the board fell off the bus."""


class BoardGoneError(Exception):
    """The boards must be looked up anew."""


class Machine(Protocol):
    """Where looks come from: the node itself, or a trace of one."""

    def look(self) -> Look | None:
        """Waits until the next one is due; None when there is no more."""


def to_json(look: Look) -> dict[str, Any]:
    return asdict(look)


def from_json(found: Mapping[str, Any]) -> Look:
    return Look(
        Clock(**found["clock"]),
        tuple(reading_of(one) for one in found["readings"]),
        {int(pid): Seen(**one) for pid, one in found["seen"].items()},
    )


def reading_of(found: Mapping[str, Any]) -> Reading:
    return Reading(
        found["uuid"],
        found["model"],
        found["energy_mj"],
        tuple(Process(**one) for one in found["processes"]),
        by_pid(found["busy"]),
        by_pid(found["weights"]),
        tuple(Ended(**one) for one in found["ended"]),
    )


def by_pid(found: Mapping[str, int] | None) -> dict[int, int] | None:
    return None if found is None else {int(pid): value for pid, value in found.items()}
