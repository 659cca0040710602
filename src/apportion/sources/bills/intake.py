"""The files of a source, block by block, into the spool; and from there the deliveries.

Memory does not grow with the bill: what is kept of a block is its lines on disk, 16 bytes a line, and the faults that are listed.
"""

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.bills.bill import Bill, Reading, ending, no_lines, refuse_bad_rows
from apportion.sources.bills.fitting import cut, whole
from apportion.sources.bills.form import Form, FormOf
from apportion.sources.bills.lines import Written
from apportion.sources.bills.manifests.listed import as_stated
from apportion.sources.bills.part import Fault, Part
from apportion.sources.bills.placing import TIMES_S, no_billing_period, place
from apportion.sources.bills.shapes import form_for
from apportion.sources.bills.spool import Spool
from apportion.sources.bills.taken import Noted, Taken
from apportion.sources.bills.watch import Watch
from apportion.sources.cells.money import total
from apportion.sources.files.flow import BLOCK_ROWS, flowing
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import once

TURN_S = 0.0001
BEHIND = 2  # blocks that wait to be put away


class Intake:
    """What was read so far. Lines that lack a time wait until all files are read: a period is found for them then."""

    def __init__(self, folder: Path, reading: Reading, watch: Watch | None = None) -> None:
        self.reading = reading
        self.watch = watch or Watch()
        self.spool = Spool(folder, reading.source, self.watch.finish)
        self.files: list[Taken] = []
        self.waiting: list[pa.Table] = []
        self.seen: dict[str, str] = {}

    def read(self, file: InputFile, form_of: FormOf) -> None:
        forms: list[Form] = []

        def wanted(header: Sequence[str]) -> Sequence[str]:
            forms.append(form_for(header, file, form_of))
            return forms[0].columns

        taken = Taken(file)
        rows = made = 0
        with flowing(file, wanted) as flow, ThreadPoolExecutor(1) as beside, short_turns():
            behind: deque[Future[None]] = deque()
            for block in flow.blocks:
                part = Part(flow.where, block, rows, [])
                written = Written(part, forms[0].translate(part), made)
                lines = written.table(self.reading.currency)
                faults = [(fault, line_of(fault, written)) for fault in part.faults]
                if len(behind) == BEHIND:
                    behind.popleft().result()
                behind.append(beside.submit(self.put_away, taken, forms[0], lines, faults))  # while the next is read
                rows, made = rows + block.num_rows, made + lines.num_rows
            for block_put in behind:
                block_put.result()
            end = flow.end
        refuse_bad_rows(end)
        as_stated(file, rows, end.sha256)
        once(end, self.seen, rows)
        for note in (*forms[0].notes, *ending(end)) if forms else ():
            taken.note(note)
        taken.where, taken.sha256 = end.where, end.sha256
        self.files.append(taken)

    def put_away(self, taken: Taken, form: Form, lines: pa.Table, faults: Sequence[tuple[Fault, int]]) -> None:
        lines = cut(lines)
        self.watch.see(taken, form, lines)
        self.take(taken, lines, faults)

    def read_bill(self, bill: Bill) -> None:
        """One that was read as a whole, because its vendor had to see all of it."""
        taken = Taken(bill.file, bill.where, bill.digest.sha256)
        faults: dict[int, list[tuple[Fault, int]]] = {}
        for fault in bill.faults:
            at = fault.line if fault.line >= 0 else fault.row
            faults.setdefault(at // BLOCK_ROWS if at >= 0 else 0, []).append(
                (fault, at % BLOCK_ROWS if at >= 0 else -1)
            )
        for number in range(-(-bill.lines.num_rows // BLOCK_ROWS)):
            lines = cut(bill.lines.slice(number * BLOCK_ROWS, BLOCK_ROWS).combine_chunks())
            self.take(taken, lines, faults.pop(number, ()))
        for fault, _ in (found for left in faults.values() for found in left):
            taken.note(fault)
        self.files.append(taken)

    def take(self, taken: Taken, lines: pa.Table, faults: Iterable[tuple[Fault, int]]) -> None:
        """`faults` come with the number of their line in the block, -1 where there is none."""
        taken.lines += lines.num_rows
        taken.cost.append(total(whole(lines, "EffectiveCost")))
        lacking = np.zeros(lines.num_rows, bool)
        for name in TIMES_S:
            lacking |= lines[name].is_null().to_numpy() if lines[name].null_count else False
        spots = self.spool.add(lines.filter(pa.array(~lacking)) if lacking.any() else lines, len(self.files))
        taken.starts.update(np.unique(spots.start_s).tolist())
        first = sum(len(block) for block in self.waiting)
        if lacking.any():
            self.waiting.append(lines.filter(pa.array(lacking)))
            taken.waiting.extend(range(first, first + int(lacking.sum())))
        placed, apart = np.cumsum(~lacking) - 1, np.cumsum(lacking) - 1 + first
        for fault, line in faults_by_line(faults):
            found = Noted(fault)
            if line >= 0:
                found.money = carried(lines.slice(line, 1))
            if line >= 0 and lacking[line]:
                found.waiting = int(apart[line])
            elif line >= 0:
                at = placed[line]
                found.spot = int(spots.start_s[at]), int(spots.place[at])
            taken.add(found)

    def settle(self) -> None:
        """Finds a place for the lines that wait."""
        if not any(taken.lines for taken in self.files):
            raise no_lines([taken.file.name for taken in self.files])
        if not self.waiting:
            return
        lines = pa.concat_tables(self.waiting)
        first = min([*self.spool.heaps, *pc.unique(lines["billing_start_s"].drop_null()).to_pylist()], default=None)
        if first is None and lines["charge_start_s"].null_count:
            example = next(
                (one.fault for file in self.files for one in file.noted if one.fault.code == "invalid-time"), None
            )
            raise no_billing_period(self.files[0].where(0), example.message if example else "")
        placed = place(lines, first)
        for number, taken in enumerate(self.files):
            if not taken.waiting:
                continue
            begin = taken.waiting[0]
            spots = self.spool.add(placed.slice(begin, len(taken.waiting)).combine_chunks(), number)
            taken.starts.update(spots.start_s.tolist())
            for found in (*taken.noted, *taken.rest.values()):
                if found.waiting is not None:
                    at = found.waiting - begin
                    found.spot = int(spots.start_s[at]), int(spots.place[at])


@contextmanager
def short_turns() -> Iterator[None]:
    """Of two threads, one that hashes line by line and one of many short steps: the latter would wait out the former's turn after each."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def line_of(fault: Fault, written: Written) -> int:
    """The number of the fault's line in its block; the first one where a row made several."""
    if fault.line >= 0:
        return fault.line - written.first_line
    row = fault.row - written.part.first_row
    if fault.row < 0 or written.lines.rows is None:
        return row if fault.row >= 0 else -1
    lines = np.flatnonzero(written.lines.rows.to_numpy() == row)
    return int(lines[0]) if len(lines) else -1


def carried(lines: pa.Table) -> Decimal:
    """The money of some lines."""
    return total(pc.coalesce(lines["EffectiveCost"], lines["BilledCost"]))


def faults_by_line(faults: Iterable[tuple[Fault, int]]) -> Iterator[tuple[Fault, int]]:
    """A line counts once for each code, with its money: what its cells say is one message."""
    lines: dict[object, list[tuple[Fault, int]]] = {}
    for number, (fault, line) in enumerate(faults):
        lines.setdefault((line, fault.code) if line >= 0 else number, []).append((fault, line))
    for (first, line), *others in lines.values():
        yield replace(first, message="; ".join((first.message, *(fault.message for fault, _ in others)))), line
