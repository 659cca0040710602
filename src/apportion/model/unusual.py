"""Amounts that are hard to believe: a thousand times below or above what a row of a meter usually states, or used ten times over.

Mostly the unit is another one.
"""

from collections.abc import Collection, Iterator
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.meters import METERS

ACCELERATORS = ("gpu", "tpu", "neuron", "gaudi", "accelerator")


class Usual(NamedTuple):
    """In natural units: a thousandth of the least that people hold, and a thousand times the most."""

    least: Fraction
    most: Fraction


MIB = Fraction(1, 1024)
MEGABYTES = Fraction(60 * 1024)  # 60 TiB in one row, where nobody said its unit: mostly 64 GiB in megabytes
BUSIEST = 10  # times what was allocated
USUAL = {
    **dict.fromkeys(ACCELERATORS, Usual(Fraction(1, 1000), Fraction(1_000_000))),  # a GPU, a thousand of them
    "cpu": Usual(Fraction(1, 1000), Fraction(100_000_000)),
    "memory": Usual(MIB, Fraction(2**30)),  # a GiB, a PiB
    "node": Usual(Fraction(1, 1000), Fraction(10_000_000)),
    "licence": Usual(Fraction(1, 1000), Fraction(10_000_000)),
}


def unusual_amounts(rows: pa.Table, where: str, stated: Collection[str] = METERS) -> Iterator[Problem]:
    """One for each meter with such rows; they count as they are. Nothing held is no amount. `stated` are meters whose unit somebody said."""
    column = next((name for name in ("allocated", "amount") if name in rows.column_names), "")
    for meter in sorted(USUAL) if column and len(rows) else ():
        own = rows.filter(pc.and_(pc.equal(rows["meter"], meter), pc.greater(rows[column], 0)))
        base, (least, most) = METERS[meter].base, USUAL[meter]
        if meter == "memory" and meter not in stated and column == "allocated":
            most = MEGABYTES
        few, many = pc.less(own[column], -(-least * base // 1)), pc.greater(own[column], int(most * base))
        odd = own.filter(pc.or_(few, many))
        if len(odd):
            yield unusual(odd, column, meter, where)
        if "used" in own.column_names:
            yield from busier(own, meter, where)


def busier(own: pa.Table, meter: str, where: str) -> Iterator[Problem]:
    """Rows that state to have used far more than they held: percents mostly, read as amounts."""
    odd = own.filter(pc.greater(pc.divide(own["used"], BUSIEST), own["allocated"]))
    if len(odd):
        first, unit = odd.slice(0, 1).to_pylist()[0], METERS[meter]
        used, held = (figure(Fraction(first[name], unit.base)) for name in ("used", "allocated"))
        message = (
            f"{len(odd):,} {'row states' if len(odd) == 1 else 'rows state'} more than {BUSIEST} times as much {meter} used as held, "
            f"such as {used} of {held} {unit.unit}; they count as they are: see whether the unit of what was used is right"
        )
        yield Problem(
            where, "unusual-quantity", message, row=f"+{len(odd)}", quantity=held_of(odd, "allocated"), meter=meter
        )


def unusual(odd: pa.Table, column: str, meter: str, where: str) -> Problem:
    first, unit = odd.slice(0, 1).to_pylist()[0], METERS[meter]
    message = (
        f"{len(odd):,} {'row states' if len(odd) == 1 else 'rows state'} amounts of {meter} that are far off what is usual, "
        f"such as {figure(Fraction(first[column], unit.base))} {unit.unit}; they count as they are: see whether the unit is right"
    )
    return Problem(where, "unusual-quantity", message, row=f"+{len(odd)}", quantity=held_of(odd, column), meter=meter)


def held_of(rows: pa.Table, column: str) -> str:
    """Base units, times seconds."""
    seconds = pc.subtract(rows["end_s"], rows["start_s"]).to_pylist()
    return str(sum(amount * lasting for amount, lasting in zip(rows[column].to_pylist(), seconds, strict=True)))


def figure(exact: Fraction) -> str:
    return f"{Context(prec=3).divide(Decimal(exact.numerator), Decimal(exact.denominator)).normalize():f}"
