"""A source that names its cluster later: what it said of open months before is of that cluster, too. Closed months stay as they are."""

from collections.abc import Iterator
from zoneinfo import ZoneInfo

import pyarrow.compute as pc

from apportion.errors import ApportionError
from apportion.model.delivery import Delivery
from apportion.model.times import Interval, Period, local_day, months
from apportion.sources.clusters import SETTING, TABLES_OF_RESOURCES, state_cluster
from apportion.verbs.project import Project
from apportion.verbs.settings import Source

UTC_ZONE = ZoneInfo("UTC")


def relabel(project: Project, source: Source) -> int:
    """Rows of usage and capacity that state no cluster are delivered once more with the stanza's; how many there were."""
    cluster = source.settings.get(SETTING, "")
    spans = [span for name in TABLES_OF_RESOURCES if (span := span_without(project, source, name))] if cluster else []
    if not spans:
        return 0
    whole = Interval(min(span.start_s for span in spans), max(span.end_s for span in spans))
    return sum(relabel_window(project, source, window, cluster) for window in open_windows(project, whole))


def span_without(project: Project, source: Source, table: str) -> Interval | None:
    """From the first to the last row that states no cluster."""
    where = (pc.field("source") == source.name) & pc.field(SETTING).is_null()
    rows = project.books.scan(table, columns=["start_s", "end_s"], where=where)
    first, last = pc.min(rows["start_s"]).as_py(), pc.max(rows["end_s"]).as_py()
    return None if first is None else Interval(first, max(last, first + 1))


def open_windows(project: Project, whole: Interval) -> Iterator[Interval]:
    """The parts of a time that lie in months which nobody closed; months that follow each other together."""
    closed, zone = set(project.books.closed_periods()), zone_of(project)
    since: int | None = None
    for month in months(whole, zone):
        day = local_day(month.start_s, zone)
        if str(Period(day.year, day.month)) in closed:
            if since is not None and month.start_s > since:
                yield Interval(since, month.start_s)
            since = None
        elif since is None:
            since = max(whole.start_s, month.start_s)
    if since is not None and whole.end_s > since:
        yield Interval(since, whole.end_s)


def zone_of(project: Project) -> ZoneInfo:
    """A policy is not needed to read a source."""
    try:
        return ZoneInfo(project.policy.time_zone)
    except ApportionError:
        return UTC_ZONE


def relabel_window(project: Project, source: Source, window: Interval, cluster: str) -> int:
    """All that the source said of the window, in one delivery; nothing where every row has its cluster."""
    start, end = pc.field("start_s"), pc.field("end_s")
    inside = (start < window.end_s) & ((end > window.start_s) | (start >= window.start_s))
    own = inside & (pc.field("source") == source.name)
    tables = {name: project.books.scan(name, where=own) for name in TABLES_OF_RESOURCES}
    without = {name: rows[SETTING].null_count for name, rows in tables.items()}
    named = {name: rows for name, rows in tables.items() if without[name]}
    if named:
        project.books.ingest(state_cluster(Delivery(source.name, window, named, relabels=True), cluster))
    return sum(without.values())
