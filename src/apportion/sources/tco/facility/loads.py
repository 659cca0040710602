"""How much a node or a site draws, in kW: measured by meters, or modelled between its idle and its full watts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

from apportion.errors import Problem, ProjectError
from apportion.model.delivery import FileDigest
from apportion.model.times import Interval, instant_text
from apportion.sources.tco.facility.frames import Folder, Frame, by_key, read_frames, refuse_gaps
from apportion.sources.tco.facility.sections import Section
from apportion.sources.tco.facility.steps import Step, Steps, in_order

HOUR_S = 3600
WATTS = 1000
MEASURED = ("path", "weights")
MODELLED = ("idle_watts", "full_watts", "utilisation")
KWH = {"kwh": Fraction(1), "wh": Fraction(1, 1000), "mwh": Fraction(1000), "joules": Fraction(1, 3_600_000)}
SHARE = {"utilisation": Fraction(1), "utilization": Fraction(1), "percent": Fraction(1, 100)}
Reading = tuple[str, Step, str]
Shown = tuple[int, Fraction, int]  # when, what a counter showed, and in which row


@dataclass(frozen=True, slots=True)
class Measured:
    """Of each node (`whole` is False; what cools them comes on top), or of the whole site (its cooling is in it already)."""

    by_name: Mapping[str, Steps]
    whole: bool
    problems: tuple[Problem, ...] = ()
    files: tuple[FileDigest, ...] = ()
    weights: Mapping[str, Fraction] | None = None
    estimated = False

    @property
    def names(self) -> frozenset[str]:
        """The nodes that it knows by name."""
        return frozenset() if self.whole else frozenset(self.by_name)

    @property
    def known_until(self) -> int | None:
        """When the last of all readings ends."""
        return max((steps.end_s for steps in self.by_name.values()), default=None)

    def load(self, name: str, span: Interval) -> Steps:
        return Steps(tuple(self.by_name.get(name, Steps()).over(span)))

    def doubts(self, name: str, span: Interval) -> Iterator[Problem]:
        """Hours without a reading count nothing, and are listed."""
        gaps = list(self.by_name.get(name, Steps()).gaps(span))
        if gaps:
            hours = sum(gap.seconds for gap in gaps) / HOUR_S
            message = f"no reading for {hours:,.1f} h, first from {instant_text(gaps[0].start_s)}; they count 0 kWh"
            yield Problem(name, "energy-not-measured", message)


@dataclass(frozen=True, slots=True)
class Modelled:
    """Between idle and full watts, in proportion to the utilisation: a stated one, or one by node and hour."""

    idle: Mapping[str, Fraction]
    full: Mapping[str, Fraction]
    stated: Fraction | None
    by_name: Mapping[str, Steps]
    files: tuple[FileDigest, ...] = ()
    where: str = ""
    whole = False
    estimated = True
    weights = None
    problems: tuple[Problem, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.by_name)

    @property
    def known_until(self) -> int | None:
        return max((steps.end_s for steps in self.by_name.values()), default=None)

    def load(self, name: str, span: Interval) -> Steps:
        idle, full = (chosen(watts, name, self.where) for watts in (self.idle, self.full))
        return in_order(
            step._replace(value=(idle + (full - idle) * step.value) / WATTS) for step in self.used(name, span)
        )

    def used(self, name: str, span: Interval) -> Iterator[Step]:
        known = self.by_name.get(name, Steps())
        if self.stated is None:
            refuse_gaps(known, span, f"utilisation of {name}", self.where)
        yield from known.over(span)
        yield from (Step(gap.start_s, gap.end_s, self.stated or Fraction(0)) for gap in known.gaps(span))

    def doubts(self, name: str, span: Interval) -> Iterator[Problem]:
        seconds = sum(gap.seconds for gap in self.by_name.get(name, Steps()).gaps(span))
        if self.by_name and seconds and self.stated is not None:
            message = f"no utilisation for {seconds / HOUR_S:,.1f} h; {float(self.stated):g} is taken for them"
            yield Problem(name, "estimated", message)


def chosen(numbers: Mapping[str, Fraction], name: str, where: str) -> Fraction:
    """The node's own number, else that of the first glob that it matches."""
    found = numbers.get(name) or next((value for glob, value in numbers.items() if fnmatchcase(name, glob)), None)
    if found is None:
        raise ProjectError(
            "no-weight", f"nothing is stated for node {name}", where=where, hint='add it, or "*" for all others'
        )
    return found


def read_modelled(found: Section, folder: Folder, zone: ZoneInfo) -> Modelled:
    idle, full = (watts_of(found, key) for key in ("idle_watts", "full_watts"))
    given = found.cells.get("utilisation", 1)
    if not isinstance(given, Mapping):
        return Modelled(
            idle,
            full,
            share(found.number("utilisation") if "utilisation" in found.cells else Fraction(1), found),
            {},
            where=found.where,
        )
    inner = found.inside("utilisation", ("path", "fallback", "minutes"))
    frames, files = read_frames(inner.text("path"), folder, inner.where)
    stated = share(inner.number("fallback"), inner) if "fallback" in inner.cells else None
    minutes = int(inner.number("minutes", 1)) if "minutes" in inner.cells else 60
    rows = (row for frame in frames for row in utilisation(frame, zone, minutes))
    return Modelled(idle, full, stated, by_key(rows), files, found.where)


def watts_of(found: Section, key: str) -> dict[str, Fraction]:
    given = found.cells.get(key)
    return found.numbers(key) if isinstance(given, Mapping) else {"*": found.number(key)}


def share(value: Fraction, found: Section) -> Fraction:
    if value > 1:
        raise found.refuse("utilisation", "a part of 1, such as 0.6")
    return value


def utilisation(frame: Frame, zone: ZoneInfo, minutes: int) -> Iterator[Reading]:
    spans, values = frame.spans(zone, minutes), frame.one_of(SHARE, "the utilisation")
    for row, (name, span, value) in enumerate(zip(frame.texts("node"), spans, values, strict=True)):
        if not 0 <= value <= 1:
            raise frame.refuse(row, "invalid-number", f"a utilisation of {float(value):g} is not between 0 and 1")
        yield name, Step(span.start_s, span.end_s, value), frame.sheet.where(row)


def read_measured(found: Section, folder: Folder, zone: ZoneInfo, site: str) -> Measured:
    """Rows `node,start,end,kWh`, or `site` for `node`; with `at` instead of both times the readings are of a counter."""
    frames, files = read_frames(found.text("path"), folder, found.where)
    whole = {frame.has("site") and not frame.has("node") for frame in frames}
    if len(whole) > 1:
        raise ProjectError(
            "energy-priced-twice",
            "some files are of nodes and others of the whole site: the same kWh would count twice",
            where=found.where,
            hint="name the files of one kind only",
        )
    key = "site" if whole == {True} else "node"
    problems: list[Problem] = []
    rows = [row for frame in frames for row in readings(frame, key, zone, problems)]
    by_name = by_key(row for row in rows if key == "node" or row[0] in ("", site))
    weights = found.numbers("weights") if "weights" in found.cells else None
    named = {"": by_name.get(site, by_name.get("", Steps()))} if key == "site" else by_name
    return Measured(named, key == "site", tuple(problems), files, weights)


def readings(frame: Frame, key: str, zone: ZoneInfo, problems: list[Problem]) -> Iterator[Reading]:
    """In kW, even over the time between."""
    kwh = frame.one_of(KWH, "the energy")
    for row, value in enumerate(kwh):
        if value < 0:
            raise frame.refuse(row, "negative-amount", "energy cannot be negative")
    if frame.has("at"):
        yield from counted(frame, key, zone, problems)
        return
    for row, (name, span, value) in enumerate(zip(frame.texts(key), frame.spans(zone, 60), kwh, strict=True)):
        yield name, Step(span.start_s, span.end_s, value * HOUR_S / span.seconds), frame.sheet.where(row)


def counted(frame: Frame, key: str, zone: ZoneInfo, problems: list[Problem]) -> Iterator[Reading]:
    """A counter that falls was set back to 0: what it shows then was drawn since; what it had drawn before that nobody read is not known."""
    rows = zip(frame.texts(key), frame.seconds("at", zone), frame.one_of(KWH, "the energy"), strict=True)
    by_name: dict[str, list[Shown]] = defaultdict(list)
    for row, (name, second, value) in enumerate(rows):
        by_name[name].append((second, value, row))
    for name, found in by_name.items():
        for first, last in pairwise(sorted(found)):
            step, where = between(frame, name, first, last), frame.sheet.where(last[2])
            if last[1] < first[1]:
                fell = f"the counter of {name} fell before {instant_text(last[0])}"
                problems.append(Problem(where, "counter-reset", f"{fell}; what it shows counts since its reset"))
            if step:
                yield name, step, where


def between(frame: Frame, name: str, first: Shown, last: Shown) -> Step | None:
    """What was drawn from one reading to the next; nothing between two that are one."""
    (start_s, before, _), (end_s, after, row) = first, last
    if end_s > start_s:
        drawn = after - before if after >= before else after
        return Step(start_s, end_s, drawn * HOUR_S / (end_s - start_s))
    if after != before:
        raise frame.refuse(row, "rows-overlap", f"two readings of {name} at {instant_text(end_s)} differ")
    return None
