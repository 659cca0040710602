"""A delivered table that is too large for memory: looked through once in blocks, and read again when it is written."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from apportion.books.digest import MODULUS, content_sum
from apportion.books.duplicates import key_hashes
from apportion.books.tables import EVIDENCE, KEEPING, fit
from apportion.books.window import inside
from apportion.model.delivery import Delivery, Rows


@dataclass(frozen=True, slots=True)
class Blocks:
    """Rows as they will be kept. `sums` are the contents of the blocks, in their order."""

    name: str
    rows: Rows
    delivery: Delivery
    num_rows: int
    sums: tuple[int, ...]

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[pa.Table]:
        return ahead(map(self.looked_at, self.rows.blocks()))

    def looked_at(self, block: pa.Table) -> pa.Table:
        """As `kept` makes it, of a block that was found to fit."""
        schema = EVIDENCE[self.name]
        return inside(self.name, block.select(schema.names).cast(schema), self.delivery.window)

    def content_sum(self) -> int:
        return sum(self.sums) % MODULUS


def kept(name: str, delivery: Delivery, block: pa.Table) -> pa.Table:
    return inside(name, fit(name, block, delivery.source), delivery.window)


def in_blocks(name: str, rows: Rows, delivery: Delivery) -> Blocks | None:
    """None where rows must be seen all at once: two of one key, or a table that is kept by key."""
    if name in KEEPING and KEEPING[name].cut == "none":
        return None
    hashes, count = [], 0
    sums: list[Future[int]] = []
    with ThreadPoolExecutor(1) as beside:  # while the next block is read
        for found in map(partial(kept, name, delivery), rows.blocks()):
            hashes.append(key_hashes(name, found))
            if sums:
                sums[-1].result()
            sums.append(beside.submit(content_sum, found))
            count += found.num_rows
    every = np.sort(np.concatenate(hashes)) if hashes else np.zeros(0, np.uint64)
    if (every[1:] == every[:-1]).any():
        return None
    return Blocks(name, rows, delivery, count, tuple(one.result() for one in sums))


def ahead(blocks: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The next one is read while one is worked on."""
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(next, blocks, None)
        while (block := waiting.result()) is not None:
            waiting = beside.submit(next, blocks, None)
            yield block
