"""Batches that `apportion agent run` wrote on GPU nodes: energy and use of boards by job, pod or user.

A delivery a day (UTC), made of all batches that lie in the folder. A board's joules add up to its counter; what no batch tells
is `_unmeasured` and listed as estimated.
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.errors import ApportionError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, instant_text
from apportion.sources.agent.batches import Found, counted_once, read_file, together
from apportion.sources.agent.rows import Hours, add_spans, usage_table, workload_table
from apportion.sources.files.paths import input_files
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.settings import Stanza, stanza

SETTINGS = ("cluster",)
HOUR_S, HOURS_A_DAY = 3600, 24
SILENT_S = 600


def read(settings: Mapping[str, Any], base: Path, window: Interval | None) -> Iterator[Delivery | Progress]:
    """One delivery for each day of which a batch speaks; with a window, of its days only."""
    known, found, hours = stanza(settings, SETTINGS), Found(), Hours()
    files = input_files(known.text("path"), base, ("jsonl",), known.where)
    for group in together(files):
        for file in group:
            read_file(file, found)
            yield Progress(len(found.files), len(files), "batches")
        add_spans(hours, counted_once(found))
    for day in sorted({number // HOURS_A_DAY for _, number in hours}):
        whole = Interval(day * DAY_S, (day + 1) * DAY_S)
        part = whole if window is None else whole.clip(window)
        if part.seconds:
            yield delivery(known, found, day_of(hours, day), part)


def day_of(hours: Hours, day: int) -> Hours:
    return {key: hour for key, hour in hours.items() if key[1] // HOURS_A_DAY == day}


def delivery(known: Stanza, found: Found, hours: Hours, window: Interval) -> Delivery:
    name = known.text("name")
    day = window.start_s // DAY_S
    problems = tuple(problem for second, problem in found.problems if not second or second // DAY_S == day)
    tables = {"usage": usage_table(hours, found, name), "workloads": workload_table(hours, found, name)}
    return Delivery(name, window, tables, problems, tuple(found.files))


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Whether there are batches, which nodes fell silent, and what could not be read."""
    known, found = stanza(settings, SETTINGS), Found()
    try:
        for file in input_files(known.text("path"), base, ("jsonl",), known.where):
            read_file(file, found)
            found.spans.clear()
    except ApportionError as error:
        yield Sign(
            "wrong", f"{error.message} [{error.code}]", error.hint or "apportion agent run --spool DIR, on each node"
        )
        return
    now = int(time.time())
    silent = {node: second for node, second in found.newest_s.items() if now - second > SILENT_S}
    for node, second in sorted(silent.items()):
        yield Sign(
            "note",
            f"{node} wrote its last batch until {instant_text(second)}",
            f"on {node}: systemctl status apportion-agent",
        )
    if fresh := len(found.newest_s) - len(silent):
        yield Sign("ok", f"{fresh} of {len(found.newest_s)} nodes wrote in the last {SILENT_S // 60} minutes")
    if broken := sum(problem.code == "broken-batch" for _, problem in found.problems):
        yield Sign("note", f"{broken} lines are no whole batches", "copy the files from their nodes again")


STANZA = """\
[[sources]]
name = "agent"
kind = "agent"
path = "agent"  # the spools of the nodes, shared or copied here; `apportion agent run --spool DIR` writes them
"""
SOURCE = Live(read, probe, STANZA)
