"""A delivered table that is too large for memory: read in blocks, whose keys and content are looked at as they pass."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from apportion.books.digest import MODULUS, content_sum
from apportion.books.duplicates import key_hashes
from apportion.books.tables import KEEPING, fit
from apportion.books.window import inside
from apportion.model.delivery import Delivery, Rows

BESIDE = 2
Piece = tuple[pa.Table, Callable[[], int] | None]  # rows, and what tells their content sum where it is taken already


@dataclass(frozen=True, slots=True)
class Looked:
    num_rows: int
    sums: tuple[int, ...]  # the contents of the blocks, in their order
    unique: bool  # no two rows have one key


@dataclass(slots=True)
class Blocks:
    """Rows as they will be kept. What is asked of them as a whole is known once they were read; asking reads them."""

    name: str
    rows: Rows
    delivery: Delivery
    known: Looked | None = field(default=None)

    @property
    def looked(self) -> Looked:
        if self.known is None:
            for _ in self.pieces():
                pass
        assert self.known is not None
        return self.known

    @property
    def num_rows(self) -> int:
        return self.looked.num_rows

    def content_sum(self) -> int:
        return sum(self.looked.sums) % MODULUS

    def kept(self, block: pa.Table) -> pa.Table:
        return inside(self.name, fit(self.name, block, self.delivery.source), self.delivery.window)

    def pieces(self) -> Iterator[Piece]:
        hashes: list[np.ndarray] = []
        sums: list[Future[int]] = []
        count = 0
        with ThreadPoolExecutor(BESIDE) as beside:
            for block in ahead(map(self.kept, self.rows.blocks())):
                if self.delivery.is_keyed(self.name):
                    hashes.append(key_hashes(self.name, block))
                if len(sums) >= BESIDE:
                    sums[-BESIDE].result()  # so that few blocks are in memory at once
                sums.append(beside.submit(content_sum, block))
                count += block.num_rows
                yield block, sums[-1].result
            every = np.sort(np.concatenate(hashes)) if hashes else np.zeros(0, np.uint64)
            unique = not (every[1:] == every[:-1]).any()
            self.known = Looked(count, tuple(one.result() for one in sums), unique)


def fits(name: str) -> bool:
    """Tables that are kept by key must be seen all at once."""
    return name not in KEEPING or KEEPING[name].cut != "none"


def ahead(blocks: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The next one is read while one is worked on."""
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(next, blocks, None)
        while (block := waiting.result()) is not None:
            waiting = beside.submit(next, blocks, None)
            yield block
