"""What became of a pool's capacity, and what a unit of it cost: by day, by hour, or by the hour of the week. And all pools beside each other.

Hours and prices are handed in, cell by cell, as the engine counted them; the parts of a row add up to its capacity exactly. Money is what was posted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.model.money import for_reading
from apportion.model.rows import IDLE
from apportion.reports.groups import NOBODY
from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Record, Report, Section
from apportion.reports.sums import ZERO, by_currency, grouped, share_of, summed, total, whole_below
from apportion.reports.words import counted, hours, percent, price_digits, shown

TAKEN = ("used", "unmeasured", "held")
UNHELD = ("reserved", "unsold", "down")
PARTS = {
    "used": "used h",
    "unmeasured": "use not measured h",
    "held": "held unused h",
    "reserved": "reserved unused h",
    "unsold": "unsold h",
    "down": "down h",
}
WEEK = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
BY = {"day": "%Y-%m-%d", "hour": "%Y-%m-%d %H:%M"}
NO_CAPACITY = "Nobody stated how much there is of it: only what was held is counted."
UNMEASURED = "What nothing was measured of counts neither as used nor as held without use: it stands apart."
Priced = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Stretch:
    """At most an hour of a pool's time, from `start` in local time: hours of its unit by part, and by currency the price of one and its weight."""

    start: datetime
    parts: Mapping[str, Fraction]
    prices: Mapping[str, Priced]


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of a pool. `per` is what a price is for, such as a GPU-hour; `held_price` which part of what is held without use is priced as idle,
    None where no idle has a price.
    """

    pool: str
    unit: str
    per: str
    stretches: tuple[Stretch, ...]
    is_stated: bool
    held_price: Fraction | None = None

    def hours(self, *names: str) -> Fraction:
        return sum((one.parts.get(name, Fraction(0)) for one in self.stretches for name in names), Fraction(0))

    def mean(self, currency: str) -> Fraction | None:
        return mean(self.stretches, currency)


def mean(stretches: Iterable[Stretch], currency: str) -> Fraction | None:
    """What a unit cost on average; None where there was no price."""
    found = [one.prices[currency] for one in stretches if currency in one.prices]
    weight = sum(weight for _, weight in found)
    return sum((price * weight for price, weight in found), Fraction(0)) / weight if weight else None


def idle_cost(measured: Measured, stretches: Iterable[Stretch], currency: str) -> Decimal | None:
    """What stood idle at the price of its hour; for reading."""
    if measured.held_price is None:
        return None
    found = Fraction(0)
    for one in stretches:
        idle = sum((one.parts.get(name, Fraction(0)) for name in UNHELD), Fraction(0))
        idle += one.parts.get("held", Fraction(0)) * measured.held_price
        found += idle * one.prices.get(currency, (Fraction(0), Fraction(0)))[0]
    return for_reading(found)


def pool(record: Record, measures: Sequence[Measured], name: str, by: str = "day") -> Report:
    """`by`: a row for each day, hour, or hour of the week. The record is that of the pool."""
    last = Column("amount", "amount", "money") if by == "day" else Column("idle_cost", "idle cost", "money", quiet=True)
    columns = (
        Column(by if by != "week" else "hour", by if by != "week" else "hour of the week"),
        Column("unit", "unit"),
        Column("capacity", "capacity h", "quantity", quiet=True),
        *(Column(part, title, "quantity", quiet=True) for part, title in PARTS.items()),
        Column("price", f"per {measures[0].per}" if measures else "price", "price", quiet=True),
        last,
    )
    sections = []
    for currency, posted in by_currency(record.posted):
        if is_money(currency):
            rows = [row for one in measures for row in _rows(one, currency, by)]
            rows = _with_amounts(rows, posted) if by == "day" else rows
            made = _section(currency, summed(posted), columns, rows)
            sections.append(whole_below(made, columns, posted) if by == "day" else made)
    notes = [NO_CAPACITY] if any(one.stretches and not one.is_stated and one.unit for one in measures) else []
    notes += [UNMEASURED] if any(one.hours("unmeasured") for one in measures) else []
    return Report(
        "pool",
        _title(record, measures, name),
        record.period,
        columns,
        tuple(sections),
        record.head,
        record.policies,
        tuple(notes),
        {"by": by, "pool": name},
    )


def groups(stretches: Iterable[Stretch], by: str) -> dict[str, list[Stretch]]:
    found: dict[str, list[Stretch]] = {}
    for one in stretches:
        found.setdefault(named(one.start, by), []).append(one)
    return dict(sorted(found.items(), key=lambda item: item[1][0].start.weekday())) if by == "week" else found


def named(start: datetime, by: str) -> str:
    return f"{WEEK[start.weekday()]} {start:%H}" if by == "week" else f"{start:{BY[by]}}"


def _rows(measured: Measured, currency: str, by: str) -> list[dict[str, Cell]]:
    first = "hour" if by == "week" else by
    order = groups(measured.stretches, by)
    keys = sorted(order, key=lambda key: (WEEK.index(key[:3]), key)) if by == "week" else list(order)
    return [
        {
            first: key,
            "unit": measured.unit,
            **_parts(order[key]),
            "price": _price(order[key], currency),
            "idle_cost": idle_cost(measured, order[key], currency),
        }
        for key in keys
    ]


def _parts(stretches: Sequence[Stretch]) -> dict[str, Cell]:
    """Six places to read of each part; the capacity is their sum, so that what is shown adds up, too."""
    if not any(one.parts for one in stretches):
        return {}
    found = {part: places(sum((one.parts[part] for one in stretches), Fraction(0))) or ZERO for part in PARTS}
    return {"capacity": sum(found.values(), ZERO), **found}


def _price(stretches: Iterable[Stretch], currency: str) -> Decimal | None:
    found = mean(stretches, currency)
    return None if found is None else for_reading(found)


def _with_amounts(rows: Sequence[dict[str, Cell]], posted: pa.Table) -> list[dict[str, Cell]]:
    """What was posted of each day, in its first row; days of late lines have no hours."""
    amounts = {day: amount for (day,), amount in grouped(posted, ("day",)).items()}
    for row in rows:
        row["amount"] = amounts.pop(str(row["day"]), None)
    late: list[dict[str, Cell]] = [{"day": day, "unit": "", "amount": amount} for day, amount in amounts.items()]
    return sorted([*late, *rows], key=lambda row: str(row["day"]))


def _section(currency: str, bill: Decimal, columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> Section:
    """Hours of one unit are added below, prices never."""
    alone = len({row["unit"] for row in rows} - {""}) == 1
    feet: dict[str, Cell] = {}
    for column in columns:
        cells = [cell for row in rows if isinstance(cell := row.get(column.name), Decimal)]
        if cells and (column.kind == "money" or (column.kind == "quantity" and alone)):
            feet[column.name] = total(cells)
    lines = tuple(tuple(row.get(column.name) for column in columns) for row in rows)
    return Section(currency, bill, lines, tuple(feet.get(column.name) for column in columns))


def _title(record: Record, measures: Sequence[Measured], name: str) -> str:
    sums = {currency: summed(posted) for currency, posted in by_currency(record.posted)}
    money = " and ".join(shown(amount, currency) for currency, amount in sums.items() if is_money(currency))
    sentence = f"Pool {name} shares {money or 'nothing'} for {record.period}"
    spent = [text for one in measures if (text := _spent_text(one))]
    prices = [
        f"{price_digits(for_reading(price), currency)} {currency} per {one.per} on average"
        for one in measures
        for currency in sums
        if is_money(currency) and (price := one.mean(currency)) is not None
    ]
    return "; ".join([sentence, *spent, *prices]) + "."


def _spent_text(measured: Measured) -> str:
    """`of 142,848.0 GPU-hours 60.2 % were used, 13.7 % held without use, 23.1 % unsold`."""
    whole = measured.hours(*PARTS)
    if not whole:
        return ""
    said = {
        "used": "used",
        "unmeasured": "held with unmeasured use",
        "held": "held without use",
        "reserved": "reserved without use",
        "unsold": "unsold",
        "down": "down",
    }
    parts = [
        f"{percent(places(measured.hours(part) / whole))} {word}" for part, word in said.items() if measured.hours(part)
    ]
    return f"of {hours(whole)} {measured.unit}-hours {', '.join(parts)}"


INDEX = (
    Column("pool", "pool"),
    Column("method", "shared by"),
    Column("amount", "amount", "money"),
    Column("idle", "idle cost", "money"),
    Column("share", "idle cost share", "share"),
    Column("price", "price", "price"),
    Column("unit", "per"),
    Column("capacity", "capacity h", "quantity", quiet=True),
    Column("used", "used h", "quantity", quiet=True),
    Column("unmeasured", "use not measured h", "quantity", quiet=True),
    Column("held", "held unused h", "quantity", quiet=True),
    Column("unheld", "unheld h", "quantity", quiet=True),
)


def pools(
    record: Record,
    measures: Mapping[str, Sequence[Measured]],
    methods: Mapping[str, str],
    only: Collection[str] | None = None,
) -> Report:
    """All pools, or those that somebody may see; the dearest first."""
    posted = (
        record.posted
        if only is None
        else record.posted.filter(pc.is_in(record.posted["pool"], pa.array(sorted(only), pa.string())))
    )
    sections, sentences = [], []
    for currency, own in by_currency(posted):
        if not is_money(currency):
            continue
        sums = {name: amount for (name,), amount in grouped(own, ("pool",)).items()}
        idle = idle_by_pool(own)
        rows = [
            row
            for name in sorted(sums, key=lambda name: (-sums[name], name))
            for row in _index_rows(name, measures.get(name, ()), currency)
        ]
        for row in rows:
            name = str(row["pool"])
            row |= {"pool": name or NOBODY, "method": methods.get(name, "")}
            if row.pop("first"):
                stood = idle.get(name, ZERO)
                row |= {"amount": sums[name], "idle": stood, "share": share_of(stood, sums[name])}
        bill = total(sums.values())
        lines = tuple(tuple(row.get(column.name) for column in INDEX) for row in rows)
        stood = total(idle.values())
        feet = {"amount": bill, "idle": stood, "share": share_of(stood, bill)}
        sections.append(Section(currency, bill, lines, tuple(feet.get(column.name) for column in INDEX)))
        sentences.append(
            f"{counted(len([name for name in sums if name]), 'pool')} shared {shown(bill, currency)} for {record.period}; "
            f"{shown(stood, currency)} of it paid for idle capacity."
        )
    title = " ".join(sentences) or f"No pool shared anything for {record.period}."
    return Report("pools", title, record.period, INDEX, tuple(sections), record.head, record.policies)


def _index_rows(name: str, measures: Sequence[Measured], currency: str) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for n, one in enumerate(measures):
        sums = {
            "capacity": one.hours(*PARTS),
            "used": one.hours("used"),
            "unmeasured": one.hours("unmeasured"),
            "held": one.hours("held"),
            "unheld": one.hours(*UNHELD),
        }
        known = {key: places(value) for key, value in sums.items()} if sums["capacity"] else {}
        rows.append({"pool": name, "first": not n, "unit": one.per, **known, "price": _price(one.stretches, currency)})
    return rows or [{"pool": name, "first": True}]


def idle_by_pool(posted: pa.Table) -> dict[str, Decimal]:
    """What `report idle` calls idle."""
    mask = pc.or_(pc.equal(posted["reason"], "idle"), pc.equal(posted["team"], IDLE))
    return {name: amount for (name,), amount in grouped(posted.filter(mask), ("pool",)).items()}
