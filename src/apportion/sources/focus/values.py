"""Cells that FOCUS binds to a few words, to JSON or to another cell. A word of another case is that word; what is none keeps its money and is told.

Only CommitmentDiscountStatus decides how a line is treated (what was not used forms no price), so a line with another word there is
marked as faulty. ChargeCategory is looked at where all bills are.
"""

import json
from collections.abc import Mapping
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.money import plain
from apportion.model.rows import CHARGE_CATEGORIES
from apportion.sources.bills.part import Part, coded
from apportion.sources.cells.money import money
from apportion.sources.cells.text import rows_where, shown, text

WORDS = {
    "ChargeClass": ("Correction",),
    "ChargeFrequency": ("One-Time", "Recurring", "Usage-Based"),
    "PricingCategory": ("Standard", "Dynamic", "Committed", "Other"),
    "CommitmentDiscountCategory": ("Spend", "Usage"),
    "CommitmentDiscountStatus": ("Used", "Unused"),
    "CapacityReservationStatus": ("Used", "Unused"),
    "ChargeCategory": CHARGE_CATEGORIES,
}
JSON = (
    "SkuPriceDetails",
    "AllocatedMethodDetails",
    "AllocatedTags",
    "ContractApplied",
    "CommitmentProgramEligibilityDetails",
)
SAME_COST = ("Tax", "Credit")  # never amortised
LONGEST = 2**18


def checked(part: Part, cells: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """The cells with words as FOCUS writes them, and `problem` where one decides and is unknown."""
    found = dict(cells)
    for name in [name for name in WORDS if name in cells]:
        found[name], unknown = words(cells[name], WORDS[name])
        if name == "ChargeCategory":
            continue
        part.fault(rows_where(unknown), "unknown-word", partial(no_word, name, found[name]))
        if name == "CommitmentDiscountStatus":
            found["problem"] = coded(unknown, "unknown-word")
    for name in [name for name in JSON if name in cells]:
        found[name] = text(cells[name])
        bad = not_objects(found[name])
        part.fault(rows_where(bad), "invalid-json", partial(no_object, name, found[name]))
    same_costs(part, found)
    return found


def words(column: pa.Array, valid: tuple[str, ...]) -> tuple[pa.Array, pa.Array]:
    """Each cell as the word it is, and a mask of those that are none."""
    known = {word.casefold(): word for word in valid}
    cells = text(column).dictionary_encode()
    distinct = cells.dictionary.to_pylist()
    meant = pa.array([known.get(word.casefold(), word) for word in distinct], pa.string())
    strange = pa.array([word.casefold() not in known for word in distinct], pa.bool_())
    return meant.take(cells.indices), pc.fill_null(strange.take(cells.indices), fill_value=False)


def no_word(name: str, cells: pa.Array, row: int) -> str:
    return f"{shown(name, cells, row)} is none of {', '.join(WORDS[name])}"


def not_objects(column: pa.Array) -> pa.Array:
    cells = column.dictionary_encode()
    bad = pa.array([not is_object(cell) for cell in cells.dictionary.to_pylist()], pa.bool_())
    return pc.fill_null(bad.take(cells.indices), fill_value=False)


def is_object(cell: str) -> bool:
    try:
        return len(cell) <= LONGEST and isinstance(json.loads(cell), dict)
    except (ValueError, RecursionError):
        return False


def no_object(name: str, cells: pa.Array, row: int) -> str:
    return f"{shown(name, cells, row)} is no JSON object"


def same_costs(part: Part, cells: Mapping[str, pa.Array]) -> None:
    """Taxes and credits cost what was billed; where they do not, whichever cost the policy goes by differs from the invoice."""
    if "BilledCost" not in cells or "EffectiveCost" not in cells or cells["BilledCost"] is cells["EffectiveCost"]:
        return
    alike = pc.is_in(cells["ChargeCategory"], pa.array(SAME_COST))
    if not pc.any(alike, min_count=0).as_py():
        return
    billed, effective = (money(cells[name]).values for name in ("BilledCost", "EffectiveCost"))
    differ = pc.and_(alike, pc.fill_null(pc.not_equal(billed, effective), fill_value=False))
    part.fault(
        rows_where(differ),
        "unequal-cost",
        lambda row: (
            f"a {cells['ChargeCategory'][row]} line is billed {plain(billed[row].as_py())} "
            f"and costs {plain(effective[row].as_py())}: FOCUS has them equal"
        ),
    )
