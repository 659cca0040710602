"""Who a process is, from /proc. Needs the host's pid namespace; other people's environments are readable by root alone."""

import os
import pwd
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from apportion.sources.agent.looks import Clock, Seen
from apportion.sources.agent.notes import NOTES, noted
from apportion.sources.agent.slurm_jobs import SlurmJobs

TICKS = os.sysconf("SC_CLK_TCK")
ENVIRON = {b"SLURM_JOB_ID": "job", b"SLURM_CLUSTER_NAME": "cluster"}
LONGEST_ENVIRON = 2**20


@dataclass(slots=True)
class Processes:
    """Asked each look: a pid is read again only when it is another process by now."""

    root: Path = Path("/proc")
    notes: Path = NOTES
    slurm: SlurmJobs = field(default_factory=SlurmJobs)
    known: dict[int, Seen] = field(default_factory=dict)

    def of(self, pids: set[int], clock: Clock) -> dict[int, Seen]:
        """Also of those that ended since the look before, as they were known then; others are forgotten."""
        found = {pid: self.slurm.describe(seen, clock) for pid in pids if (seen := self.one(pid, clock))}
        self.known = found
        return found

    def one(self, pid: int, clock: Clock) -> Seen | None:
        known = self.known.get(pid)
        try:
            started = started_ticks((self.root / str(pid) / "stat").read_text(encoding="ascii", errors="replace"))
            if known is None or known.started != started:
                known = self.read(pid, started, clock)
        except (OSError, ValueError, IndexError):
            return known  # it is gone: it was who it was
        return known

    def read(self, pid: int, started: int, clock: Clock) -> Seen:
        folder = self.root / str(pid)
        uid = uid_of((folder / "status").read_text(encoding="utf-8", errors="replace"))
        began_ms = clock.wall_ms - clock.boot_ms + started * 1000 // TICKS
        said = {**environment(folder / "environ"), **noted(self.notes, uid)}
        return Seen(
            pid,
            started,
            began_ms // 1000,
            uid,
            user_named(uid),
            (folder / "cgroup").read_text(encoding="utf-8", errors="replace"),
            job=said.get("job", ""),
            cluster=said.get("cluster", ""),
            noted=said.get("noted", ""),
        )


def started_ticks(stat: str) -> int:
    """Field 22; the name before it may hold spaces and brackets."""
    return int(stat.rpartition(")")[2].split()[19])


def uid_of(status: str) -> int:
    """The real user, who started it, whatever it became since."""
    return int(next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1])


@cache
def user_named(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid-{uid}"


def environment(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            pairs = [line.partition(b"=") for line in file.read(LONGEST_ENVIRON).split(b"\0")]
    except OSError:
        return {}
    return {ENVIRON[key]: value.decode(errors="replace")[:100] for key, _, value in pairs if key in ENVIRON}
