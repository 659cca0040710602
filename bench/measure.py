"""How a part is timed: in a process of its own, where its first run is cold and its peak memory its own."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).parent


@dataclass(slots=True)
class Clock:
    """Seconds of each run, by what was run; the first of each is cold."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def time(self, name: str, run: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = run()
        self.seconds.setdefault(name, []).append(time.perf_counter() - start)
        return result

    def cold(self, name: str) -> float:
        return self.seconds[name][0]

    def warm(self, name: str) -> float:
        return median(self.seconds[name][1:] or self.seconds[name])


def peak_gb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def in_own_process(part: str, folder: Path) -> dict[str, Any]:
    """Run one part as `python -m bench PART` and read what it found."""
    command = [sys.executable, "-m", "bench", part, "--folder", str(folder)]
    done = subprocess.run(command, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
