"""What a kWh costs and when; what the highest load of a month and the connection cost beside it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from apportion.model.delivery import FileDigest
from apportion.model.times import Interval
from apportion.sources.tco.facility.frames import Folder, by_key, read_frames, refuse_gaps
from apportion.sources.tco.facility.schedule import Schedule, read_schedule
from apportion.sources.tco.facility.sections import section
from apportion.sources.tco.facility.steps import Step, Steps

TARIFF = ("prices", "path", "minutes", "demand", "demand_minutes", "fee")
PRICES = {"price": Fraction(1), "price_per_kwh": Fraction(1), "price_per_mwh": Fraction(1, 1000)}


@dataclass(frozen=True, slots=True)
class Tariff:
    """`demand` per kW of the month's highest load, averaged over so many minutes; `fee` per month."""

    stated: Schedule | None
    table: Steps
    where: str
    demand: Fraction = Fraction(0)
    minutes: int = 15
    fee: Fraction = Fraction(0)
    files: tuple[FileDigest, ...] = ()

    @property
    def word(self) -> str:
        if self.stated is None:
            return ", hourly prices"
        return ", time of use" if self.stated.by_hour else ""

    def prices(self, span: Interval) -> Steps:
        found = self.stated.steps(span) if self.stated else Steps(tuple(self.table.over(span)))
        refuse_gaps(found, span, "price of a kWh", self.where)
        return found


def read_tariff(found: Any, folder: Folder, zone: ZoneInfo, where: str) -> Tariff:
    """A price; a list of prices by day and hour; or a table with `prices` or the `path` of hourly ones."""
    if not isinstance(found, dict):
        return Tariff(read_schedule(found, zone, where, word="price", least=None), Steps(), where)
    part = section(found, TARIFF, where)
    if ("path" in found) == ("prices" in found):
        raise part.refuse("path", "given, or prices, and not both")
    demand, fee = (part.number(key) if key in found else Fraction(0) for key in ("demand", "fee"))
    minutes = int(part.number("demand_minutes", 1)) if "demand_minutes" in found else 15
    if "prices" in found:
        stated = read_schedule(found["prices"], zone, f"{where}.prices", word="price", least=None)
        return Tariff(stated, Steps(), where, demand, minutes, fee)
    frames, files = read_frames(part.text("path"), folder, where)
    long = int(part.number("minutes", 1)) if "minutes" in found else 60
    rows = [
        ("", Step(span.start_s, span.end_s, price), frame.sheet.where(row))
        for frame in frames
        for row, (span, price) in enumerate(
            zip(frame.spans(zone, long), frame.one_of(PRICES, "the price"), strict=True)
        )
    ]
    return Tariff(None, by_key(rows)[""], where, demand, minutes, fee, files)
