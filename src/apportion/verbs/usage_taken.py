"""How much of each meter sources brought, beside which a finding's hours are held."""

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.meters import METERS
from apportion.model.times import Interval
from apportion.verbs.project import Project
from apportion.verbs.world import touches

FLOWS = pa.array(sorted(name for name, meter in METERS.items() if meter.flow))


def usage_taken(project: Project, sources: Sequence[str], window: Interval) -> dict[tuple[str, str], int]:
    """Of a source that measures no use, what it states of capacity."""
    columns = ["source", "meter", "start_s", "end_s"]
    where = touches(window) & pc.field("source").isin(pa.array(sources, pa.string()))
    used = usage_by_meter(project.books.scan("usage", columns=[*columns, "allocated", "used"], where=where), window)
    offered = project.books.scan("capacity", columns=[*columns, "amount"], where=where)
    return used | capacity_by_meter(offered, window, used)


def capacity_by_meter(
    rows: pa.Table, window: Interval, known: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], int]:
    """The same of capacity, where nothing is known of a source and meter."""
    amounts = {"allocated": rows["amount"], "used": pa.nulls(len(rows), rows["amount"].type)}
    names = ["source", "meter", "start_s", "end_s"]
    found = usage_by_meter(pa.table({name: rows[name] for name in names} | amounts), window)
    return {key: units for key, units in found.items() if key not in known}


def usage_by_meter(rows: pa.Table, window: Interval) -> dict[tuple[str, str], int]:
    """Base units (times seconds inside the window, of levels) by source and meter."""
    start = pc.max_element_wise(rows["start_s"], window.start_s)
    seconds = pc.max_element_wise(pc.subtract(pc.min_element_wise(rows["end_s"], window.end_s), start), 0)
    lasting = pc.if_else(pc.is_in(rows["meter"], value_set=FLOWS), 1, seconds)
    amount = pc.max_element_wise(rows["allocated"], rows["used"])
    table = pa.table({"source": rows["source"], "meter": rows["meter"], "amount": amount, "lasting": lasting})
    names = ["source", "meter", "amount", "lasting"]
    found: Counter[tuple[str, str]] = Counter()
    for row in table.group_by(names).aggregate([([], "count_all")]).to_pylist():
        found[row["source"], row["meter"]] += (row["amount"] or 0) * row["lasting"] * row["count_all"]
    return dict(found)
