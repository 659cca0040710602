"""Attempts that are not taken, and those that are taken on a guess: each is told, with what it held."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.delivery import Withheld
from apportion.model.month_parts import MonthParts
from apportion.sources.cells.text import rows_where
from apportion.sources.slurm.attempts import column
from apportion.sources.slurm.faults import LISTED, Faults
from apportion.sources.slurm.repeats import CONFLICT
from apportion.sources.slurm.spans import Spans
from apportion.sources.slurm.usage import Holding

SHOWN = ("task", "account", "user", "first_state", "nodelist", "alloctres", "start_s", "end_s")
NEAR_S = 1  # a second more or less is rounded
WHY = {
    "missing-resource": "the job ran and NodeList names no node; what it held is left out",
    "conflicting-rows": "other rows of that id and submission have another account, user or node; none of them is taken",
}


def tell_withheld(whole: pa.Table, held: list[Holding], when: Spans, months: MonthParts, faults: Faults) -> np.ndarray:
    """Which attempts are taken; of the others, why not and what they held in the window."""
    window = months.window
    withheld = whole["withheld"].combine_chunks()
    for row in rows_where(withheld.is_valid()):
        code = withheld[row].as_py()
        seconds = max(0, min(int(when.end[row]), window.end_s) - max(int(when.start[row]), window.start_s))
        mark = months.mark_at(int(when.start[row]))
        faults.job(whole["job"][row].as_py(), code, WHY[code], held[row].quantities(seconds), mark)
    return np.asarray(withheld.is_null())


def quarantined(whole: pa.Table) -> tuple[Withheld, ...]:
    """The first rows that contradict others, by their text, whatever order they came in."""
    rows = whole.filter(pc.fill_null(pc.equal(whole["withheld"], CONFLICT), fill_value=False))
    said = pa.table({name: column(rows, name) for name in SHOWN}).to_pylist()
    texts = (json.dumps(row, sort_keys=True, ensure_ascii=False) for row in said)
    found = sorted(zip(rows["id"].to_pylist(), texts, strict=True))
    return tuple(Withheld("usage", key, text) for key, text in found[:LISTED])


def tell_guesses(whole: pa.Table, held: list[Holding], months: MonthParts, faults: Faults) -> None:
    """Where times contradict each other: Start and End count. The hours are those in which they differ."""
    window, apart = months.window, whole["apart_s"].combine_chunks()
    start = whole["start_s"].combine_chunks()
    for row in rows_where(pc.greater(pc.abs(apart), NEAR_S)):
        more = apart[row].as_py()
        said = f"{abs(more)} s {'more' if more > 0 else 'less'} than ElapsedRaw and Suspended say; Start and End count"
        hours = held[row].quantities(min(abs(more), window.seconds))
        faults.job(
            whole["job"][row].as_py(),
            "elapsed-differs",
            f"from Start to End are {said}",
            hours,
            months.mark_at(start[row].as_py()),
        )
    submit = whole["submit_s"].combine_chunks()
    early = pc.and_(pc.less(start, submit), pc.greater(submit, window.start_s))
    for row in rows_where(early):
        seconds = min(submit[row].as_py(), window.end_s) - max(start[row].as_py(), window.start_s)
        message = f"it started {submit[row].as_py() - start[row].as_py()} s before it was submitted; Start counts"
        faults.job(
            whole["job"][row].as_py(),
            "start-before-submit",
            message,
            held[row].quantities(seconds),
            months.mark_at(start[row].as_py()),
        )
