"""Levels between reports: each is held until the next report that speaks of it, which may say that it is gone."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from apportion.errors import InputError, Problem
from apportion.model.times import instant_text
from apportion.sources.storage.report import Level, Part, Size

HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Report:
    name: str
    at_s: int
    parts: tuple[Part, ...] = ()
    sizes: tuple[Size, ...] = ()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a level is held without a word: surely, and at most (listed as estimated)."""

    hold_s: int
    bridge_s: int


@dataclass(frozen=True, slots=True)
class Held:
    """One level from one second to another; `last` where no later report speaks of it."""

    level: Level
    start_s: int
    end_s: int
    last: bool


CAPACITY = "capacity"  # the kind of owner under which a volume's own size is kept
View = tuple[str, str]  # volume and kind of owner
Key = tuple[str, str]  # name and tier


@dataclass
class Samples:
    """What was said of one view, by time."""

    whole: dict[int, str]
    levels: dict[Key, dict[int, tuple[Level, str]]]


def sampled(reports: Iterable[Report]) -> dict[View, Samples]:
    found: dict[View, Samples] = defaultdict(lambda: Samples({}, defaultdict(dict)))
    for report in reports:
        sizes = (Part(size.volume, CAPACITY, (Level("", size.amount),)) for size in report.sizes)
        for part in (*report.parts, *sizes):
            samples = found[part.volume, part.kind]
            if part.whole:
                samples.whole[report.at_s] = report.name
            for level in part.levels:
                add(samples, level, report, part)
    return found


def add(samples: Samples, level: Level, report: Report, part: Part) -> None:
    times = samples.levels[level.name, level.tier]
    if report.at_s in times:
        raise InputError(
            "same-report-twice",
            f"{part.kind} {level.name} of {part.volume} has two levels at {instant_text(report.at_s)}: "
            f"in {times[report.at_s][1]} and in {report.name}",
            where=report.name,
            hint="remove one of the files, or put the time of each into its name",
        )
    times[report.at_s] = (level, report.name)


def holding(samples: Samples, patience: Patience) -> Iterator[tuple[Key, list[Held]]]:
    """Of each name, equal levels that follow each other joined into one."""
    whole = sorted(samples.whole)
    for key in sorted(samples.levels):
        times = samples.levels[key]
        spans: list[Held] = []
        for at_s, after in words(times, whole, samples):
            until = at_s + patience.hold_s if after is None else min(after, at_s + patience.bridge_s)
            spans.append(Held(times[at_s][0], at_s, until, after is None))
        yield key, list(joined(spans))


def words(times: Mapping[int, object], whole: list[int], samples: Samples) -> Iterator[tuple[int, int | None]]:
    """Each time at which a name was seen, with the next at which a report speaks of it: one that lists it, or one that lists all."""
    marks = whole if all(at_s in samples.whole for at_s in times) else sorted({*whole, *times})
    for at_s in sorted(times):
        place = bisect_right(marks, at_s)
        yield at_s, marks[place] if place < len(marks) else None


def joined(spans: Iterable[Held]) -> Iterator[Held]:
    before: Held | None = None
    for span in spans:
        if before and before.level == span.level and before.end_s == span.start_s:
            before = Held(span.level, before.start_s, span.end_s, span.last)
        else:
            if before:
                yield before
            before = span
    if before:
        yield before


def silences(view: View, samples: Samples, patience: Patience) -> Iterator[tuple[int, Problem]]:
    """Times without a report that are longer than a level is surely held, by when they begin."""
    volume, kind = view
    found: dict[tuple[int, int, str], int] = defaultdict(int)
    whole = sorted(samples.whole)
    for times in samples.levels.values():
        for at_s, after in words(times, whole, samples):
            if after is not None and after - at_s > patience.hold_s:
                found[at_s, after, times[at_s][1]] += 1
    for (at_s, after, name), count in sorted(found.items()):
        until = min(after, at_s + patience.bridge_s)
        lost = "" if until == after else "; after that they are not counted"
        yield (
            at_s,
            Problem(
                name,
                "estimated",
                f"no report of {volume} from {instant_text(at_s)} to {instant_text(after)} ({(after - at_s) // HOUR_S} h): "
                f"the {count} levels by {kind} are held until {instant_text(until)}{lost}",
            ),
        )
