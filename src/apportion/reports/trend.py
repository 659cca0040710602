"""How it moved: posted amounts by day or by month, with idle and unallocated apart. A day may lie outside its period (late lines)."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.reports.held import charges_in
from apportion.reports.report import Cell, Column, Record, Report, Section
from apportion.reports.sums import (
    NAMES,
    SIDES,
    ZERO,
    by_currency,
    grouped,
    less,
    section,
    side_of,
    summed,
    total,
    whole_below,
)
from apportion.reports.words import counted, shown

STEPS = {"day": "day", "month": "period"}


def trend(record: Record, by: str = "day", owner: str = "") -> Report:
    """Of all owners, or of one team."""
    posted = record.posted.filter(pc.equal(record.posted["team"], owner)) if owner else record.posted
    sides = () if owner else tuple(Column(side, NAMES.get(side, side), "money") for side in SIDES)
    columns = (
        Column(by, by),
        *sides,
        Column("amount", "amount", "money"),
        Column("change", "change", "money", quiet=True),
        Column("waste", "waste", "money", quiet=True),
    )
    sections = []
    sentences = []
    for currency, part in by_currency(posted):
        rows = _rows(part, by, _wastes(record, part, by, owner))
        made = whole_below(section(currency, summed(part), columns, rows), columns, part)
        sections.append(_without_change_total(made, columns))
        sentences.append(_sentence(rows, by, shown(summed(part), currency), currency, owner))
    title = " ".join(sentences) or f"Nothing is posted for {owner + ' in ' if owner else ''}{record.period}."
    return Report(
        "trend",
        title,
        record.period,
        columns,
        tuple(sections),
        record.head,
        record.policies,
        more={"by": by, "owner": owner},
    )


def _wastes(record: Record, posted: pa.Table, by: str, owner: str) -> dict[str, Decimal | None]:
    """What was paid for holding without use, step by step."""
    charges = charges_in(record, posted["bill"])
    charges = charges.filter(pc.equal(charges["team"], owner)) if owner else charges
    steps = charges.select([STEPS[by], "waste"]).group_by(STEPS[by]).aggregate([("waste", "sum")]).to_pylist()
    return {str(row[STEPS[by]]): row["waste_sum"] for row in steps}


def _rows(posted: pa.Table, by: str, wastes: Mapping[str, Decimal | None]) -> list[dict[str, Cell]]:
    steps: dict[str, dict[str, list[Decimal]]] = {}
    for (step, team), amount in grouped(posted, (STEPS[by], "team")).items():
        steps.setdefault(step, {}).setdefault(side_of(team), []).append(amount)
    rows: list[dict[str, Cell]] = []
    before: Decimal | None = None
    for step, sides in steps.items():
        amount = total(value for values in sides.values() for value in values)
        row: dict[str, Cell] = {side: total(sides.get(side, [])) for side in SIDES}
        change = None if before is None else less(amount, before)
        rows.append({by: step, **row, "amount": amount, "change": change, "waste": wastes.get(step)})
        before = amount
    return rows


def _without_change_total(made: Section, columns: tuple[Column, ...]) -> Section:
    """Changes add up to last minus first, which reads like a total and is none."""
    totals = tuple(None if column.name == "change" else cell for column, cell in zip(columns, made.totals, strict=True))
    return replace(made, totals=totals)


def _sentence(rows: list[dict[str, Cell]], by: str, whole: str, currency: str, owner: str) -> str:
    amounts = {str(row[by]): row["amount"] for row in rows}
    highest = max(amounts, key=lambda step: (_money(amounts[step]), step))
    owes, all_of_them = (
        ("owes", "The bills come to") if is_money(currency) else ("stands for", "Together they stand for")
    )
    who = f"{owner} {owes}" if owner else all_of_them
    return f"{who} {whole} over {counted(len(rows), by)}; the highest is {highest} with {shown(_money(amounts[highest]), currency)}."


def _money(cell: Cell) -> Decimal:
    return cell if isinstance(cell, Decimal) else ZERO
