"""Read sources into the books. Safe to repeat: the same delivery twice changes nothing, a later one of a window replaces it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from zoneinfo import ZoneInfo

from apportion.errors import ApportionError, Problem
from apportion.model.delivery import Delivery
from apportion.model.findings import JudgedFinding
from apportion.model.times import Interval, Period
from apportion.render.findings import findings_tables
from apportion.render.listing import Listing
from apportion.render.sheet import Sheet, Table
from apportion.reports.findings import findings_value
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.sources.clusters import SETTING, state_cluster
from apportion.sources.live import WHEN, Live, Progress, is_asked
from apportion.sources.pushed import KIND as PUSHED
from apportion.sources.pushed import read_cluster
from apportion.sources.registry import reader, source_named
from apportion.verbs.due import due_windows, shown
from apportion.verbs.findings import source_findings
from apportion.verbs.guessed_windows import settle_windows
from apportion.verbs.project import Project
from apportion.verbs.relabel import relabel
from apportion.verbs.reserve import settle_reservations
from apportion.verbs.settings import Source
from apportion.verbs.steps import Step, silent


@dataclass(frozen=True, slots=True)
class Ingested:
    """What one source brought. `changed` counts deliveries that were not already in the books."""

    source: str
    deliveries: int
    changed: int
    rows: dict[str, int]
    replaced: dict[str, int]
    quarantined: int
    problems: tuple[Problem, ...]
    relabelled: int = 0  # rows of open months that stated no cluster and are now of the stanza's
    findings: tuple[JudgedFinding, ...] = ()


def ingest(
    project: Project, names: Iterable[str] = (), periods: Iterable[Period] = (), step: Step = silent
) -> Listing[Ingested]:
    """Read usage and bills into the books; safe to repeat.

    All sources, or those named, over the months asked for (whole days of every time zone) or all they have.
    """
    sources = [project.source(name) for name in names] or list(project.sources)
    window = hull(project, list(periods))
    done = []
    for number, source in enumerate(sources):
        step(f"reading {source.name}", number, len(sources))
        done.append(ingest_one(project, source, window, step))
    settle_reservations(project)
    return Listing(done, lambda: ingest_sheet(done))


def ingest_one(project: Project, source: Source, window: Interval | None, step: Step) -> Ingested:
    """Delivery by delivery: what was taken in stays, so that whoever is interrupted goes on where it ended."""
    rows: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    problems: list[Problem] = []
    known: list[str] = []
    deliveries = changed = quarantined = 0
    for delivery in keeping(settle_windows(project, deliver(project, source, window, step))):
        receipt = project.books.ingest(delivery)
        deliveries += 1
        known.append(receipt.delivery_id)
        changed += receipt.changed
        rows.update(receipt.rows)
        replaced.update(receipt.replaced)
        quarantined += receipt.quarantined
        problems.extend(delivery.problems)
        step(f"reading {source.name}: {sum(rows.values()):,} rows", 0, 0)
    return Ingested(
        source.name,
        deliveries,
        changed,
        dict(sorted(rows.items())),
        dict(sorted(replaced.items())),
        quarantined,
        tuple(problems),
        relabel(project, source),
        source_findings(project, source.name, known),
    )


def deliver(
    project: Project, source: Source, window: Interval | None = None, step: Step = silent
) -> Iterator[Delivery]:
    """All that a file has, or the windows of a live source that are due, one after the other; of a pushed one nothing.

    Rows that name no cluster are of the one that the stanza names.
    """
    cluster = source.settings.get(SETTING, "")
    for delivery in read_deliveries(project, source, window, step):
        yield state_cluster(delivery, cluster)


def read_deliveries(project: Project, source: Source, window: Interval | None, step: Step) -> Iterator[Delivery]:
    if source.kind == PUSHED:
        read_cluster(source.settings)  # refuses what it does not know
        return
    kind = source_named(source.kind, source.where)
    settings = {key: value for key, value in source.settings.items() if key not in WHEN or not isinstance(kind, Live)}
    if not is_asked(kind, settings):
        yield from deliveries_of(reader(kind)(settings, project.folder, window), source.name, step, (0, 0, 0))
        return
    windows = due_windows(project, source, kind, window)
    total = sum(one.seconds for one in windows)
    done = 0
    for one in windows:
        step(f"reading {source.name}: {shown(one)}", done, total)
        yield from deliveries_of(
            kind.read(settings, project.folder, one), f"{source.name}: {shown(one)}", step, (done, one.seconds, total)
        )
        done += one.seconds


def deliveries_of(
    found: Iterator[Delivery | Progress], what: str, step: Step, span: tuple[int, int, int]
) -> Iterator[Delivery]:
    """The deliveries; progress in between is told, as seconds of the span (done before, its own, of all) where that is known."""
    before, own, total = span
    for item in found:
        if not isinstance(item, Progress):
            yield item
        elif own and item.total:
            step(f"reading {what} {item.what}".rstrip(), before + own * item.done // item.total, total)
        else:
            step(f"reading {what} {item.what}".rstrip(), item.done, item.total)


def keeping(found: Iterator[Delivery]) -> Iterator[Delivery]:
    """An error on the way says what was kept: whoever asks for the next delivery has taken in the one before."""
    kept = 0
    try:
        for delivery in found:
            yield delivery
            kept += 1
    except ApportionError as error:
        if kept:
            again = f"{counted(kept, 'delivery', 'deliveries')} before it were kept; ingest again goes on from there"
            error.hint = f"{error.hint}; {again}" if error.hint else again
        raise


def hull(project: Project, periods: list[Period]) -> Interval | None:
    """Months begin at the policy's midnight for usage and at the vendor's (mostly UTC) for bills: take both."""
    if not periods:
        return None
    try:
        zones = {ZoneInfo("UTC"), ZoneInfo(project.policy.time_zone)}
    except ApportionError:
        zones = {ZoneInfo("UTC")}  # a policy is not needed to read a source
    spans = [period.interval(zone) for period in periods for zone in zones]
    return Interval(min(span.start_s for span in spans), max(span.end_s for span in spans))


def ingest_sheet(done: Sequence[Ingested]) -> Sheet:
    columns = (
        Column("source", "source"),
        Column("deliveries", "deliveries", "count"),
        Column("changed", "new", "count"),
        Column("rows", "rows", "count"),
        Column("replaced", "replaced", "count"),
        Column("quarantined", "quarantined", "count"),
        Column("problems", "problems", "count"),
        Column("findings", "findings", "count"),
    )
    rows = tuple(
        (
            one.source,
            one.deliveries,
            one.changed,
            sum(one.rows.values()),
            sum(one.replaced.values()),
            one.quarantined,
            len(one.problems),
            len(one.findings),
        )
        for one in done
    )
    new = sum(one.changed for one in done)
    what = f"{counted(new, 'delivery', 'deliveries')} new" if new else "nothing was new"
    problems = [problem for one in done for problem in problems_told_alone(one)]
    found = [finding for one in done for finding in one.findings]
    value = {
        "sources": [{**vars_of(one), "findings": findings_value(one.findings)} for one in done],
        "findings": findings_value(found),
    }
    notes = tuple(f"{problem.where}: {problem.message} [{problem.code}]" for problem in problems[:5])
    renamed = tuple(
        f"{one.source}: {counted(one.relabelled, 'row')} of open months stated no cluster and now have the stanza's"
        for one in done
        if one.relabelled
    )
    more = (f"... and {len(problems) - 5} more problems: apportion check lists them",) if len(problems) > 5 else ()
    title = f"Read {counted(len(done), 'source')}: {what}."
    return Sheet(title, (Table(columns, rows), *findings_tables(found)), value, (*renamed, *notes, *more))


def problems_told_alone(one: Ingested) -> list[Problem]:
    """Those that none of its findings tells."""
    told = {judged.finding.code for judged in one.findings}
    return [problem for problem in one.problems if problem.code not in told]


def vars_of(one: Ingested) -> dict[str, object]:
    return {field.name: getattr(one, field.name) for field in fields(one)}
