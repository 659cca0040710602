"""Two views side by side: what was held and what was used of it, with the money of the difference.

Quantities come from the charges behind the postings. What nothing was measured of counts neither as used nor as wasted: it stands apart.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import CHARGES
from apportion.reports.groups import DIMENSIONS, first_column, name_of, system_rank
from apportion.reports.report import Cell, Column, Record, Report, Section
from apportion.reports.sums import SHARE_PLACES, by_currency, section, total
from apportion.reports.words import hours, percent, shown

HOUR_S = 3600
LEAST = 100  # a unit with less than one in so many of the waste is told in a sentence
QUANTITIES = ("held", "used", "unmeasured")
READ = (
    "period",
    "bill",
    "pool",
    "day",
    "team",
    "project",
    "user",
    "unit",
    "per_unit",
    *QUANTITIES,
    "waste",
)  # of the charges
BY = ("team", "department", "cost_centre", "project", "user", "pool")  # of others a usage row counts in several
COLUMNS = (
    Column("unit", "unit"),
    Column("held", "held h", "quantity"),
    Column("used", "used h", "quantity"),
    Column("utilisation", "utilisation", "share"),
    Column("unmeasured", "not measured h", "quantity", quiet=True),
    Column("waste", "waste", "money"),
)


@dataclass(frozen=True, slots=True)
class Views:
    """Hours of one unit. `waste` is None where nothing was measured."""

    unit: str
    held: Fraction
    used: Fraction
    unmeasured: Fraction
    waste: Decimal | None

    @property
    def is_measured(self) -> bool:
        return self.held > self.unmeasured

    @property
    def utilisation(self) -> Fraction | None:
        """Used of what was measured; more than 1 where more was used than held."""
        return self.used / (self.held - self.unmeasured) if self.is_measured else None

    def cells(self) -> dict[str, Cell]:
        used = self.used if self.is_measured else None
        return {
            "unit": self.unit,
            "held": places(self.held),
            "used": places(used),
            "utilisation": places(self.utilisation),
            "unmeasured": places(self.unmeasured),
            "waste": self.waste,
        }

    def sentence(self, currency: str) -> str:
        """`GPU: 64.0 h held, 41.2 used (64.4 %), 10.0 not measured, waste 12.30 USD`."""
        text = f"{self.unit}: {hours(self.held)} h held"
        if not self.is_measured:
            return f"{text}, use not measured"
        text += f", {hours(self.used)} used ({percent(places(self.utilisation))})"
        text += f", {hours(self.unmeasured)} not measured" if self.unmeasured else ""
        return f"{text}, waste {shown(self.waste or Decimal(0), currency)}"


def places(number: Fraction | None) -> Decimal | None:
    """Six places are enough to read; nothing is computed from them."""
    if number is None:
        return None
    return (Decimal(round(number * 10**6)) / 10**6).quantize(SHARE_PLACES, ROUND_HALF_EVEN)


def views_of(rows: Iterable[Mapping[str, Any]]) -> list[Views]:
    """Sums by unit, the greatest waste first. Waste on a row without quantities (another bill or component of its pool) is of the pool's unit."""
    sums: dict[str, dict[str, Fraction]] = defaultdict(lambda: dict.fromkeys(QUANTITIES, Fraction(0)))
    wastes: dict[str, list[Decimal]] = defaultdict(list)
    rows = list(rows)
    units = {row["pool"]: row["unit"] for row in rows if row["unit"] is not None}
    for row in rows:
        unit = units.get(row["pool"])
        if unit is None:
            continue
        for name in QUANTITIES if row["unit"] is not None else ():
            sums[unit][name] += Fraction(int(row[name] or 0), int(row["per_unit"]) * HOUR_S)
        if row["waste"] is not None:
            wastes[unit].append(row["waste"])
    found = [
        Views(unit, part["held"], part["used"], part["unmeasured"], total(wastes[unit]) if unit in wastes else None)
        for unit, part in sums.items()
    ]
    return sorted(found, key=lambda views: (-(views.waste or Decimal(0)), views.unit))


def summed(charges: pa.Table, keys: Sequence[str]) -> list[dict[str, Any]]:
    """Charges without their workloads."""
    keys = list(dict.fromkeys((*keys, "pool", "unit", "per_unit")))
    names = (*QUANTITIES, "waste")
    found = charges.select([*keys, *names]).group_by(keys).aggregate([(name, "sum") for name in names])
    rows: list[dict[str, Any]] = found.rename_columns(
        [name.removesuffix("_sum") for name in found.column_names]
    ).to_pylist()
    return rows


def charges_in(record: Record, bills: pa.ChunkedArray) -> pa.Table:
    """Those of some bills."""
    table = record.charges if record.charges is not None else CHARGES.empty_table().select(READ)
    return table.filter(pc.is_in(table["bill"], pc.unique(bills)))


def groups_of(charges: pa.Table, posted: pa.Table, by: str) -> dict[str, list[dict[str, Any]]]:
    """Rows by the name of their group. A team's department and cost centre are what its postings of the period say."""
    kept = ("department", "cost_centre")
    places_of = {
        (row["period"], row["team"]): {name: row[name] for name in kept}
        for row in posted.select(["period", "team", *kept])
        .group_by(["period", "team", *kept])
        .aggregate([])
        .to_pylist()
    }
    keys = ("period", *(key for key in DIMENSIONS.get(by, (by,)) if key not in kept))
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in summed(charges, keys):
        labels = dict.fromkeys(kept, "") | places_of.get((row["period"], row.get("team", "")), {}) | row
        groups[name_of(by, labels)].append(row)
    return groups


def held(record: Record, by: str = "team", *, brief: bool = False) -> Report:
    """By group and unit, the greatest waste first; if `brief`, only units that much of it is about, and the others in a sentence each."""
    columns = (first_column(by), *COLUMNS)
    sections, sentences, notes = [], [], []
    for currency, posted in by_currency(record.posted):
        charges = charges_in(record, posted["bill"])
        whole = views_of(summed(charges, ()))
        waste = total(views.waste for views in whole if views.waste is not None)
        much = [views for views in whole if not brief or (views.is_measured and (views.waste or 0) * LEAST >= waste)]
        rows = _rows(groups_of(charges, posted, by), columns[0].name, {views.unit for views in much})
        sections.append(_footed(section(currency, waste, columns, rows), columns, much))
        told = [views for views in (much if brief else whole) if views.is_measured]
        sentences += [f"{views.sentence(currency)}." for views in told]
        notes += [f"{views.sentence(currency)}" for views in whole if views not in told]
    title = (
        " ".join(sentences)
        or f"Nothing was measured of what was held in {record.period}: its use and waste are not known."
    )
    return Report(
        "held",
        title,
        record.period,
        columns,
        tuple(sections),
        record.head,
        record.policies,
        tuple(notes),
        more={"by": by},
    )


def _rows(groups: Mapping[str, list[dict[str, Any]]], first: str, units: set[str]) -> list[dict[str, Cell]]:
    found = [(name, views) for name, rows in groups.items() for views in views_of(rows)]
    found = [(name, views) for name, views in found if views.unit in units]
    found.sort(key=lambda pair: (system_rank(pair[0]), -(pair[1].waste or Decimal(0)), pair[0], pair[1].unit))
    return [{first: name, **views.cells()} for name, views in found]


def _footed(made: Section, columns: Sequence[Column], whole: Sequence[Views]) -> Section:
    """Hours of different units are never added."""
    units = {row[1] for row in made.rows}
    cells = next((views.cells() for views in whole if {views.unit} == units), {"waste": made.bill})
    return replace(made, totals=tuple(cells.get(column.name) if column.name != "unit" else None for column in columns))


def beside(record: Record, by: str) -> tuple[Report, ...]:
    """For a report about money: the two views by the same groups, or that nothing was measured."""
    if record.charges is None or by not in BY:
        return ()
    made = held(record, by, brief=True)
    return (made,) if any(section.rows for section in made.sections) or made.notes else ()
