"""Energy and carbon as they were shared: kWh and grams stand in the record beside money, in bills of their own, and are summed the same way."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import CARBON, ENERGY, ESTIMATED, is_estimated
from apportion.reports.groups import DIMENSIONS, first_column, name_of, system_rank
from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import grouped, section, share_of, side_of, total
from apportion.reports.words import counted, hours, percent

KILO = 1000
COLUMNS = (
    Column("energy", "energy kWh", "quantity"),
    Column("carbon", "carbon kg", "quantity"),
    Column("idle", "for idle capacity kg", "quantity", quiet=True),
    Column("intensity", "g per kWh", "quantity"),
    Column("estimated", "estimated", "share"),
    Column("amount", "amount", "money"),
    Column("share", "share", "share"),
)
NOTHING = (
    "a site of the source `tco` counts it where it has a `carbon` table, and a bill in gCO2e brings what a vendor says"
)


@dataclass(slots=True)
class Emitted:
    """`metered` are the grams of bills that also say their kWh: only those have an intensity."""

    kwh: list[Decimal] = field(default_factory=list)
    grams: list[Decimal] = field(default_factory=list)
    idle: list[Decimal] = field(default_factory=list)
    estimated: list[Decimal] = field(default_factory=list)
    metered: list[Decimal] = field(default_factory=list)

    def cells(self, whole: Decimal) -> dict[str, Cell]:
        kwh, grams = total(self.kwh), total(self.grams)
        return {
            "energy": places(Fraction(kwh)) if self.kwh else None,
            "carbon": places(Fraction(grams) / KILO),
            "idle": places(Fraction(total(self.idle)) / KILO),
            "intensity": places(Fraction(total(self.metered)) / Fraction(kwh)) if kwh and self.metered else None,
            "estimated": share_of(total(self.estimated), grams),
            "amount": grams,
            "share": share_of(grams, whole),
        }


def carbon(record: Record, by: str = "team") -> Report:
    posted = record.posted.filter(pc.is_in(record.posted["currency"], pa.array([CARBON, ENERGY])))
    columns = (first_column(by), *COLUMNS)
    groups, whole = _groups(posted, by), _add(posted, {})[""]
    bill = total(whole.grams)
    order = sorted(groups, key=lambda name: (system_rank(name), -total(groups[name].grams), name))
    rows = [{columns[0].name: name, **groups[name].cells(bill)} for name in order]
    made = section(CARBON, bill, columns, rows)
    foot = whole.cells(bill)
    sections = (replace(made, totals=tuple(foot.get(column.name) for column in columns)),) if rows else ()
    title = _title(record.period, whole, posted) if rows else f"No carbon is posted for {record.period}: {NOTHING}."
    return Report("carbon", title, record.period, columns, sections, record.head, record.policies, more={"by": by})


def _groups(posted: pa.Table, by: str) -> dict[str, Emitted]:
    names = {key: name_of(by, dict(zip(DIMENSIONS[by], key, strict=True))) for key in grouped(posted, DIMENSIONS[by])}
    return _add(posted, names, DIMENSIONS[by])


def _add(
    posted: pa.Table, names: Mapping[tuple[str, ...], str], keys: tuple[str, ...] = ()
) -> defaultdict[str, Emitted]:
    """Sums by the name of each key; without any, of all."""
    found: defaultdict[str, Emitted] = defaultdict(Emitted)
    columns = tuple(dict.fromkeys((*keys, "bill", "currency", "reason")))  # a bill or a reason may be the name itself
    sums = [(dict(zip(columns, key, strict=True)), amount) for key, amount in grouped(posted, columns).items()]
    metered = {_meter(row["bill"]) for row, _ in sums if row["currency"] == ENERGY}
    for row, amount in sums:
        bill, currency, reason = row["bill"], row["currency"], row["reason"]
        here = found[names.get(tuple(row[key] for key in keys), "")]
        if currency == ENERGY:
            here.kwh.append(amount)
            continue
        here.grams.append(amount)
        here.idle += [amount] if reason == "idle" else []
        here.estimated += [amount] if is_estimated(bill) else []
        here.metered += [amount] if _meter(bill) in metered else []
    return found


def _meter(bill: str) -> str:
    """Whose bill it is and of when, whatever its unit and whether it is estimated."""
    return bill.removesuffix(CARBON).removesuffix(ENERGY).replace(f" {ESTIMATED} ", " ")


def _title(period: str, whole: Emitted, posted: pa.Table) -> str:
    """`3 teams stand for 1,234.5 of 1,500.0 kg CO2e for 2026-10 (3,600.0 kWh, 416.7 g each on average); 12.0 % for idle capacity, 30.0 % is estimated.`"""
    grams = posted.filter(pc.equal(posted["currency"], CARBON))
    owners = {team: amount for (team,), amount in grouped(grams, ("team",)).items() if side_of(team) == "owners"}
    cells, bill = whole.cells(total(whole.grams)), total(whole.grams)
    kwh, mean = cells["energy"], cells["intensity"]
    each = f", {hours(Fraction(mean))} g each on average" if isinstance(mean, Decimal) else ""
    energy = f" ({hours(Fraction(kwh))} kWh{each})" if isinstance(kwh, Decimal) else ""
    own, all_of_it = (hours(Fraction(amount) / KILO) for amount in (total(owners.values()), bill))
    return (
        f"{counted(len(owners), 'team')} stand{'s' if len(owners) == 1 else ''} for {own} of {all_of_it} kg CO2e for {period}{energy}; "
        f"{percent(share_of(total(whole.idle), bill))} for idle capacity, {percent(share_of(total(whole.estimated), bill))} is estimated."
    )
