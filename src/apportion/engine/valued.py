"""What measured rows cost, in columns: one row for each key, one sum for each kind of price. For workloads, of which there are millions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from apportion.engine.curve import Kind, Layer
from apportion.engine.wide import Whole, from_arrow, starts_of, zeros


@dataclass(frozen=True, slots=True)
class Valued:
    """Parallel arrays: whole numbers that name a row, and its sums."""

    keys: Mapping[str, np.ndarray]
    sums: Mapping[Kind, Whole]

    def __len__(self) -> int:
        return len(next(iter(self.keys.values())))

    def of(self, kind: Kind) -> Whole:
        """0 where nothing was found of a kind."""
        return self.sums[kind] if kind in self.sums else zeros(len(self))

    def only(self, rows: np.ndarray) -> "Valued":
        keys = {name: numbers[rows] for name, numbers in self.keys.items()}
        return Valued(keys, {kind: numbers[rows] for kind, numbers in self.sums.items()})

    def summed(self, keys: Mapping[str, np.ndarray]) -> "Valued":
        """By other keys of the same rows, in their order."""
        columns = list(keys.values())
        order = np.lexsort(columns[::-1])
        columns = [column[order] for column in columns]
        first = starts_of(*columns) if len(order) else order
        sums = {
            kind: np.add.reduceat(numbers[order], first) if len(first) else numbers
            for kind, numbers in self.sums.items()
        }
        return Valued({name: column[first] for name, column in zip(keys, columns, strict=True)}, sums)


def tabulated(found: Iterable[tuple[Layer, Any]]) -> Valued:
    """The sums of one grid's layers, each from its own query."""
    return joined([read(layer, expression) for layer, expression in found])


def read(layer: Layer, expression: Any) -> Valued:
    table = expression.to_pyarrow()
    keys = {name: table[name].to_numpy() for name in table.column_names if name not in layer.values}
    sums: dict[Kind, Whole] = {}
    for name, (kind, worth) in layer.values.items():
        numbers = from_arrow(table[name], worth)
        sums[kind] = sums[kind] + numbers if kind in sums else numbers
    return Valued(keys, sums)


def joined(parts: Sequence[Valued]) -> Valued:
    """Rows of several tables with the same keys; what one of them does not speak of is 0."""
    if len(parts) == 1:
        return parts[0]
    names = list(parts[0].keys)
    kinds = dict.fromkeys(kind for part in parts for kind in part.sums)
    keys = {name: np.concatenate([part.keys[name] for part in parts]) for name in names}
    sums = {kind: np.concatenate([part.of(kind) for part in parts]) for kind in kinds}
    return Valued(keys, sums).summed(keys)
