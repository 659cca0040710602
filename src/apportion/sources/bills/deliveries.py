"""Cost lines by billing period, each period one delivery: the lines, their problems, their files and the scope they speak for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import attrgetter

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.delivery import Delivery, Scope
from apportion.model.money import plain
from apportion.model.rows import COST_LINES
from apportion.model.times import Interval
from apportion.sources.bills.bill import Bill, Reading
from apportion.sources.bills.identity import line_ids
from apportion.sources.bills.placing import place
from apportion.sources.cells.marks import LISTED
from apportion.sources.cells.money import total
from apportion.sources.files.sheet import STEP


def deliveries(bills: Sequence[Bill], reading: Reading, window: Interval | None) -> Iterator[Delivery]:
    lines = place(bills)
    parts = [lines.slice(first, STEP).combine_chunks() for first in range(0, lines.num_rows, STEP)]
    ids = line_ids(parts, reading.source)
    whole = lines.append_column("line_id", ids).append_column(
        "source", pa.repeat(pa.scalar(reading.source), lines.num_rows)
    )
    whole = whole.select(COST_LINES.names).cast(COST_LINES)
    found = list(problems(bills, whole))
    for covered in windows(whole):
        middle = (covered.start_s + covered.end_s) // 2  # a zone's midnight is some hours off the bill's own bounds
        if window is None or window.start_s <= middle < window.end_s:
            yield delivery(covered, whole, bills, found, reading)


def windows(lines: pa.Table) -> list[Interval]:
    """The billing periods, those that overlap as one: what a later delivery replaces must hold all that it brings."""
    periods = lines.group_by(["billing_start_s"]).aggregate([("billing_end_s", "max")]).sort_by("billing_start_s")
    found: list[Interval] = []
    for start, end in zip(
        periods["billing_start_s"].to_pylist(), periods["billing_end_s_max"].to_pylist(), strict=True
    ):
        if found and start < found[-1].end_s:
            found[-1] = Interval(found[-1].start_s, max(found[-1].end_s, end))
        else:
            found.append(Interval(start, end))
    return found


@dataclass(frozen=True, slots=True)
class Found:
    """A problem and the start of the billing period that it belongs to."""

    billing_start_s: int
    problem: Problem


def problems(bills: Sequence[Bill], lines: pa.Table) -> Iterator[Found]:
    """Each with the id and the money of its line. Beyond the first thousand of a kind in a file, one for the rest."""
    first = 0
    for bill in bills:
        own = lines.slice(first, bill.lines.num_rows)
        first += bill.lines.num_rows
        home = pc.min((own if own.num_rows else lines)["billing_start_s"]).as_py()
        for code, found in groupby(sorted(bill.faults, key=attrgetter("code")), attrgetter("code")):
            faults = list(found)
            for fault in faults[:LISTED]:
                at = fault.line if fault.line >= 0 else fault.row  # without either it is about the file
                line = own.slice(at, 1) if 0 <= at < own.num_rows else None
                start = home if line is None else line["billing_start_s"][0].as_py()
                row, money = ("", Decimal(0)) if line is None else (line["line_id"][0].as_py(), carried(line))
                where = bill.where(fault.row) if fault.row >= 0 else bill.file.name
                yield Found(start, Problem(where, code, fault.message, row, plain(money)))
            if rest := [max(fault.line, fault.row) for fault in faults[LISTED:]]:
                message = f"and {len(rest)} more lines with the same fault"
                yield Found(
                    home, Problem(bill.file.name, code, message, f"+{len(rest)}", plain(carried(own.take(rest))))
                )


def carried(lines: pa.Table) -> Decimal:
    """The money of some lines."""
    return total(pc.coalesce(lines["EffectiveCost"], lines["BilledCost"]))


def delivery(
    covered: Interval, lines: pa.Table, bills: Sequence[Bill], found: Sequence[Found], reading: Reading
) -> Delivery:
    inside = pc.and_(
        pc.greater_equal(lines["billing_start_s"], covered.start_s), pc.less(lines["billing_start_s"], covered.end_s)
    )
    own = lines.filter(inside)
    files = []
    first = 0
    for bill in bills:
        count = bill.lines.num_rows
        if count == 0 or pc.any(inside.slice(first, count)).as_py():
            files.append(bill.digest)
        first += count
    mine = tuple(one.problem for one in found if covered.start_s <= one.billing_start_s < covered.end_s)
    return Delivery(reading.source, covered, {"cost_lines": own}, mine, tuple(files), tuple(scopes(own, reading)))


def scopes(lines: pa.Table, reading: Reading) -> Iterator[Scope]:
    """One for each issuer: its accounts and billing periods."""
    keys = ["InvoiceIssuerName", "BillingAccountId", "billing_start_s", "billing_end_s"]
    rows = lines.select(keys).group_by(keys).aggregate([]).to_pylist()
    for issuer in sorted({row["InvoiceIssuerName"] for row in rows}):
        own = [row for row in rows if row["InvoiceIssuerName"] == issuer]
        accounts = tuple(sorted({row["BillingAccountId"] or "" for row in own}))
        billing = tuple(sorted({Interval(row["billing_start_s"], row["billing_end_s"]) for row in own}))
        yield Scope(issuer, accounts, (), billing, role=reading.role)
