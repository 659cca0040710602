"""What deliveries say, for proposals: how much each workload held of each meter, by its labels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.label_sets import split_tables
from apportion.model.delivery import Delivery
from apportion.model.meters import METERS
from apportion.model.rows import TABLES, held_amounts

WIDE = pa.decimal128(38, 0)
HOUR_S = 3600


@dataclass(frozen=True, slots=True)
class Seen:
    """`keys`, `values` and `rows` are the labels of all workloads one after the other; `units` the base-unit seconds of each workload by meter."""

    known: pa.Array
    keys: pa.ChunkedArray
    values: pa.ChunkedArray
    rows: np.ndarray
    units: Mapping[str, Sequence[int]]
    first_s: int
    last_s: int

    @property
    def workloads(self) -> int:
        return len(self.known)

    def column(self, key: str) -> list[str | None]:
        """A label of every workload, None where it has none."""
        found: list[str | None] = [None] * self.workloads
        mask = pc.equal(self.keys, key)
        places = self.rows[np.asarray(mask)].tolist()
        for row, value in zip(places, self.values.filter(mask).to_pylist(), strict=True):
            found[row] = value
        return found

    def held(self, meter: str, *keys: str) -> dict[tuple[str | None, ...], Fraction]:
        """Hours of a natural unit (units, of a flow) by the values of some labels, most first."""
        sums: Counter[tuple[str | None, ...]] = Counter()
        for place, units in zip(zip(*(self.column(key) for key in keys), strict=True), self.units[meter], strict=True):
            sums[place] += units
        scale = METERS[meter].base * (1 if METERS[meter].flow else HOUR_S)
        some = {place: Fraction(units, scale) for place, units in sums.items() if units}
        return dict(sorted(some.items(), key=lambda item: (-item[1], str(item[0]))))


def seen_in(deliveries: Iterable[Delivery]) -> Seen:
    some = list(deliveries)
    workloads, usage = split_tables(*(together(some, name) for name in ("workloads", "usage")))
    names = pa.chunked_array([*workloads["workload"].chunks, *usage["workload"].chunks], pa.string())
    known = pc.unique(names)
    maps = [pa.concat_arrays([chunk]) for chunk in workloads["labels"].chunks]  # a slice's offsets would not begin at 0
    lengths = np.concatenate([np.zeros(0, np.int64), *(np.diff(np.asarray(chunk.offsets)) for chunk in maps)])
    which = np.asarray(pc.index_in(workloads["workload"], known))
    return Seen(
        known,
        pa.chunked_array([chunk.keys for chunk in maps], pa.string()),
        pa.chunked_array([chunk.items for chunk in maps], pa.string()),
        np.repeat(which, lengths),
        {
            meter: level_sums(usage.filter(pc.equal(usage["meter"], meter)), known, meter)
            for meter in pc.unique(usage["meter"]).to_pylist()
        },
        pc.min(usage["start_s"]).as_py() or 0,
        pc.max(usage["end_s"]).as_py() or 0,
    )


def level_sums(usage: pa.Table, known: pa.Array, meter: str) -> list[int]:
    """Base-unit seconds (base units, of a flow) of each workload."""
    whole = pa.decimal128(19, 0)
    amount = pc.cast(held_amounts(usage), whole)
    seconds = pc.cast(pc.cast(pc.subtract(usage["end_s"], usage["start_s"]), whole), pa.decimal128(12, 0))
    units = pc.cast(amount if METERS[meter].flow else pc.multiply(amount, seconds), WIDE)
    table = pa.table({"row": pc.index_in(usage["workload"], known), "units": units})
    sums = [0] * len(known)
    for row in table.group_by("row").aggregate([("units", "sum")]).to_pylist():
        sums[row["row"]] = int(row["units_sum"])
    return sums


def level_units(seen: Seen, usage: pa.Table, meter: str, nodes: Sequence[str] | None) -> list[int]:
    """The same on some nodes only."""
    own = usage.filter(pc.equal(usage["meter"], meter))
    if nodes is not None:
        own = own.filter(pc.is_in(own["resource"], pa.array(nodes, pa.string())))
    return level_sums(own, seen.known, meter)


def together(deliveries: Sequence[Delivery], name: str) -> pa.Table:
    """A table of all deliveries; of a workload that several speak of, the last."""
    tables = [delivery.tables[name] for delivery in deliveries if name in delivery.tables]
    whole = pa.concat_tables(tables) if tables else TABLES[name].empty_table()
    if name != "workloads" or len(tables) < 2:
        return whole
    placed = whole.append_column("at", pa.array(range(whole.num_rows)))
    last = placed.group_by(["workload", "label_set"]).aggregate([("at", "max")])
    return whole.take(last["at_max"])
