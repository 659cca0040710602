"""A million job rows as `sacct -P` prints them, read into tables; sums are held against those of the generator."""

import random
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from apportion.model.delivery import Delivery
from apportion.model.times import instant_text
from apportion.sources.live import Progress
from apportion.sources.slurm import read
from bench.measure import Clock, peak_gb

ROWS = 1_000_000
FIELDS = (
    "JobIDRaw", "JobID", "Cluster", "User", "Group", "Account", "Partition", "QOS", "WCKey", "Submit", "Start", "End", "ElapsedRaw", "Suspended",
    "State", "ExitCode", "NNodes", "NodeList", "AllocCPUS", "AllocTRES", "TimelimitRaw", "JobName", "Comment", "JobIDRaw",
)  # fmt: skip
START_S = 1_790_812_800  # 2026-10-01
MONTH_S = 31 * 86_400
SIZES = ((1, 1), (1, 2), (1, 4), (1, 8), (1, 8), (2, 16), (4, 32))  # nodes, GPUs


def write_sacct(path: Path, rows: int = ROWS, seed: int = 7) -> int:
    """Local time, `|` between fields, some nodes in brackets. Gives back the GPU-seconds."""
    dice = random.Random(seed)  # noqa: S311 - a shape, no secret
    total = 0
    with path.open("w", encoding="utf-8") as file:
        file.write("|".join(FIELDS) + "\n")
        for job in range(1, rows + 1):
            nodes, gpus = dice.choice(SIZES)
            start = START_S + dice.randrange(MONTH_S - 90_000)
            length = dice.randrange(1, 86_400)
            first = dice.randrange(1, 250)
            listed = f"gpu-{first:03d}" if nodes == 1 else f"gpu-[{first:03d}-{first + nodes - 1:03d}]"
            tres = (
                f"billing={gpus},cpu={8 * gpus},gres/gpu:h100={gpus},gres/gpu={gpus},mem={65536 * gpus}M,node={nodes}"
            )
            state = dice.choice(
                ("COMPLETED", "COMPLETED", "COMPLETED", "FAILED", "CANCELLED by 1000", "TIMEOUT", "PREEMPTED")
            )
            user, account = f"user{dice.randrange(300)}", f"team{dice.randrange(40)}"
            times = [instant_text(second).rstrip("Z") for second in (start - 60, start, start + length)]
            cells = (
                job, job, "lab", user, "users", account, "h100", "normal", "base", *times, length, "00:00:00", state, "0:0", nodes, listed,
                8 * gpus, tres, 1440, f"train-{job % 9973}", "", job,
            )  # fmt: skip
            file.write("|".join(map(str, cells)) + "\n")
            total += gpus * length
    return total


def slurm_1m(folder: Path) -> dict[str, Any]:
    """A million rows of sacct to usage and workloads."""
    path = folder / "sacct.psv"
    expected = write_sacct(path)
    clock = Clock()
    settings = {"name": "slurm", "kind": "slurm", "path": path.name}
    told = 0

    def run() -> Delivery:
        nonlocal told
        found = list(read(settings, folder, None))
        told = sum(isinstance(item, Progress) for item in found)
        last = found[-1]
        if not isinstance(last, Delivery):
            raise TypeError("the last item is the delivery")
        return last

    delivery = clock.time("read", run)
    usage = delivery.tables["usage"].filter(pc.field("meter") == "gpu")
    held = pc.sum(pc.multiply(usage["allocated"], pc.subtract(usage["end_s"], usage["start_s"]))).as_py()
    if held != expected * 504_000 or delivery.tables["workloads"].num_rows != ROWS:
        raise ValueError(f"{held} is not {expected * 504_000}")
    return {
        "rows": ROWS,
        "seconds": round(clock.cold("read"), 1),
        "peak_gb": round(peak_gb(), 2),
        "progress_told": told,
    }
