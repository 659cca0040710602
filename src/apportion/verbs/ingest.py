"""Read sources into the books. Safe to repeat: the same delivery twice changes nothing, a later one of a window replaces it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from apportion.errors import ApportionError, Problem
from apportion.model.delivery import Delivery
from apportion.model.times import Interval, Period
from apportion.sources.registry import source_named
from apportion.verbs.project import Project
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


def ingest(
    project: Project, names: Iterable[str] = (), periods: Iterable[Period] = (), step: Step = silent
) -> list[Ingested]:
    """All sources, or those named, over the months asked for (whole days of every time zone) or all they have."""
    sources = [project.source(name) for name in names] or list(project.settings.sources)
    window = hull(project, list(periods))
    done = []
    for number, source in enumerate(sources):
        step(f"reading {source.name}", number, len(sources))
        done.append(ingest_one(project, source, window, step))
    return done


def ingest_one(project: Project, source: Source, window: Interval | None, step: Step) -> Ingested:
    rows: Counter[str] = Counter()
    replaced: Counter[str] = Counter()
    problems: list[Problem] = []
    deliveries = changed = quarantined = 0
    for delivery in deliver(project, source, window):
        receipt = project.books.ingest(delivery)
        deliveries += 1
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
    )


def deliver(project: Project, source: Source, window: Interval | None) -> Iterator[Delivery]:
    yield from source_named(source.kind, source.where)(source.settings, project.folder, window)


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
