"""How many grams of CO2e a kWh stands for: stated, or by region and hour from a table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.model.times import Interval
from apportion.sources.settings import nearest
from apportion.sources.tco.facility.frames import Folder, Frame, by_key, read_frames, refuse_gaps
from apportion.sources.tco.facility.schedule import Schedule, read_schedule
from apportion.sources.tco.facility.sections import Section
from apportion.sources.tco.facility.steps import Step, Steps

CARBON = ("g_per_kwh", "path", "region", "fallback", "minutes")
GRAMS = {"g_per_kwh": Fraction(1), "kg_per_mwh": Fraction(1), "kg_per_kwh": Fraction(1000)}
TIMES = ("start", "end", "region")


@dataclass(frozen=True, slots=True)
class Intensity:
    """`known` where a table or a schedule says so; elsewhere the fallback is taken and called an estimate."""

    stated: Schedule | None
    table: Steps
    fallback: Fraction | None
    where: str
    files: tuple[FileDigest, ...] = ()

    def known(self, span: Interval) -> Steps:
        found = self.stated.steps(span) if self.stated else Steps(tuple(self.table.over(span)))
        if self.fallback is None:
            refuse_gaps(found, span, "carbon intensity", self.where)
        return found

    def guessed(self, span: Interval) -> Steps:
        gaps = self.known(span).gaps(span) if self.fallback is not None else ()
        return Steps(tuple(Step(gap.start_s, gap.end_s, self.fallback or Fraction(0)) for gap in gaps))


def read_intensity(found: Section, folder: Folder, zone: ZoneInfo, region: str) -> Intensity:
    fallback = found.number("fallback") if "fallback" in found.cells else None
    if ("path" in found.cells) == ("g_per_kwh" in found.cells):
        raise found.refuse("path", "given, or g_per_kwh, and not both")
    if "g_per_kwh" in found.cells:
        stated = read_schedule(found.cells["g_per_kwh"], zone, f"{found.where}.g_per_kwh", word="value")
        return Intensity(stated, Steps(), fallback, found.where)
    frames, files = read_frames(found.text("path"), folder, found.where)
    minutes = int(found.number("minutes", 1)) if "minutes" in found.cells else 60
    tables = by_key(row for frame in frames for row in rows_of(frame, zone, minutes))
    wanted = found.text("region", region)
    return Intensity(None, of_region(tables, wanted, found.where), fallback, found.where, files)


def of_region(tables: Mapping[str, Steps], region: str, where: str) -> Steps:
    """A table of one region needs no name."""
    if region in tables or (not region and len(tables) == 1):
        return tables[region] if region in tables else next(iter(tables.values()))
    raise InputError("unknown-region", f"the table has no region {region!r}", where=where, hint=nearest(region, tables))


def rows_of(frame: Frame, zone: ZoneInfo, minutes: int) -> Iterator[tuple[str, Step, str]]:
    """Long: a row for each region and hour. Wide: a column for each region."""
    spans = frame.spans(zone, minutes)
    columns: list[tuple[list[str], list[Fraction | None]]]
    if any(frame.has(name) for name in GRAMS):
        regions = frame.texts("region") if frame.has("region") else [""] * len(spans)
        columns = [(regions, [*frame.one_of(GRAMS, "the intensity")])]
    else:
        names = [name for name in frame.sheet.header if name.casefold() not in TIMES]
        columns = [([name] * len(spans), frame.known(name.casefold())) for name in names]
    for regions, values in columns:
        for row, (name, span, value) in enumerate(zip(regions, spans, values, strict=True)):
            if value is None:  # an hour that the table does not know
                continue
            if value < 0:
                raise frame.refuse(row, "negative-amount", "an intensity cannot be negative")
            yield name, Step(span.start_s, span.end_s, value), frame.sheet.where(row)
