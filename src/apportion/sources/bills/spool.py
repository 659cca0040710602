"""Cost lines on their way to the books: few in memory, many in temporary files, by the start of their billing period.

A line's id is a hash of what it says. Equal lines differ by their number, which is known only when all were seen: so the hashes are
kept beside the lines, and the ids are made when the lines are read back.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import COST_LINES
from apportion.sources.bills.fitting import OF_BILL, REST, RESTS, Places, higher, is_cut, raised
from apportion.sources.bills.identity import BYTES, beside_equals, hashes_of, id_column, repeated
from apportion.sources.bills.lines import SCHEMA as LINES

Finish = Callable[[pa.Table], pa.Table]  # what is done to a block of lines on its way out
IN_MEMORY = 2**18  # lines of one billing period
SCHEMA = pa.schema([*LINES, *(pa.field(rest, REST) for rest in RESTS.values())])
PACKED = pa.ipc.IpcWriteOptions(compression="lz4")  # as they lie in memory: Parquet would take ten times as long


class Spots(NamedTuple):
    """Where lines lie: the start of their billing period, and their number among the lines of that."""

    start_s: np.ndarray
    place: np.ndarray


class Heap:
    """The lines of one billing period."""

    def __init__(self, folder: Path, start_s: int, source: str, finish: Finish) -> None:
        self.finish = finish
        self.file = folder / f"{start_s}.arrow"
        self.marks = folder / f"{start_s}.ids"
        self.source = source
        self.start_s = start_s
        self.end_s = start_s
        self.count = 0
        self.cut = False  # some line had more places than are kept
        self.parts: list[
            tuple[int, int]
        ] = []  # the first place of each run of lines, and the number of the file that they are from
        self.blocks: list[pa.Table] = []
        self.held: list[bytes] = []
        self.writer: pa.ipc.RecordBatchFileWriter | None = None

    def add(self, lines: pa.Table, hashes: bytes, file: int) -> None:
        if not self.parts or self.parts[-1][1] != file:
            self.parts.append((self.count, file))
        self.blocks.append(lines)
        self.held.append(hashes)
        self.count += lines.num_rows
        self.cut = self.cut or is_cut(lines)
        self.end_s = max(self.end_s, pc.max(lines["billing_end_s"]).as_py())
        if self.count > IN_MEMORY:
            self.spill()

    def spill(self) -> None:
        if self.writer is None:
            self.writer = pa.ipc.new_file(self.file, SCHEMA, options=PACKED)
        for block in self.blocks:
            self.writer.write_table(block)
        with self.marks.open("ab") as marks:
            marks.writelines(self.held)
        self.blocks, self.held = [], []

    @cached_property
    def hashes(self) -> np.ndarray:
        """Of all lines; none is added any more."""
        if self.writer is None:
            return np.frombuffer(b"".join(self.held), np.uint8).reshape(-1, BYTES)
        self.writer.close()
        return np.memmap(self.marks, np.uint8, "r").reshape(-1, BYTES)

    @cached_property
    def equals(self) -> tuple[np.ndarray, np.ndarray]:
        return beside_equals(self.hashes)

    @cached_property
    def repeats(self) -> dict[int, bytes]:
        return repeated(self.hashes, self.equals, self.source)

    @cached_property
    def steps(self) -> dict[str, Places]:
        """Places of the lines of which a cost is one step higher, so that the bill's sum stays right."""
        if not self.cut:
            return {}
        ids = np.array(self.hashes)
        for place, own in self.repeats.items():
            ids[place] = np.frombuffer(own, np.uint8)
        return higher(self.stored([*RESTS.values(), *OF_BILL]), ids)

    def files_of(self, places: np.ndarray) -> np.ndarray:
        """The numbers of the files that lines are from."""
        firsts, files = np.array(self.parts, np.int64).reshape(-1, 2).T
        return files[np.searchsorted(firsts, places, "right") - 1]

    def line_id(self, place: int) -> str:
        return (self.repeats.get(place) or bytes(self.hashes[place])).hex()

    def read(self) -> Iterator[pa.Table]:
        """Whole cost lines, in blocks."""
        again = np.array(sorted(self.repeats), np.int64)
        first = 0
        for block in self.stored():
            hashes = np.array(self.hashes[first : first + block.num_rows])
            for place in again[np.searchsorted(again, first) : np.searchsorted(again, first + len(hashes))].tolist():
                hashes[place - first] = np.frombuffer(self.repeats[place], np.uint8)
            finished = self.finish(raised(block, first, self.steps))
            first += block.num_rows
            whole = finished.append_column("line_id", id_column(hashes))
            whole = whole.append_column("source", pa.repeat(pa.scalar(self.source), block.num_rows))
            yield whole.select(COST_LINES.names).cast(COST_LINES)

    def stored(self, columns: Sequence[str] = SCHEMA.names) -> Iterator[pa.Table]:
        if self.writer is None:
            yield from (block.select(columns) for block in self.blocks)
            return
        self.writer.close()  # nothing is added any more; closing twice is fine
        options = pa.ipc.IpcReadOptions(included_fields=sorted(map(SCHEMA.get_field_index, columns)))
        with pa.OSFile(str(self.file)) as raw, pa.ipc.open_file(raw, options=options) as file:
            for number in range(file.num_record_batches):
                yield pa.Table.from_batches([file.get_batch(number)]).select(columns)


class Spool:
    """All lines of a source's files, each with all its times."""

    def __init__(self, folder: Path, source: str, finish: Finish) -> None:
        self.finish = finish
        self.folder = folder
        self.source = source
        self.heaps: dict[int, Heap] = {}

    def add(self, lines: pa.Table, file: int) -> Spots:
        """Of a file, by its number."""
        starts = lines["billing_start_s"].to_numpy()
        if not len(starts):
            return Spots(starts, starts)
        hashes = hashes_of(lines, self.source)
        places = np.zeros(len(starts), np.int64)
        distinct = np.unique(starts).tolist()
        for start_s in distinct:
            heap = self.heaps.setdefault(start_s, Heap(self.folder, start_s, self.source, self.finish))
            rows: Any = np.flatnonzero(starts == start_s) if len(distinct) > 1 else np.arange(len(starts))
            places[rows] = heap.count + np.arange(len(rows))
            heap.add(lines.take(rows) if len(distinct) > 1 else lines, hashes[rows].tobytes(), file)
        return Spots(starts, places)
