"""The agent as a process of its own, on a board that goes on whether anybody looks or not: a trace, played against the real clock.

`python -m tests.agent.clocked SPOOL TRACE START_NS SPEED`: what the board says is a function of the time since START_NS alone.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from apportion.sources.agent.looks import Look
from apportion.sources.agent.trace import played
from apportion.verbs.agent import Wishes, measured


@dataclass
class Clocked:
    """Each look of the trace is to be had from its time until the next one's; who comes later misses it."""

    looks: list[Look]
    start_ns: int
    speed: int
    seen: int = -1

    def look(self) -> Look | None:
        first = self.looks[0].clock.boot_ms
        while (number := self.current(first)) <= self.seen:
            time.sleep(0.002)
        self.seen = number
        return self.looks[number] if number < len(self.looks) else None

    def current(self, first: int) -> int:
        passed_ms = (time.time_ns() - self.start_ns) * self.speed // 10**6
        if passed_ms > self.looks[-1].clock.boot_ms - first:
            return len(self.looks)
        return sum(look.clock.boot_ms - first <= passed_ms for look in self.looks) - 1


def main() -> None:
    spool, trace, start_ns, speed = sys.argv[1:]
    measured(
        Wishes(Path(spool), "h200-1", "main", batch_ms=10_000),
        Clocked(list(played(Path(trace))), int(start_ns), int(speed)),
    )


if __name__ == "__main__":
    main()
