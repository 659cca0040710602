"""Amounts with more places than the books keep. Some vendors write 28 of them; 18 are kept, and the sum stays right.

Each is cut down to 18 places, and as many as the sum asks for are one step higher: those of which most was cut off, ties by what their
rows say. So the amounts add up to the block's exact sum, itself rounded at the 18th place, whatever the order of its rows.
"""

from collections.abc import Mapping
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal, localcontext

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.money import LARGEST, PLACES, plain
from apportion.model.numbers import parse_decimal
from apportion.model.rows import MONEY
from apportion.sources.bills.part import Fault, Part
from apportion.sources.cells.money import money
from apportion.sources.cells.text import mask_of, text

STEP = Decimal(1).scaleb(-PLACES)
BETWEEN = "\x1f"


def fitted(part: Part, column: str) -> pa.Array:
    """Every amount of a column at 18 places, the sum of its block exact; what is no amount refuses the file."""
    cells = part.cells(column)
    bad = money(cells).bad
    if not bad:
        return part.money(column)
    long = {row: number for row in bad if (number := too_fine(cells[row].as_py())) is not None}
    shortened = pc.replace_with_mask(
        pc.cast(cells, pa.string()), mask_of(long, len(cells)), pa.array([None] * len(long), pa.string())
    )
    others = part.exact(shortened, column)  # refuses what is wrong for another reason
    with localcontext() as context:
        context.prec = 200
        amounts = apportioned(long, written(part, sorted(long)))
        left = sum(long.values(), Decimal(0)) - sum(amounts.values(), Decimal(0))
    message = f"{column} has more than {PLACES} places in {len(long)} rows: rounded there, which leaves out {plain(left)} of their sum"
    part.faults.append(Fault(-1, "rounded-money", message))
    values = pa.array([amounts[row] for row in sorted(long)], MONEY)
    return pc.replace_with_mask(others, mask_of(long, len(cells)), values)


def too_fine(cell: object) -> Decimal | None:
    """The number, where only its places are too many."""
    try:
        number = parse_decimal(cell)
    except InputError:
        return None
    return number if abs(number) < LARGEST else None


def apportioned(numbers: Mapping[int, Decimal], ties: Mapping[int, str]) -> dict[int, Decimal]:
    down = {row: number.quantize(STEP, ROUND_FLOOR) for row, number in numbers.items()}
    cut = {row: numbers[row] - down[row] for row in numbers}
    steps = int((sum(cut.values(), Decimal(0)) / STEP).to_integral_value(ROUND_HALF_EVEN))
    up = sorted(cut, key=lambda row: (-cut[row], ties[row]))[:steps]
    return down | {row: down[row] + STEP for row in up}


def written(part: Part, rows: list[int]) -> dict[int, str]:
    """Each of these rows as one text."""
    chosen = part.table.take(pa.array(rows, pa.int64())).combine_chunks()
    cells = [pc.fill_null(text(column.combine_chunks()), "") for column in chosen.columns]
    return dict(zip(rows, pc.binary_join_element_wise(*cells, BETWEEN).to_pylist(), strict=True))
