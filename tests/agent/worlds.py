"""Boards whose truth is known beforehand: looks made from a schedule of draws and uses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from apportion.sources.agent.looks import Clock, Look, Process, Reading, Seen

START_MS = 1_793_491_200_000  # 2026-11-01T00:00:00Z
BOOT = "6f1f2f3a-0000-4000-8000-000000000001"
SLURM = "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n"
POD_UID = "1f6e3a52-9c1d-4b7e-8a2f-0123456789ab"
POD = (
    f"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD_UID.replace('-', '_')}.slice/"
    f"cri-containerd-{'ab' * 32}.scope\n"
)
LOGIN = "0::/user.slice/user-1003.slice/session-2.scope\n"
JOB_ID, POD_ID, USER_ID = "slurm/main/4711", f"k8s/main/{POD_UID}", "host/n1/carol"
IDLE_ID, LOST_ID = "host/n1/_idle", "host/n1/_unmeasured"
PEOPLE = {
    11: Seen(11, 100, START_MS // 1000 - 60, 1001, "alice", SLURM),
    12: Seen(12, 200, START_MS // 1000 - 50, 1002, "bob", POD),
    13: Seen(13, 300, START_MS // 1000 - 40, 1003, "carol", LOGIN),
}


@dataclass(frozen=True)
class Tick:
    """A second of one board: what it burnt, who was busy how much, who held it."""

    millijoules: int
    busy: Mapping[int, int] | None
    holders: Sequence[int]


def looks(
    ticks: Iterable[Tick], *, counter: int = 5_000_123, start_ms: int = START_MS, step_ms: int = 1000
) -> list[Look]:
    """The first look finds the counter; each tick is one more."""
    made = [look(0, counter, Tick(0, {}, ()), start_ms)]
    for number, tick in enumerate(ticks, 1):
        counter += tick.millijoules
        made.append(look(number * step_ms, counter, tick, start_ms))
    return made


def look(at_ms: int, counter: int, tick: Tick, start_ms: int = START_MS) -> Look:
    processes = tuple(Process(pid, 2**30) for pid in tick.holders)
    reading = Reading("GPU-a", "NVIDIA H200", counter, processes, tick.busy)
    return Look(
        Clock(start_ms + at_ms, 60_000 + at_ms, BOOT),
        (reading,),
        {pid: PEOPLE[pid] for pid in reading.pids if pid in PEOPLE},
    )


def moved(found: Look, *, wall_ms: int = 0, boot_ms: int = 0, boot: str = BOOT) -> Look:
    clock = Clock(found.clock.wall_ms + wall_ms, found.clock.boot_ms + boot_ms, boot)
    return replace(found, clock=clock)


def counted(found: Look, energy_mj: int) -> Look:
    return replace(found, readings=tuple(replace(reading, energy_mj=energy_mj) for reading in found.readings))
