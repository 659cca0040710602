"""When attempts hold what they hold: ends of what still runs, runaway jobs, and time in which a job was suspended.

Slurm keeps the GPUs and the memory of a suspended job for it and gives its cores to others. sreport and sacct's Elapsed leave suspended time out. How
long a job was suspended is recorded, when is not, so those seconds are taken from its end (or from the end of its part of a window).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import SECOND
from apportion.model.times import Interval
from apportion.sources.cells.text import rows_where
from apportion.sources.slurm.faults import Faults
from apportion.sources.slurm.settings import FREE, How

Suspended = Mapping[tuple[str, int], int]  # seconds inside the window, by job id and time of submission


@dataclass(frozen=True, slots=True)
class Spans:
    """First second, and the end by meter: cores are given away while a job is suspended."""

    start: np.ndarray
    end: np.ndarray
    end_of_cores: np.ndarray

    def of(self, rows: np.ndarray) -> "Spans":
        return Spans(self.start[rows], self.end[rows], self.end_of_cores[rows])


def ended(whole: pa.Table, window: Interval, how: How, faults: Faults) -> pa.Table:
    """What still runs counts until the accounting was asked or the window ends, whichever is first; a runaway job until its time limit and the grace."""
    running = whole["end_s"].is_null()
    if not pc.any(running, min_count=0).as_py():
        return whole
    until = pc.min_element_wise(pc.fill_null(whole["told_s"], window.end_s), window.end_s)
    limit = pc.add(pc.add(whole["start_s"], whole["limit_s"]), pc.add(whole["suspended_s"], how.grace_s))
    runaway = pc.and_(running, pc.fill_null(pc.less(limit, until), fill_value=False))
    for row in rows_where(runaway.combine_chunks()):
        over = (until[row].as_py() - limit[row].as_py() + how.grace_s) // 60
        message = f"it is said to run {over} minutes beyond its time limit; only its limit and the grace are counted"
        faults.job(whole["job"][row].as_py(), "runaway-job", message)
    end = pc.coalesce(whole["end_s"], pc.if_else(runaway, limit, until))
    end = pc.max_element_wise(end, whole["start_s"])
    return whole.set_column(whole.column_names.index("end_s"), "end_s", end.cast(SECOND))


def spans(whole: pa.Table, window: Interval, how: How, known: Suspended, faults: Faults) -> Spans:
    """`known` are suspended seconds inside the window, where Slurm could be asked for them."""
    start, end = np.asarray(whole["start_s"]).copy(), np.asarray(whole["end_s"]).copy()
    suspended = np.asarray(whole["suspended_s"]).copy()
    touched = np.flatnonzero(suspended > 0)
    guessed = 0
    for row in touched:
        key = (whole["job"][int(row)].as_py(), whole["submit_s"][int(row)].as_py())
        if key in known:
            start[row], end[row] = max(start[row], window.start_s), min(end[row], window.end_s)
            suspended[row] = known[key]
        guessed += key not in known
    if guessed:
        faults.note(
            "estimated",
            f"suspended jobs: {guessed}, for {int(suspended[touched].sum())} s in all; when is not recorded, so these seconds are taken from their ends",
        )
    running = np.maximum(start, end - suspended)
    return Spans(start, running if how.suspended == FREE else np.maximum(start, end), running)
