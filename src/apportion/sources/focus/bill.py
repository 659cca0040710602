"""One FOCUS file to cost lines, with what is wrong with some of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.delivery import FileDigest
from apportion.model.money import plain
from apportion.model.rows import CHARGE_CATEGORIES, COST_LINES, COSTS, FOCUS_NUMBERS, FOCUS_TEXT
from apportion.sources.cells.instants import instants
from apportion.sources.cells.labels import labels_from_cells
from apportion.sources.cells.money import money, total
from apportion.sources.cells.text import rows_where, text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet
from apportion.sources.focus.columns import TIMES, Layout, layout
from apportion.sources.focus.components import components

UTC = ZoneInfo("UTC")
NO_ISSUER = "(no issuer)"
NO_CURRENCY = "(none)"
SCHEMA = pa.schema([field for field in COST_LINES if field.name not in ("source", "line_id")])


@dataclass(frozen=True, slots=True)
class Reading:
    """How a source reads: its name, whether its bills are posted or only compared with, and a currency that it insists on."""

    source: str
    role: str = "bill"
    currency: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """A row number in the file, or -1 for the file as a whole."""

    row: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Bill:
    """One file. Its lines still lack their ids, and their billing period where that could not be read."""

    file: InputFile
    lines: pa.Table
    faults: tuple[Fault, ...]
    digest: FileDigest
    where: Callable[[int], str]
    layout: Layout


def read_bills(files: Sequence[InputFile], reading: Reading) -> list[Bill]:
    """All files of a source. The same contents under two names would count a bill twice and are refused."""
    bills: list[Bill] = []
    seen: dict[str, str] = {}
    for file in files:
        layouts: list[Layout] = []
        sheet = read_sheet(file, lambda header, file=file, layouts=layouts: wanted(header, file, layouts))
        if sheet.table.num_rows and sheet.content_sha256 in seen:
            raise InputError("same-file-twice", f"{file.name} and {seen[sheet.content_sha256]} have the same contents", where=file.name, hint="remove one of them: each line must be counted once")
        seen[sheet.content_sha256] = file.name
        bills.append(read_bill(sheet, layouts[0], reading))
    if not any(bill.lines.num_rows for bill in bills):
        raise InputError("no-rows", f"{files[0].name} holds no cost lines" if len(files) == 1 else "the files hold no cost lines", where=files[0].name)
    return bills


def wanted(header: Sequence[str], file: InputFile, layouts: list[Layout]) -> list[str]:
    layouts.append(layout(header, file))
    return list(layouts[0].columns.values())


def read_bill(sheet: Sheet, found: Layout, reading: Reading) -> Bill:
    if sheet.bad_rows:
        first = sheet.bad_rows[0]
        raise InputError("corrupt-file", f"{first.message}, so its amounts cannot be told", where=first.where, hint="the file is cut off or damaged: fetch it again")
    faults = list(file_faults(sheet, found))
    parts = []
    for first_row, part in sheet.parts():
        block = Block(sheet, found, part, first_row, faults)
        parts.append(pa.table(block.columns(reading), schema=nullable(SCHEMA)))
    lines = pa.concat_tables(parts) if parts else nullable(SCHEMA).empty_table()
    control = plain(total(lines["EffectiveCost"]))
    return Bill(sheet.file, lines, tuple(faults), FileDigest(sheet.file.name, sheet.sha256, lines.num_rows, control), sheet.where, found)


def file_faults(sheet: Sheet, found: Layout) -> Iterator[Fault]:
    for name, source in found.derived.items():
        if name == "InvoiceIssuerName" or (name == "EffectiveCost" and sheet.table.num_rows):
            yield Fault(-1, "derived-column", f"there is no column {name}: {source} is taken for it")
    for name in found.lacking:
        yield Fault(-1, "column-not-given", f"there is no column {name}: it stays empty")


def nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])


@dataclass(frozen=True, slots=True)
class Block:
    """Up to a million rows of one file."""

    sheet: Sheet
    layout: Layout
    part: pa.Table
    first_row: int
    faults: list[Fault]

    def cells(self, name: str) -> pa.Array:
        """One array for the block; nulls where the file has no such column."""
        if name not in self.layout.columns:
            return pa.nulls(self.part.num_rows)
        column = self.part[self.layout.columns[name]]
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def fault(self, rows: Sequence[int], code: str, message: str | Callable[[int], str]) -> None:
        self.faults.extend(Fault(self.first_row + row, code, message if isinstance(message, str) else message(row)) for row in rows)

    def shown(self, name: str) -> Callable[[int], str]:
        return lambda row: f"{name} {str(self.cells(name)[row].as_py())[:40]!r}"

    def columns(self, reading: Reading) -> dict[str, pa.Array]:
        found = {name: self.number(name) for name in FOCUS_NUMBERS}
        found |= {name: text(self.cells(name)) for name in (*FOCUS_TEXT, "x_Component")}
        tags = labels_from_cells(self.cells("Tags"))
        found["Tags"] = tags.values
        found["component"], unknown = components(found, tags.values)
        self.fault(unknown, "unknown-component", "the component that the line states does not exist; it is found by rule")
        marked = [self.mark(tags.bad, "invalid-tags", lambda _: "Tags is no JSON object")]
        marked += [*self.times(found), *self.words(found, reading), self.cost(found)]
        found["problem"] = pc.coalesce(*marked)
        return {name: found[name] for name in SCHEMA.names}

    def number(self, name: str) -> pa.Array:
        """An amount that cannot be read refuses the file; a quantity is left out and noted."""
        parsed = money(self.cells(name))
        what = {"invalid-number": "is not a number", "too-many-digits": "has more than 20 digits before or 18 after the point"}
        if name in COSTS and parsed.bad:
            row, code = next(iter(sorted(parsed.bad.items())))
            raise InputError(code, f"{self.shown(name)(row)} {what[code]}", where=self.sheet.where(self.first_row + row), hint="nothing of this file was taken: correct or fetch it again")
        self.fault(sorted(parsed.bad), "invalid-quantity", lambda row: f"{self.shown(name)(row)} {what[parsed.bad[row]]}; it is left out")
        if parsed.rounded and name in COSTS:
            self.faults.append(Fault(-1, "binary-money", f"{name} is stored in binary; {parsed.rounded} amounts were rounded at the 18th place"))
        return parsed.values

    def mark(self, rows: Sequence[int] | dict[int, str] | pa.Array, code: str, message: Callable[[int], str]) -> pa.Array:
        """The code on the faulty rows, null elsewhere; each is listed too."""
        mask = rows if isinstance(rows, pa.Array) else None
        numbers = rows_where(mask) if mask is not None else sorted(rows)
        self.fault(numbers, code, message)
        if not numbers:
            return pa.nulls(self.part.num_rows, pa.string())
        if mask is None:
            bad = set(numbers)
            mask = pa.array([row in bad for row in range(self.part.num_rows)])
        return pc.if_else(pc.fill_null(mask, fill_value=False), code, pa.scalar(None, pa.string()))

    def times(self, found: dict[str, pa.Array]) -> Iterator[pa.Array]:
        """Charge and billing periods. An unreadable charge period becomes the billing period; that is settled once all files are read."""
        read = {}
        for name in TIMES:
            parsed = instants(self.cells(name), UTC)
            read[name] = parsed.values
            yield self.mark(parsed.values.is_null(), "invalid-time", lambda row, name=name: f"{self.shown(name)(row)} is not a time")
        for kind, zero_length in (("Charge", True), ("Billing", False)):
            start, end = read[f"{kind}PeriodStart"], read[f"{kind}PeriodEnd"]
            reversed_ = pc.less(end, start) if zero_length else pc.less_equal(end, start)
            yield self.mark(reversed_, "reversed-period", lambda row, kind=kind: f"{kind}PeriodEnd is not after {kind}PeriodStart")
            whole = pc.and_(pc.and_(start.is_valid(), end.is_valid()), pc.invert(pc.fill_null(reversed_, fill_value=True)))
            found[f"{kind.lower()}_end_s"] = pc.if_else(whole, end, None)
            found[f"{kind.lower()}_start_s"] = pc.if_else(whole, start, None) if kind == "Charge" else start

    def words(self, found: dict[str, pa.Array], reading: Reading) -> Iterator[pa.Array]:
        categories = pc.fill_null(pc.is_in(found["ChargeCategory"], pa.array(CHARGE_CATEGORIES)), fill_value=False)
        yield self.mark(pc.invert(categories), "unknown-charge-category", lambda row: f"{self.shown('ChargeCategory')(row)} is none of {', '.join(CHARGE_CATEGORIES)}")
        currency = found["BillingCurrency"]
        if reading.currency and (others := rows_where(pc.fill_null(pc.not_equal(currency, reading.currency), fill_value=True))):
            where = self.sheet.where(self.first_row + others[0])
            raise InputError("wrong-currency", f"{self.shown('BillingCurrency')(others[0])} is not {reading.currency}, on which the source insists", where=where, hint="correct `currency` in the stanza, or the file")
        known = pc.fill_null(pc.is_in(currency, pa.array(sorted(MINOR_DIGITS))), fill_value=False)
        yield self.mark(pc.invert(known), "unknown-currency", lambda row: f"{self.shown('BillingCurrency')(row)} is no ISO 4217 currency")
        found["BillingCurrency"] = pc.fill_null(currency, NO_CURRENCY)
        issuer = found["InvoiceIssuerName"]
        yield self.mark(issuer.is_null(), "missing-issuer", lambda _: "InvoiceIssuerName is empty")
        found["InvoiceIssuerName"] = pc.fill_null(pc.coalesce(issuer, found["ServiceProviderName"]), NO_ISSUER)
        found["ServiceProviderName"] = pc.coalesce(found["ServiceProviderName"], issuer)

    def cost(self, found: dict[str, pa.Array]) -> pa.Array:
        none = pc.and_(found["EffectiveCost"].is_null(), found["BilledCost"].is_null())
        return self.mark(none, "missing-cost", lambda _: "the line has neither EffectiveCost nor BilledCost")
