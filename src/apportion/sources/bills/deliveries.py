"""Cost lines by billing period, each period one delivery: the lines, their problems, their files and the scope they speak for."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from apportion.errors import Problem
from apportion.model.delivery import Delivery, Rows, Scope, electricity_of
from apportion.model.money import plain
from apportion.model.times import Interval
from apportion.sources.bills.bill import Bill, Reading
from apportion.sources.bills.form import FormOf
from apportion.sources.bills.intake import Intake
from apportion.sources.bills.repeats import tell_all
from apportion.sources.bills.spool import IN_MEMORY, Heap
from apportion.sources.bills.taken import Noted, Taken
from apportion.sources.bills.watch import Watch
from apportion.sources.files.paths import InputFile
from apportion.sources.settings import COUNTED

SCOPE = ["InvoiceIssuerName", "BillingAccountId", "billing_start_s", "billing_end_s"]


def bill_deliveries(
    files: Sequence[InputFile], form_of: FormOf, reading: Reading, window: Interval | None, watch: Watch | None = None
) -> Iterator[Delivery]:
    """All files of a source, read in blocks; with `window`, those billing periods whose middle lies in it."""
    with TemporaryDirectory(prefix="apportion-") as folder:
        intake = Intake(Path(folder), reading, watch)
        for file in files:
            intake.read(file, form_of)
        yield from hand_over(intake, window)


def deliveries(bills: Sequence[Bill], reading: Reading, window: Interval | None) -> Iterator[Delivery]:
    """The same for bills that were read as a whole."""
    with TemporaryDirectory(prefix="apportion-") as folder:
        intake = Intake(Path(folder), reading)
        for bill in bills:
            intake.read_bill(bill)
        yield from hand_over(intake, window)


def hand_over(intake: Intake, window: Interval | None) -> Iterator[Delivery]:
    intake.settle()
    intake.watch.settle(intake.files, intake.spool)
    for covered in windows(intake):
        middle = (covered.start_s + covered.end_s) // 2  # a zone's midnight is some hours off the bill's own bounds
        if window is None or window.start_s <= middle < window.end_s:
            yield delivery(covered, intake)


def windows(intake: Intake) -> list[Interval]:
    """The billing periods, those that overlap as one: what a later delivery replaces must hold all that it brings."""
    found: list[Interval] = []
    for start, heap in sorted(intake.spool.heaps.items()):
        if found and start < found[-1].end_s:
            found[-1] = Interval(found[-1].start_s, max(found[-1].end_s, heap.end_s))
        else:
            found.append(Interval(start, heap.end_s))
    return found


def delivery(covered: Interval, intake: Intake) -> Delivery:
    heaps = {start: heap for start, heap in sorted(intake.spool.heaps.items()) if inside(start, covered)}
    rows = Rows(
        sum(heap.count for heap in heaps.values()), lambda: chain.from_iterable(heap.read() for heap in heaps.values())
    )
    every = min(intake.spool.heaps)
    problems = tuple(
        problem(one, file, intake)
        for file in intake.files
        for one in file.in_order()
        if inside(one.spot[0] if one.spot else min(file.starts, default=every), covered)
    )
    again = () if intake.reading.repeats == COUNTED else tell_all(heaps.values(), intake.files)
    files = tuple(
        file.digest for file in intake.files if not file.lines or any(inside(start, covered) for start in file.starts)
    )
    found = tuple(scopes(heaps.values(), intake.reading))
    lines = rows if len(rows) > IN_MEMORY else rows.table()
    return Delivery(intake.reading.source, covered, {"cost_lines": lines}, (*problems, *again), files, found)


def inside(start: int, covered: Interval) -> bool:
    return covered.start_s <= start < covered.end_s


def problem(one: Noted, file: Taken, intake: Intake) -> Problem:
    """With the id and the money of its line."""
    if one.more:
        message = f"and {one.more} more lines with the same fault"
        return Problem(file.file.name, one.fault.code, message, f"+{one.more}", plain(one.money))
    where = file.where(one.fault.row) if one.fault.row >= 0 else file.file.name
    row = intake.spool.heaps[one.spot[0]].line_id(one.spot[1]) if one.spot else ""
    return Problem(where, one.fault.code, one.fault.message, row, plain(one.money))


def scopes(heaps: Iterable[Heap], reading: Reading) -> Iterator[Scope]:
    """One for each issuer: its accounts and billing periods. A bill for a site's electricity speaks for that, too."""
    rows = {
        tuple(row.values())
        for heap in heaps
        for block in heap.stored(SCOPE)
        for row in block.group_by(SCOPE).aggregate([]).select(SCOPE).to_pylist()
    }
    for issuer in sorted({row[0] for row in rows}):
        own = [row for row in rows if row[0] == issuer]
        accounts = tuple(sorted({account or "" for _, account, _, _ in own}))
        billing = tuple(sorted({Interval(start, end) for _, _, start, end in own}))
        yield Scope(issuer, accounts, (), billing, role=reading.role)
    if reading.electricity_of:
        spans = tuple(sorted({Interval(start, end) for _, _, start, end in rows}))
        yield Scope(electricity_of(reading.electricity_of), (), (), spans, role=reading.role)
