"""What the vendor says, what was read and what was posted: per bill, invoice, service or day, with every difference explained.

read       the cost lines that the books hold now, by the policy's basis
posted     the cost lines that the last run counted; they add up to its postings, or the report says so
vendor     what another statement of the vendor's says of the same money (a source of role `reference`: invoices, Cost Explorer),
           compared in the same cost
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import ZERO, less, section, total
from apportion.reports.words import counted, shown

BY = {"bill": "", "invoice": "InvoiceId", "service": "ServiceName", "day": "day"}
NONE = {"InvoiceId": "(no invoice yet)", "ServiceName": "(no service)", "day": ""}
BASES = {
    "EffectiveCost": "effective",
    "BilledCost": "billed",
    "ListCost": "list",
    "NetCost": "net",
    "ContractedCost": "contracted",
}
Key = tuple[str, str]  # bill, and what it is looked at by


@dataclass(frozen=True, slots=True)
class Restated:
    """What one delivery changed in a bill that an earlier one had told of."""

    bill: str
    currency: str
    source: str
    delivery: str
    service: str
    before: Decimal
    after: Decimal


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a source: the lines and the money that they had when they were read, and what the books hold of them."""

    source: str
    currency: str
    files: int
    lines: int
    kept: int
    control: Decimal
    held: Decimal


@dataclass(frozen=True, slots=True)
class Sides:
    """Lines have the columns of cost lines and `bill`, `day` and `amount`. `posted` is null before anything was posted."""

    period: str
    basis: str
    read: pa.Table
    counted: pa.Table | None
    posted: Mapping[str, Decimal]
    references: pa.Table
    files: Sequence[Files] = ()
    restated: Sequence[Restated] = ()
    notes: tuple[str, ...] = field(default=())
    head: str = ""
    policies: tuple[str, ...] = ()


COLUMNS = (
    Column("bill", "bill"),
    Column("key", "", quiet=True),
    Column("status", "status", quiet=True),
    Column("lines", "lines", "count"),
    Column("read", "read", "money"),
    Column("posted", "posted", "money"),
    Column("difference", "not posted", "money"),
    Column("why", "why", quiet=True),
)
REFERENCES = (
    Column("bill", "bill"),
    Column("key", "", quiet=True),
    Column("source", "reference"),
    Column("cost", "cost"),
    Column("vendor", "vendor says", "money"),
    Column("read", "read", "money"),
    Column("difference", "difference", "money"),
    Column("why", "why", quiet=True),
)
BRIDGE = (
    Column("bill", "bill"),
    Column("billed", "invoiced", "money"),
    Column("prepaid", "prepaid out", "money"),
    Column("used", "used in", "money"),
    Column("unused", "unused in", "money"),
    Column("other", "other", "money"),
    Column("effective", "amortised", "money"),
)
FILES = (
    Column("source", "source"),
    Column("files", "files", "count"),
    Column("lines", "lines in files", "count"),
    Column("kept", "lines in books", "count"),
    Column("control", "sum of files", "money"),
    Column("held", "sum in books", "money"),
    Column("difference", "difference", "money"),
)
RESTATED = (
    Column("bill", "bill"),
    Column("source", "source"),
    Column("delivery", "delivery"),
    Column("service", "service"),
    Column("before", "before", "money"),
    Column("after", "after", "money"),
    Column("change", "change", "money"),
)


def reconcile(sides: Sides, by: str = "bill") -> Report:
    rows = compared(sides, BY[by])
    others = against_references(sides, BY[by])
    tables = [
        ("references", "Beside what the vendor says elsewhere", REFERENCES, others),
        ("bridge", "Invoiced and amortised", BRIDGE, bridge(sides.read)),
        ("files", "From the files to the books", FILES, [file_row(one) for one in sides.files]),
        ("restated", "Bills that were delivered again", RESTATED, [restated_row(one) for one in sides.restated]),
    ]
    title = sentence(sides, rows, others)
    beside = tuple(made(name, heading, columns, found, sides) for name, heading, columns, found in tables if found)
    main = made("reconcile", title, COLUMNS, rows, sides)
    return Report(
        main.name, title, sides.period, main.columns, main.sections, sides.head, sides.policies,
        (f"Amounts are {sides.basis}.", *sides.notes), {"basis": sides.basis, "by": by}, beside,
    )  # fmt: skip


def made(name: str, title: str, columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]], sides: Sides) -> Report:
    currencies = sorted({str(row["currency"]) for row in rows})
    whole = "read" if any(column.name == "read" for column in columns) else ""
    sections = []
    for currency in currencies:
        own = [row for row in rows if row["currency"] == currency]
        amounts = [cell for row in own if isinstance(cell := row.get(whole), Decimal)]
        sections.append(section(currency, total(amounts), columns, own))
    return Report(name, title, sides.period, tuple(columns), tuple(sections), "")


def sums(lines: pa.Table, column: str, amount: str = "amount") -> dict[tuple[str, Key], Decimal]:
    """(currency, (bill, key)) -> money."""
    return {key: money for key, (money, _) in grouped(lines, column, amount).items()}


def grouped(lines: pa.Table, column: str, amount: str) -> dict[tuple[str, Key], tuple[Decimal, int]]:
    if not len(lines):
        return {}
    keys = pc.fill_null(lines[column], NONE[column]) if column else pa.repeat(pa.scalar(""), len(lines))
    table = pa.table({
        "currency": lines["BillingCurrency"], "bill": lines["bill"], "key": keys, "amount": pc.fill_null(lines[amount], ZERO),
    })  # fmt: skip
    found = table.group_by(["currency", "bill", "key"]).aggregate([("amount", "sum"), ("amount", "count")])
    return {
        (row["currency"], (row["bill"], row["key"])): (row["amount_sum"], row["amount_count"])
        for row in found.to_pylist()
    }


def compared(sides: Sides, column: str) -> list[dict[str, Cell]]:
    now = grouped(sides.read, column, "amount")
    then = sums(sides.counted, column) if sides.counted is not None else None
    states = statuses(sides.read)
    booked = {bill: amount for (_, (bill, _)), amount in sums(sides.counted, "").items()} if then is not None else {}
    rows: list[dict[str, Cell]] = []
    for currency, key in sorted({*now, *(then or ())}):
        money, lines = now.get((currency, key), (ZERO, 0))
        posted = None if then is None else then.get((currency, key), ZERO)
        difference = None if posted is None else less(money, posted)
        rows.append({
            "currency": currency, "bill": key[0], "key": key[1] or None, "status": states.get(key[0]), "lines": lines,
            "read": money, "posted": posted, "difference": difference, "why": why(sides, currency, key, difference, booked),
        })  # fmt: skip
    return rows


def statuses(lines: pa.Table) -> dict[str, str]:
    """Of each bill that says: estimated while one of its lines is."""
    said = (
        lines.select(["bill", "status"]).filter(lines["status"].is_valid()).group_by(["bill", "status"]).aggregate([])
    )
    found: dict[str, str] = {}
    for row in said.to_pylist():
        found[row["bill"]] = "estimated" if "estimated" in (row["status"], found.get(row["bill"])) else "final"
    return found


def why(sides: Sides, currency: str, key: Key, difference: Decimal | None, booked: Mapping[str, Decimal]) -> str | None:
    """What explains a difference, or what is wrong with an amount that has none."""
    bill = key[0]
    if difference is None:
        return f"not posted yet: apportion plan --period {sides.period}"
    ours = booked.get(bill, ZERO)
    if not key[1] and sides.posted.get(bill, ours) != ours:
        return f"the ledger has {shown(sides.posted[bill], currency)}: run apportion verify"
    if not difference:
        return None
    later = sorted({one.delivery for one in sides.restated if one.bill == bill})
    cause = f"delivered again ({', '.join(later[-2:])})" if later else "delivered after the last run"
    return f"{cause}: apportion plan --period {sides.period} shows it, apply posts it"


def against_references(sides: Sides, column: str) -> list[dict[str, Cell]]:
    """Each reference in the first cost that it tells, the basis before others, over the bills that it speaks of."""
    rows: list[dict[str, Cell]] = []
    for source in sorted(pc.unique(sides.references["source"]).to_pylist()):
        own = sides.references.filter(pc.equal(sides.references["source"], source))
        cost = next((name for name in BASES if own[name].null_count < len(own)), "EffectiveCost")
        said = sums(own, column, cost)
        mine = sides.read.filter(
            pc.is_in(sides.read["bill"], pa.array(sorted({key[0] for _, key in said}), pa.string()))
        )
        ours = sums(mine, column, cost)
        for currency, key in sorted({*said, *ours}):
            vendor, read = said.get((currency, key)), ours.get((currency, key))
            difference = less(read or ZERO, vendor or ZERO)
            rows.append({
                "currency": currency, "bill": key[0], "key": key[1] or None, "source": source, "cost": BASES[cost],
                "vendor": vendor, "read": read, "difference": difference,
                "why": apart(mine, own, (vendor, read), key, cost) if difference else None,
            })  # fmt: skip
    return rows


def apart(mine: pa.Table, theirs: pa.Table, told: tuple[Decimal | None, Decimal | None], key: Key, cost: str) -> str:
    """Which part of a bill makes the difference."""
    vendor, read = told
    if read is None:
        return "no bill that was read says anything of it"
    if vendor is None:
        return "the reference does not speak of it"
    if key[1]:
        return "open"
    parts = min((differing(mine, theirs, (key[0], column), cost) for column in ("InvoiceId", "ServiceName")), key=len)
    largest = sorted(parts, key=lambda name: (-abs(parts[name]), name))[:3]
    return "mostly " + ", ".join(f"{name} {parts[name]:+,.2f}" for name in largest)


def differing(mine: pa.Table, theirs: pa.Table, where: Key, cost: str) -> dict[str, Decimal]:
    """What differs of a bill, by invoice or by service: whichever tells it in fewer words."""
    bill, column = where
    ours, others = (
        {name: amount for (_, (found, name)), amount in sums(lines, column, cost).items() if found == bill}
        for lines in (mine, theirs)
    )
    parts = {name: less(ours.get(name, ZERO), others.get(name, ZERO)) for name in {*ours, *others}}
    return {name: part for name, part in parts.items() if part}


def bridge(lines: pa.Table) -> list[dict[str, Cell]]:
    """Prepaid money goes out, the period's part of it comes in; nothing else may differ, and what does is named."""
    rows: list[dict[str, Cell]] = []
    for bill in sorted(pc.unique(lines["bill"]).to_pylist()):
        own = lines.filter(pc.equal(lines["bill"], bill))
        billed, effective = (total(own[name].drop_null().to_pylist()) for name in ("BilledCost", "EffectiveCost"))
        if billed == effective or own["BilledCost"].null_count == len(own):
            continue
        currency = own["BillingCurrency"][0].as_py()
        rows.append({"currency": currency, "bill": bill, "billed": billed, **steps_of(own), "effective": effective})
    return rows


def steps_of(own: pa.Table) -> dict[str, Decimal]:
    bought = pc.equal(pc.fill_null(own["ChargeCategory"], ""), "Purchase")
    unused = pc.equal(pc.fill_null(own["CommitmentDiscountStatus"], ""), "Unused")
    committed = pc.if_else(own["CommitmentDiscountId"].is_valid(), "used", "other")
    kinds = pc.if_else(bought, "prepaid", pc.if_else(unused, "unused", committed))
    costs = {name: pc.fill_null(own[name], ZERO) for name in ("EffectiveCost", "BilledCost")}
    found = pa.table({"kind": kinds, **costs}).group_by("kind").aggregate([(name, "sum") for name in costs])
    return {row["kind"]: less(row["EffectiveCost_sum"], row["BilledCost_sum"]) for row in found.to_pylist()}


def file_row(one: Files) -> dict[str, Cell]:
    return {
        "currency": one.currency, "source": one.source, "files": one.files, "lines": one.lines, "kept": one.kept,
        "control": one.control, "held": one.held, "difference": less(one.held, one.control),
    }  # fmt: skip


def restated_row(one: Restated) -> dict[str, Cell]:
    return {
        "currency": one.currency, "bill": one.bill, "source": one.source, "delivery": one.delivery, "service": one.service,
        "before": one.before, "after": one.after, "change": less(one.after, one.before),
    }  # fmt: skip


def sentence(sides: Sides, rows: Iterable[Mapping[str, Cell]], others: Sequence[Mapping[str, Cell]]) -> str:
    bills = {str(row["bill"]) for row in rows}
    if not bills:
        return f"There is no bill for {sides.period}."
    open_ = {str(row["bill"]) for row in rows if row["posted"] is None or row["difference"] or row["why"]}
    said = f"{counted(len(bills), 'bill')} of {sides.period}: "
    said += "all that was read is posted" if not open_ else f"{counted(len(open_), 'bill')} not posted as read"
    told = {str(row["bill"]) for row in others}
    apart_ = {str(row["bill"]) for row in others if row["difference"]}
    if told:
        said += f"; {counted(len(told), 'bill')} compared with references, " + (
            f"{len(apart_)} with a difference" if apart_ else "no difference"
        )
    return said + "."
