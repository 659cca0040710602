"""One moment of a cluster as a delivery.

The API has no past. A delivery speaks for the last `reach_hours` before the moment that was looked at, and not for what lies before: a
later look knows less of it (what was deleted is gone), and must not replace what an earlier look said.
"""

from typing import Any

import pyarrow as pa

from apportion.errors import Problem
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.rows import TABLES
from apportion.model.times import Interval, instant_text
from apportion.sources.kubernetes.holdings import usage_rows
from apportion.sources.kubernetes.lives import pods_of
from apportion.sources.kubernetes.nodes import capacity_rows
from apportion.sources.kubernetes.objects import Moment
from apportion.sources.kubernetes.quotas import reservation_rows
from apportion.sources.kubernetes.settings import How
from apportion.sources.kubernetes.workloads import workload_rows

SKEW_S = 300  # two clocks that are this close are the same


def spoken_of(window: Interval, at_s: int, how: How) -> tuple[Interval, Interval]:
    """Which part of a window is too long ago to be spoken of, and which part is not."""
    until = window.end_s if window.end_s - at_s <= SKEW_S else at_s
    edge = min(max(at_s - how.reach_s, window.start_s), window.end_s)
    return Interval(window.start_s, edge), Interval(edge, max(edge, until))


def silence(window: Interval, how: How) -> Delivery:
    """Names no table, so that whatever the books have of the window stays."""
    what = f"{instant_text(window.start_s)} to {instant_text(window.end_s)}"
    problem = Problem(
        f"cluster {how.cluster}",
        "past-window",
        f"the Kubernetes API has no past: nothing was read of {what}, and what the books have of it stays",
    )
    return Delivery(how.source, window, {}, (problem,))


def delivery(moment: Moment, window: Interval, how: How, files: tuple[FileDigest, ...] = ()) -> Delivery:
    """Workloads that there still are, whenever they ran; of the window what the settings ask for."""
    moment = Moment(max(moment.at_s, window.end_s), moment.found, moment.problems)
    problems = list(moment.problems)
    pods = list(pods_of(moment, problems))
    rows: dict[str, list[dict[str, Any]]] = {"workloads": list(workload_rows(pods, moment, how))}
    if how.usage != "none":
        held = usage_rows(pods, moment, how, problems)
        rows["usage"] = [row for row in held if row["end_s"] > window.start_s]
    if how.capacity:
        rows["capacity"] = list(capacity_rows(moment, window, how, problems))
    if how.reservations:
        rows["reservations"] = list(reservation_rows(moment, window, how, problems))
    tables = {name: pa.Table.from_pylist(found, schema=TABLES[name]) for name, found in rows.items()}
    return Delivery(how.source, window, tables, tuple(problems), files)
