"""What schedulers call an outcome or a node's state, in our words. Only the first word counts (`CANCELLED by 1000`), in any case."""

import re

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import OUTCOMES, STATES
from apportion.sources.cells.text import per_distinct, rows_where

OUTCOME_WORDS = {
    **{outcome: outcome for outcome in OUTCOMES},
    "succeeded": "completed", "success": "completed", "pass": "completed", "passed": "completed", "done": "completed", "ok": "completed",
    "error": "failed", "fail": "failed", "crashloopbackoff": "failed", "special_exit": "failed", "boot_fail": "node_fail",
    "canceled": "cancelled", "killed": "cancelled", "revoked": "cancelled", "terminated": "cancelled", "stopped": "cancelled",
    "deadline": "timeout", "deadlineexceeded": "timeout", "timed_out": "timeout",
    "oom": "out_of_memory", "oomkilled": "out_of_memory", "oom_killed": "out_of_memory",
    "evicted": "preempted", "preempting": "preempted", "interrupted": "preempted",
    "nodelost": "node_fail", "nodeshutdown": "node_fail", "node_failure": "node_fail",
    "pending": "running", "configuring": "running", "completing": "running", "suspended": "running", "resizing": "running", "active": "running",
}  # fmt: skip
STATE_WORDS = {
    **{state: state for state in STATES},
    "idle": "up", "alloc": "up", "allocated": "up", "mix": "up", "mixed": "up", "comp": "up", "completing": "up", "ready": "up", "reserved": "up",
    "drain": "drained", "draining": "drained", "drng": "drained", "maint": "drained", "cordoned": "drained", "schedulingdisabled": "drained",
    "fail": "down", "failed": "down", "failing": "down", "error": "down", "notready": "down", "unknown": "down", "no_respond": "down",
    "powering_up": "starting", "powering": "starting", "boot": "starting", "booting": "starting", "provisioning": "starting", "pending": "starting",
}  # fmt: skip
FIRST_WORD = re.compile(r"[A-Za-z0-9_]+")


def in_our_words(column: pa.Array, known: dict[str, str], otherwise: str) -> tuple[pa.Array, list[int]]:
    """Our word for each cell (null stays null) and the rows whose word nobody knows, which become `otherwise`."""
    found = per_distinct(column, lambda cells: pa.array([one(cell, known) for cell in cells.to_pylist()], pa.string()))
    unknown = rows_where(pc.and_(column.is_valid(), found.is_null()))
    return pc.if_else(pc.and_(column.is_valid(), found.is_null()), otherwise, found), unknown


def one(cell: str | None, known: dict[str, str]) -> str | None:
    if cell is None:
        return None
    if cell.casefold() in known:
        return known[cell.casefold()]
    word = FIRST_WORD.match(cell)
    return known.get(word[0].casefold()) if word else None
