"""The chart of a verb's answer, with the sentence that says what it shows. Of several currencies or units the first is drawn: they are never added.

Each kind has its own, registered where the kind is (`drawn.register`); most have none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import singledispatch
from typing import Any

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.chart import (
    COLOURS,
    GREYS,
    SPENT,
    Spec,
    banded,
    bars,
    colours,
    number,
    spent_days,
    stacked_days,
    waterfall,
)
from apportion.render.figures import legible
from apportion.reports.capacity import PARTS
from apportion.reports.estimate import Estimate
from apportion.reports.forecast.made import Forecast
from apportion.reports.report import Cell, Report
from apportion.reports.sums import SIDES, total
from apportion.reports.words import shown

Drawn = tuple[Spec, str]
Row = Mapping[str, Cell]
MOST = 24  # bars
NAMED = {
    "idle": ("pool", "cause"),
    "anomalies": ("kind", "owner"),
}  # what a row is called by, where it is not its first cell
SAID = {part: title.removesuffix(" h") for part, title in PARTS.items()}


@singledispatch
def drawn(value: object) -> Drawn | None:
    """None where a chart would say nothing."""
    del value
    return None


@drawn.register
def of_report(made: Report) -> Drawn | None:
    draw = CHARTS.get(made.name)
    if draw is None or not made.sections or not made.sections[0].rows:
        return None
    section, names = made.sections[0], [column.name for column in made.columns]
    rows: list[Row] = [dict(zip(names, cells, strict=True)) for cells in section.rows]
    return draw(made, rows, section.currency)


def amounts(made: Report, rows: list[Row], currency: str) -> Drawn | None:
    """A bar for each row, called by what stands in front of its amount."""
    first = NAMED.get(made.name, (made.columns[0].name,))
    money: dict[str, list[Decimal]] = {}
    for row in rows:
        if isinstance(amount := row.get("amount"), Decimal):
            money.setdefault(called(row, first), []).append(amount)
    sums = [(name, total(some)) for name, some in money.items()]
    values = [
        {"name": name, "amount": number(amount), "shown": shown(amount, currency)} for name, amount in sums[:MOST]
    ]
    if not values:
        return None
    names = [str(value["name"]) for value in values]
    palette = colours(sorted(set(names) - set(SYSTEM_OWNERS)))
    if made.name == "idle":
        palette = dict.fromkeys(names, GREYS["_idle"])
    rest = f" The first {MOST} of {len(money)}." if len(money) > MOST else ""
    return bars(values, palette, currency), f"{made.title}{rest}"


def called(row: Row, names: Sequence[str]) -> str:
    return legible(", ".join(str(row[name]) for name in names if row[name]))


def steps(made: Report, rows: list[Row], currency: str) -> Drawn:
    """Days or months, with what stood idle and what has no owner apart."""
    first = made.columns[0].name
    sides = [side for side in SIDES if side in rows[0]] or ["amount"]
    palette = dict(zip(sides, (COLOURS[0], *GREYS.values()), strict=False))
    values = [
        {
            "day": str(row[first]), "owner": side, "amount": number(amount), "shown": shown(amount, currency), "rank": rank,
            "complete": row.get("state") in (None, ""),
        }
        for row in rows
        for rank, side in enumerate(sides)
        if isinstance(amount := row[side], Decimal)
    ]  # fmt: skip
    return stacked_days(values, palette, sides, currency), made.title


def capacity(made: Report, rows: list[Row], currency: str) -> Drawn | None:
    """What became of the hours of a pool, in its first unit; a month of days alone is drawn."""
    del currency
    if made.columns[0].name != "day":
        return None
    unit = next((row["unit"] for row in rows if row["unit"]), None)
    values = [
        {
            "day": str(row["day"]), "owner": SAID[part], "amount": number(amount), "shown": f"{amount:,.1f} h", "rank": rank,
            "complete": row.get("state") in (None, ""),
        }
        for row in rows
        for rank, part in enumerate(PARTS)
        if row["unit"] == unit and isinstance(amount := row[part], Decimal)
    ]  # fmt: skip
    return (spent_days(values, list(SPENT), f"{unit} hours"), made.title) if values else None


def unit_prices(made: Report, rows: list[Row], currency: str) -> Drawn | None:
    """A bar for each stretch of hours that costs alike, in the unit of the first pool."""
    per = rows[0].get("per")
    names = [column.name for column in made.columns if column.name in ("pool", "with", "days", "hours")]
    values = [
        {"name": called(row, names), "amount": number(price), "shown": f"{price:f} {currency} per {per}"}
        for row in rows[:MOST]
        if row.get("per") == per and isinstance(price := row["price"], Decimal)
    ]
    pools = list(dict.fromkeys(str(row["pool"]) for row in rows))
    by_pool = colours(pools)
    palette = {called(row, names): by_pool[str(row["pool"])] for row in rows}
    return (bars(values, palette, f"{currency} per {per}"), made.title) if values else None


CHARTS: Mapping[str, Callable[[Report, list[Row], str], Drawn | None]] = {
    "showback": amounts, "idle": amounts, "carbon": amounts, "anomalies": amounts, "pools": amounts, "live": amounts,
    "trend": steps, "pool": capacity, "prices": unit_prices,
}  # fmt: skip


@drawn.register
def of_forecast(made: Forecast) -> Drawn | None:
    """How the month goes on, of the only group or of all together."""
    if not made.wholes:
        return None
    unit = made.wholes[0].outlook.currency
    own = [one for one in made.groups if one.outlook.currency == unit]
    one = own[0] if len(own) == 1 else made.wholes[0]
    values: list[dict[str, Any]] = [
        {
            "day": f"{day:%d}", "amount": number(amount), "low": number(amount if low is None else low),
            "high": number(amount if high is None else high), "known": low is None, "shown": shown(amount, unit),
        }
        for day, amount, low, high in one.steps
    ]  # fmt: skip
    says = f"What {made.known.month} comes to by the end of each day: known through {made.known.through}, then foreseen, with the 80 % around it."
    return banded(values, COLOURS[0], unit, number(one.budget) if one.budget else None), says


@drawn.register
def of_estimate(found: Estimate) -> Drawn:
    """From the direct price to what would be owed."""
    made = list(parts_of(found))
    return waterfall(
        made, (0, len(made) - 1), found.currency, ("idle",)
    ), f"What the price of {found.called} is made of."


def parts_of(found: Estimate) -> Iterator[tuple[str, float, str]]:
    price = found.asked.price
    parts = {
        "direct": price.direct,
        "moved or burnt": price.along,
        "idle": price.idle,
        "overhead": price.overhead,
        "adjustments": price.adjustments,
        "owed": price.owed,
    }
    for name, amount in parts.items():
        if amount or name in ("direct", "owed"):
            yield name, number(amount), shown(amount, found.currency)
