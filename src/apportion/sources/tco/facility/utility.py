"""Bills of the utility: the amount is the money, and spreads evenly over the time that it is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple
from zoneinfo import ZoneInfo

from apportion.model.delivery import FileDigest
from apportion.model.money import ATTO, NANO
from apportion.model.times import Interval
from apportion.sources.tco.facility.frames import Folder, by_key, read_frames
from apportion.sources.tco.facility.loads import HOUR_S, KWH
from apportion.sources.tco.facility.sections import Section
from apportion.sources.tco.facility.steps import Step, Steps

BILL = ("path", "weights")


class Invoice(NamedTuple):
    span: Interval
    kwh: Fraction
    amount: Fraction

    def until(self, second: int) -> Fraction:
        """What of the amount was due by then, in whole nanos unless it is finer itself: differences between any instants add up to it."""
        passed = min(max(second - self.span.start_s, 0), self.span.seconds)
        unit = NANO if (self.amount * NANO).denominator == 1 else ATTO
        return Fraction(floor(self.amount * unit * passed / self.span.seconds), unit)


@dataclass(frozen=True, slots=True)
class Billed:
    invoices: tuple[Invoice, ...]
    files: tuple[FileDigest, ...] = ()
    weights: Mapping[str, Fraction] | None = None
    whole = True
    estimated = False
    problems = ()
    names: frozenset[str] = frozenset()

    @property
    def known_until(self) -> int | None:
        return max((one.span.end_s for one in self.invoices), default=None)

    def load(self, _: str, span: Interval) -> Steps:
        steps = (Step(one.span.start_s, one.span.end_s, one.kwh * HOUR_S / one.span.seconds) for one in self.invoices)
        return Steps(tuple(Steps(tuple(steps)).over(span)))

    def doubts(self, _: str, __: Interval) -> tuple[()]:
        return ()

    def money(self, span: Interval) -> Fraction:
        return sum((one.until(span.end_s) - one.until(span.start_s) for one in self.invoices), Fraction(0))


def read_billed(found: Section, folder: Folder, zone: ZoneInfo) -> Billed:
    """`start,end,kWh,amount`. Bills that overlap are refused: the same kWh would be paid twice."""
    frames, files = read_frames(found.text("path"), folder, found.where)
    invoices = []
    places = []
    for frame in frames:
        spans, kwh, amounts = frame.spans(zone, 0), frame.one_of(KWH, "the energy"), frame.numbers("amount")
        for row, cells in enumerate(zip(spans, kwh, amounts, strict=True)):
            invoices.append(Invoice(*cells))
            places.append(("", Step(cells[0].start_s, cells[0].end_s, Fraction(row)), frame.sheet.where(row)))
    by_key(places)
    weights = found.numbers("weights") if "weights" in found.cells else None
    return Billed(tuple(sorted(invoices)), files, weights)
