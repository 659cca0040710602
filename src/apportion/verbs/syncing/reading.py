"""Sources into the books, one after the other: one that fails is a row, and holds up only the months that it still owes something of."""

from collections.abc import Mapping

from apportion.books.rounds import NOTHING
from apportion.model.times import Interval, Period
from apportion.reports.words import counted
from apportion.sources.live import is_asked
from apportion.sources.pushed import KIND as PUSHED
from apportion.sources.registry import source_named
from apportion.verbs.due import due_windows
from apportion.verbs.health import freshness_of, title_of, windows_of
from apportion.verbs.ingest import Ingested, hull, ingest_one
from apportion.verbs.project import Project
from apportion.verbs.reserve import settle_reservations
from apportion.verbs.settings import Source
from apportion.verbs.syncing.under_way import Did, UnderWay

EVER = Interval(0, 2**62)
Owed = Mapping[str, tuple[Interval, ...]]  # by source, where it failed


def read_sources(at: UnderWay) -> Owed:
    project, owed = at.project, dict[str, tuple[Interval, ...]]()
    for source in project.sources:
        if source.name in project.settings.sync.leave_out:
            at.skip("ingest", source.name, "[sync] leaves it out")
        elif source.kind == PUSHED:
            at.skip("ingest", source.name, "it is pushed, not asked")
        elif not at.do("ingest", source.name, lambda source=source: taken(at, source)):  # type: ignore[misc]  # bound per turn
            owed[source.name] = still_owed(project, source)
    at.do("reservations", "", lambda: settled(project))
    at.do("health", "", lambda: fresh(project))
    return owed


def taken(at: UnderWay, source: Source) -> Did:
    found = ingest_one(at.project, source, None, at.step)
    return Did(said(found), found.changed) if found.changed else Did(said(found), outcome=NOTHING)


def said(found: Ingested) -> str:
    read = counted(found.deliveries, "delivery", "deliveries")
    words = [f"{found.changed:,} of {read} new" if found.changed else f"{read} read"]
    words += [f"{count:,} of {table.replace('_', ' ')}" for table, count in found.rows.items() if found.changed]
    words += [counted(len(found.problems), "row") + " with a problem"] if found.problems else []
    return ", ".join([*words, *([f"{found.quarantined:,} held back"] if found.quarantined else [])])


def settled(project: Project) -> Did:
    ended = settle_reservations(project)
    return Did(f"{counted(len(ended), 'reservation')} ended", len(ended)) if ended else Did("none ended", 0, NOTHING)


def fresh(project: Project) -> Did:
    """From the books alone; whoever wants to hear of late data is told so by a message."""
    windows = windows_of(project)
    return Did(title_of([freshness_of(source, windows.get(source.name, [])) for source in project.sources]))


def still_owed(project: Project, source: Source) -> tuple[Interval, ...]:
    """What a source that is asked did not bring yet. A file that cannot be read may be of any month, and so may what nobody can tell."""
    try:
        kind = source_named(source.kind, source.where)
        if is_asked(kind, source.settings):
            return tuple(due_windows(project, source, kind, None))
    except Exception:  # noqa: BLE001  # it failed a moment ago; why is told already
        return (EVER,)
    return (EVER,)


def owing(project: Project, owed: Owed, period: Period) -> list[str]:
    """Those of which something of a month is missing."""
    month = hull(project, [period]) or EVER
    return [
        name
        for name, windows in owed.items()
        if any(window.start_s < month.end_s and window.end_s > month.start_s for window in windows)
    ]
