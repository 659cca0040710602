"""A saved `sreport cluster AccountUtilizationByUser -t Seconds` as a second opinion: where Slurm's own sums are others, that is said.

Users are compared, not accounts: accounts hold the sums of those below them, and idle cores of their reservations.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa

from apportion.model.meters import METERS
from apportion.model.times import Interval
from apportion.sources.slurm.attempts import column
from apportion.sources.slurm.faults import Faults
from apportion.sources.slurm.spans import Spans
from apportion.sources.slurm.tables import instant, rows_of
from apportion.sources.slurm.usage import Holding

BOUNDS = re.compile(r"Account/User Utilization (\S+) - (\S+)")
METER = {"gres/gpu": "gpu", "cpu": "cpu"}
MOST = 5  # that are named
MILLI = 1000


@dataclass(frozen=True, slots=True)
class Report:
    """Seconds by meter, account and user."""

    window: Interval
    used: dict[tuple[str, str, str], int]


def report_of(text: str, zone: ZoneInfo) -> Report | None:
    """None for another report, or one that is not in seconds."""
    bounds = BOUNDS.search(text)
    start, end = (instant(bounds[place], zone) for place in (1, 2)) if bounds else (None, None)
    if start is None or end is None or "TRES Seconds" not in text:
        return None
    table = "\n".join(line for line in text.splitlines() if line.count("|") >= 5)
    rows = [row for row in rows_of(table) if row.get("login") and row.get("tresname") in METER]
    return Report(
        Interval(start, end + 1),
        {(METER[row["tresname"]], row["account"], row["login"]): int(row["used"]) for row in rows},
    )


def compare(reports: Iterable[Report], attempts: pa.Table, held: list[Holding], spans: Spans, faults: Faults) -> None:
    """Says by how much and whose; nothing is changed."""
    who = np.asarray(column(attempts, "account")), np.asarray(column(attempts, "user"))
    for report in reports:
        found = []
        for (meter, account, user), theirs in sorted(report.used.items()):
            ours = seconds(meter, (who[0] == account) & (who[1] == user), held, spans, report.window)
            if ours != theirs * MILLI:
                found.append(f"{meter} of {account}/{user}: {theirs} s there, {ours // MILLI} s here")
        if found:
            more = f", and {len(found) - MOST} more" if len(found) > MOST else ""
            faults.note("differs-from-sreport", "; ".join(found[:MOST]) + more)


def seconds(meter: str, own: np.ndarray, held: list[Holding], spans: Spans, window: Interval) -> int:
    """Thousandths of unit-seconds of some attempts inside the report's window."""
    ends = spans.end_of_cores if meter == "cpu" else spans.end
    total = 0
    for row in np.flatnonzero(own):
        length = min(int(ends[row]), window.end_s) - max(int(spans.start[row]), window.start_s)
        units = sum(amount for _, name, amount in held[row].rows if name == meter)
        total += max(0, length) * units * MILLI // METERS[meter].base
    return total
