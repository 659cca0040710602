"""This node, looked at every few seconds: its boards, who is on them, and its clocks."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event

from apportion.errors import ProjectError
from apportion.sources.agent.looks import Board, BoardGoneError, Clock, Look, Reading
from apportion.sources.agent.procfs import Processes

# An H200's driver takes 7 ms of a core to tell energy and use, so the more boards, the longer between looks: always under 1 % of a core.
# The driver averages use over the time in between, so nobody's work is missed. Each divides a minute, in which batches are cut.
PERIODS_S = (2, 3, 4, 5, 6, 10, 12, 15, 20, 30)


@dataclass(slots=True)
class Node:
    """`find` looks the boards up: at the start, and again whenever the driver went away."""

    find: Callable[[], Sequence[Board]]
    stop: Event = field(default_factory=Event)
    until_ms: int | None = None  # on the boot clock; None: until stopped
    processes: Processes = field(default_factory=Processes)
    boards: Sequence[Board] = ()

    def look(self) -> Look | None:
        """At whole multiples of the period on the wall clock, so that batches begin and end on minutes."""
        clock, period_ms = now(), period_s(len(self.boards)) * 1000
        if self.until_ms is not None and clock.boot_ms >= self.until_ms:
            return None
        if self.stop.wait((period_ms - clock.wall_ms % period_ms) / 1000):
            return None
        clock = now()
        readings = self.readings()
        pids = set().union(*(reading.pids for reading in readings))
        return Look(clock, readings, self.processes.of(pids, clock))

    def readings(self) -> tuple[Reading, ...]:
        """Nothing while there are no boards: their counters will tell what they burnt."""
        try:
            self.boards = self.boards or self.find()
            return tuple(board.read() for board in self.boards)
        except (BoardGoneError, ProjectError):
            self.boards = ()
            return ()


def period_s(boards: int) -> int:
    return next((period for period in PERIODS_S if 4 * period >= 5 * boards), PERIODS_S[-1])


def now() -> Clock:
    return Clock(time.time_ns() // 10**6, time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 10**6, boot_id())


@cache
def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
