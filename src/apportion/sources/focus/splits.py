"""Charges that the vendor already split among resources (FOCUS 1.3: Allocated* columns).

A split charge is replaced by its parts, and the parts carry its money. `line_type` says which part a line is: Allocated, or Unallocated for
what the split leaves idle (no AllocatedResourceId). AllocatedTags become tags `allocated.KEY`, beside those of the charge, so that owner rules can
name whom a part was allocated to; of our own exports `apportion:team` becomes `allocated.team`. A file that has the charge and its parts would count it
twice, and is refused.
"""

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from operator import add

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.money import plain
from apportion.model.rows import COSTS, MONEY, OWN_TAG
from apportion.sources.bills.fitting import whole
from apportion.sources.bills.identity import SECONDS
from apportion.sources.bills.part import Fault, Part
from apportion.sources.bills.spool import Spool
from apportion.sources.bills.taken import Noted, Taken
from apportion.sources.cells.labels import labels_from_cells
from apportion.sources.cells.text import mask_of, text

ALLOCATED, UNALLOCATED = "Allocated", "Unallocated"
PREFIX = "allocated."
SAME = (  # what the parts of a charge have in common with it
    "InvoiceIssuerName", "BillingAccountId", "SubAccountId", "InvoiceId", "BillingCurrency", "ChargeCategory", "ChargeClass", "ChargeDescription",
    "ServiceName", "SkuId", "SkuPriceId", "PricingCategory", "RegionId", "AvailabilityZone", "ResourceId", "CommitmentDiscountId",
    "CommitmentDiscountStatus",
)  # fmt: skip
BETWEEN = "\x1f"
NOTHING = (Decimal(0),) * len(COSTS)


def parts_named(part: Part, cells: dict[str, pa.Array]) -> dict[str, pa.Array]:
    """`line_type` and the recipients' tags, where the vendor split anything."""
    if "AllocatedMethodId" not in cells or not (method := text(cells["AllocatedMethodId"])).is_valid().true_count:
        return cells
    resource = text(cells.get("AllocatedResourceId", pa.nulls(part.count)))
    kind = pc.if_else(resource.is_valid(), ALLOCATED, UNALLOCATED)
    found = cells | {"line_type": pc.if_else(method.is_valid(), kind, pa.scalar(None, pa.string()))}
    if "AllocatedTags" not in cells:
        return found
    own = labels_from_cells(cells.get("Tags", pa.nulls(part.count)))
    bad = part.mark(mask_of(own.bad, part.count), "invalid-tags", lambda _: "Tags is no JSON object")
    found["problem"] = pc.coalesce(found.get("problem", pa.nulls(part.count, pa.string())), bad)
    found["Tags"] = together(own.values, labels_from_cells(cells["AllocatedTags"]).values)
    return found


def together(own: pa.MapArray, theirs: pa.MapArray) -> pa.MapArray:
    """The entries of two columns of maps, row by row, the second's keys with the prefix."""
    lengths = [np.diff(np.asarray(maps.offsets)) for maps in (own, theirs)]
    row_of = np.concatenate([np.repeat(np.arange(len(own)), length) for length in lengths])
    order = pa.array(np.argsort(row_of, kind="stable"))
    keys = pa.concat_arrays([own.keys, pc.binary_join_element_wise(PREFIX, recipient_keys(theirs), "")]).take(order)
    items = pa.concat_arrays([own.items, theirs.items]).take(order)
    offsets = np.concatenate([[0], np.cumsum(lengths[0] + lengths[1])]).astype(np.int32)
    return pa.MapArray.from_arrays(pa.array(offsets), keys, items)


def recipient_keys(tags: pa.MapArray) -> pa.Array:
    """Without the prefix of our own exports, unless a vendor has a tag of the same name."""
    bare = pc.replace_substring_regex(tags.keys, f"^{OWN_TAG}", "")
    stripped = set(bare.filter(pc.not_equal(bare, tags.keys)).to_pylist())
    return tags.keys if stripped & set(tags.keys.to_pylist()) else bare


@dataclass(slots=True)
class Charge:
    """What the parts of one charge add up to, and where the first of them stands."""

    file: Taken
    row: int
    costs: tuple[Decimal, ...]
    ratio: Decimal = Decimal(0)


class Splits:
    """All charges that the files hold in parts. What is kept grows with them, not with the other lines."""

    def __init__(self) -> None:
        self.charges: dict[bytes, Charge] = {}
        self.resources: set[str | None] = set()

    def see(self, taken: Taken, lines: pa.Table) -> None:
        split = lines["line_type"].is_valid()
        if not pc.any(split, min_count=0).as_py():
            return
        own = lines.filter(split)
        self.resources.update(pc.unique(own["ResourceId"]).to_pylist())
        ratios = [ratio_of(cell) if cell else Decimal(0) for cell in own["AllocatedMethodDetails"].to_pylist()]
        rows = pa.array(range(taken.lines, taken.lines + len(lines))).filter(split.combine_chunks())
        parts = keyed(own).append_column("ratio", pa.array(ratios, MONEY)).append_column("row", rows)
        sums = [(name, "sum") for name in (*COSTS, "ratio")]
        for found in parts.group_by("key", use_threads=False).aggregate([*sums, ("row", "min")]).to_pylist():
            costs = tuple(found[f"{cost}_sum"] or Decimal(0) for cost in COSTS)
            charge = self.charges.setdefault(digest(found["key"]), Charge(taken, found["row_min"], NOTHING))
            charge.costs = tuple(map(add, charge.costs, costs))
            charge.ratio += found["ratio_sum"]

    def refuse_double(self, spool: Spool) -> None:
        """A charge beside its own parts: the same in all but what was allocated, and as much as all parts together, by every cost."""
        named = pa.array(sorted(filter(None, self.resources)), pa.string())
        for block in (block for heap in spool.heaps.values() if self.charges for block in heap.stored()):
            alike = pc.if_else(
                block["ResourceId"].is_null(), None in self.resources, pc.is_in(block["ResourceId"], named)
            )
            for line in keyed(block.filter(pc.and_(alike, block["line_type"].is_null()))).to_pylist():
                charge = self.charges.get(digest(line["key"]))
                costs = tuple(line[cost] or Decimal(0) for cost in COSTS)
                if charge is not None and any(costs) and costs == charge.costs:
                    raise double(charge)

    def note_broken(self) -> None:
        """Splits whose ratios do not add up to a whole: parts of them are missing."""
        for charge in self.charges.values():
            if charge.ratio % 1:
                message = f"the parts of this charge add up to {plain(charge.ratio)} of it, not to 1"
                charge.file.add(Noted(Fault(charge.row, "broken-split", message)))


def digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()[:16]


def double(charge: Charge) -> InputError:
    return InputError(
        "charge-and-parts",
        "the charge that this line and others split stands there too: with both it would count twice",
        where=charge.file.where(charge.row),
        hint="keep the charge or its parts (AllocatedMethodId), not both",
    )


def keyed(lines: pa.Table) -> pa.Table:
    """What a charge and its parts share, as one text, and the costs."""
    words = [pc.cast(lines[name], pa.string()) for name in (*SAME, *SECONDS)]
    key = pc.binary_join_element_wise(*words, BETWEEN, null_handling="replace", null_replacement="")
    return pa.table({"key": key, **{cost: whole(lines, cost) for cost in COSTS}})


@lru_cache(maxsize=65_536)
def ratio_of(details: str) -> Decimal:
    """The sum of a part's ratios; 0 where it states none."""
    try:
        found = json.loads(details, parse_float=Decimal, parse_int=Decimal)
        ratios = [element["AllocatedRatio"] for element in found["Elements"]]
        return sum(ratios, Decimal(0)).quantize(Decimal(10) ** -18)
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError):
        return Decimal(0)
