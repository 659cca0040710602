"""Lines of one file that equal lines of another: they count, and are told, since parts of a bill that overlap count twice.

Two equal lines of one file are two lines. Of equal lines of several files, those of the file that has most of them are beyond doubt.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.money import plain, total_of
from apportion.sources.bills.intake import carried
from apportion.sources.bills.spool import Heap
from apportion.sources.bills.taken import Taken

COLUMNS = ["EffectiveCost", "BilledCost", "BillingCurrency"]
SHOWN = 3  # names of other files


def tell_all(heaps: Iterable[Heap], files: Sequence[Taken]) -> tuple[Problem, ...]:
    return tuple(problem for heap in heaps for problem in tell_repeats(heap, files))


def tell_repeats(heap: Heap, files: Sequence[Taken]) -> Iterator[Problem]:
    """One for each file and currency, with the number of lines and their money."""
    if len({file for _, file in heap.parts}) == 1:
        return
    places, others = held_elsewhere(heap)
    owners = heap.files_of(places)
    sums = money_by_file(heap, places, owners) if len(places) else {}
    for (file, currency), (count, money) in sorted(sums.items()):
        names = [files[number].file.name for number in np.unique(others[owners == file]).tolist()]
        listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more files" if len(names) > SHOWN else "")
        text = f"{count:,} {'line' if count == 1 else 'lines'} in {currency} also in {listed}; all of them count"
        yield Problem(files[file].file.name, "repeated-lines", text, f"+{count}", plain(money))


def held_elsewhere(heap: Heap) -> tuple[np.ndarray, np.ndarray]:
    """Places, in order, of lines that another file has as often or more often; and the number of that file."""
    order, same = heap.equals
    if not len(order):
        return order, order
    kind = np.concatenate([[0], np.cumsum(~same)])
    file = heap.files_of(order)
    pairs, counts = np.unique(np.stack([kind, file]), axis=1, return_counts=True)
    most = np.lexsort((pairs[1], -counts, pairs[0]))
    keeper = pairs[1][most[np.unique(pairs[0][most], return_index=True)[1]]][kind]
    again = np.flatnonzero(file != keeper)
    again = again[np.argsort(order[again])]
    return order[again], keeper[again]


def money_by_file(heap: Heap, places: np.ndarray, owners: np.ndarray) -> dict[tuple[int, str], tuple[int, Decimal]]:
    """Lines and their money, by the number of the file and the currency."""
    counts: Counter[tuple[int, str]] = Counter()
    money: dict[tuple[int, str], Decimal] = {}
    first = 0
    for block in heap.stored(COLUMNS):
        begin, end = np.searchsorted(places, [first, first + block.num_rows])
        lines = block.take(pa.array(places[begin:end] - first))
        first += block.num_rows
        for file in np.unique(owners[begin:end]).tolist():
            own = lines.filter(pa.array(owners[begin:end] == file))
            for currency in pc.unique(own["BillingCurrency"]).to_pylist():
                part = own.filter(pc.equal(own["BillingCurrency"], currency))
                counts[file, currency] += part.num_rows
                money[file, currency] = total_of((money.get((file, currency), Decimal(0)), carried(part)))
    return {key: (count, money[key]) for key, count in counts.items()}
