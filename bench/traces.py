"""The verbs on a trace of a real cluster, each in a process of its own, as a person at a terminal waits for it."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.measure import Clock
from tests.traces.project import MISSING, TRACES, facts, write_lisa

ROUNDS = 3


def surf_lisa(folder: Path) -> dict[str, Any]:
    """A week of SURF's cluster Lisa, 2.3 million usage rows with their use: ingest once, then `apportion plan` from cold, best of three."""
    if not TRACES.exists():
        return {"skipped": MISSING}
    clock = Clock()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        project = write_lisa(Path(scratch))
        clock.time("ingest", lambda: run(project, "ingest"))
        said = [clock.time("plan", lambda: run(project, "plan", "--period", "2022-10")) for _ in range(ROUNDS)][-1]
    owed = f"{facts('surf_lisa')['tasks_week']['total_cpu_seconds']:,}.00"
    if f"owners {owed}" not in re.sub(r"\s+", " ", said):
        raise SystemExit(
            f"the plan does not charge {owed}, a dollar for every core-second that was held: {said[-400:]}"
        )
    return {
        "usage_rows": facts("surf_lisa")["cpu_usage_30s_week"]["rows"],
        "ingest_seconds": round(clock.cold("ingest"), 2),
        "plan_seconds_first": round(clock.cold("plan"), 2),
        "plan_seconds_best": round(min(clock.seconds["plan"]), 2),
    }


def run(project: Path, *words: str) -> str:
    command = [str(Path(sys.executable).with_name("apportion")), "--project", str(project), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
