"""A block of FOCUS rows to columns of cost lines. Amounts are exact or the file is refused; other faults mark their row."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.rows import CHARGE_CATEGORIES, COST_LINES, COSTS, FOCUS_NUMBERS, FOCUS_TEXT
from apportion.sources.cells.instants import instants
from apportion.sources.cells.labels import labels_from_cells
from apportion.sources.cells.money import money
from apportion.sources.cells.text import mask_of, rows_where, shown, text
from apportion.sources.files.sheet import Sheet
from apportion.sources.focus.columns import TIMES, Layout
from apportion.sources.focus.components import components

UTC = ZoneInfo("UTC")  # FOCUS times are UTC; one with an offset is converted, one without is taken as UTC
NO_ISSUER = "(no issuer)"
NO_CURRENCY = "(none)"
SCHEMA = pa.schema([found.with_nullable(True) for found in COST_LINES if found.name not in ("source", "line_id")])
FAULTS = {
    "invalid-number": "is not a number",
    "too-many-digits": "has more than 20 digits before or 18 after the point",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A row number in the file, or -1 for the file as a whole."""

    row: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Block:
    """Up to a million rows of one file; what is wrong with them goes to `faults`."""

    sheet: Sheet
    layout: Layout
    part: pa.Table
    first_row: int
    faults: list[Fault]

    def columns(self, currency: str) -> dict[str, pa.Array]:
        """All columns of a cost line but its source and id. The first fault that a row has is its `problem`."""
        found = {name: self.number(name) for name in FOCUS_NUMBERS}
        found |= {name: text(self.cells(name)) for name in (*FOCUS_TEXT, "x_Component")}
        tags = labels_from_cells(self.cells("Tags"))
        found["Tags"] = tags.values
        found["component"], unknown = components(found, tags.values)
        self.fault(unknown, "unknown-component", lambda _: "the line states a component that does not exist")
        none = pc.and_(found["EffectiveCost"].is_null(), found["BilledCost"].is_null())
        marked = [
            *self.times(found),
            *self.words(found, currency),
            self.mark(none, "missing-cost", lambda _: "the line has neither EffectiveCost nor BilledCost"),
            self.mark(mask_of(tags.bad, self.part.num_rows), "invalid-tags", lambda _: "Tags is no JSON object"),
        ]
        found["problem"] = pc.coalesce(*marked)
        return {name: found[name] for name in SCHEMA.names}

    def cells(self, name: str) -> pa.Array:
        """One array for the block; nulls where the file has no such column."""
        if name not in self.layout.columns:
            return pa.nulls(self.part.num_rows)
        column = self.part[self.layout.columns[name]]
        return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()

    def shown(self, name: str, row: int) -> str:
        return shown(name, self.cells(name), row)

    def fault(self, rows: Collection[int], code: str, message: Callable[[int], str]) -> None:
        self.faults.extend(Fault(self.first_row + row, code, message(row)) for row in rows)

    def mark(self, mask: pa.Array, code: str, message: Callable[[int], str]) -> pa.Array:
        """The code on the rows of a mask, null elsewhere; each is listed too."""
        self.fault(rows_where(mask), code, message)
        return pc.if_else(pc.fill_null(mask, fill_value=False), code, pa.scalar(None, pa.string()))

    def number(self, name: str) -> pa.Array:
        """An amount that cannot be read refuses the file; a quantity is left out and noted."""
        parsed = money(self.cells(name))
        if name not in COSTS:
            self.fault(parsed.bad, "invalid-quantity", partial(self.no_number, name, parsed.bad))
            return parsed.values
        if parsed.bad:
            row = min(parsed.bad)
            raise InputError(
                "too-many-digits" if parsed.bad[row] == "too-many-digits" else "invalid-number",
                self.no_number(name, parsed.bad, row),
                where=self.sheet.where(self.first_row + row),
                hint="nothing of this file was taken: correct it, or fetch it again",
            )
        if parsed.rounded:
            message = f"{name} is stored in binary: {parsed.rounded} amounts were rounded at the 18th place"
            self.faults.append(Fault(-1, "binary-money", message))
        return parsed.values

    def no_number(self, name: str, bad: Mapping[int, str], row: int) -> str:
        return f"{self.shown(name, row)} {FAULTS[bad[row]]}"

    def times(self, found: dict[str, pa.Array]) -> Iterator[pa.Array]:
        """Charge and billing periods. What cannot be read stays null here and is placed once all files are read."""
        read = {name: instants(self.cells(name), UTC).values for name in TIMES}
        for name, values in read.items():
            yield self.mark(values.is_null(), "invalid-time", partial(self.no_time, name))
        charge = read["ChargePeriodStart"], read["ChargePeriodEnd"]
        billing = read["BillingPeriodStart"], read["BillingPeriodEnd"]
        for kind, backwards in (("Charge", pc.less(*reversed(charge))), ("Billing", pc.less_equal(*reversed(billing)))):
            yield self.mark(backwards, "reversed-period", partial(backward, kind))
        whole = pc.fill_null(pc.greater_equal(*reversed(charge)), fill_value=False)
        found["charge_start_s"], found["charge_end_s"] = (pc.if_else(whole, second, None) for second in charge)
        forward = pc.fill_null(pc.greater(*reversed(billing)), fill_value=False)
        found["billing_start_s"], found["billing_end_s"] = billing[0], pc.if_else(forward, billing[1], None)

    def no_time(self, name: str, row: int) -> str:
        return f"{self.shown(name, row)} is not a time"

    def words(self, found: dict[str, pa.Array], insisted: str) -> Iterator[pa.Array]:
        category, currency, issuer = found["ChargeCategory"], found["BillingCurrency"], found["InvoiceIssuerName"]
        others = rows_where(pc.fill_null(pc.not_equal(currency, insisted), fill_value=True)) if insisted else []
        if others:
            raise InputError(
                "wrong-currency",
                f"{self.shown('BillingCurrency', others[0])} is not {insisted}, on which the source insists",
                where=self.sheet.where(self.first_row + others[0]),
                hint="correct `currency` in the stanza, or the file",
            )
        yield self.mark(none_of(category, CHARGE_CATEGORIES), "unknown-charge-category", self.no_category)
        yield self.mark(none_of(currency, MINOR_DIGITS), "unknown-currency", self.no_currency)
        yield self.mark(issuer.is_null(), "missing-issuer", lambda _: "InvoiceIssuerName is empty")
        found["BillingCurrency"] = pc.fill_null(currency, NO_CURRENCY)
        found["InvoiceIssuerName"] = pc.fill_null(pc.coalesce(issuer, found["ServiceProviderName"]), NO_ISSUER)
        found["ServiceProviderName"] = pc.coalesce(found["ServiceProviderName"], issuer)

    def no_category(self, row: int) -> str:
        return f"{self.shown('ChargeCategory', row)} is none of {', '.join(CHARGE_CATEGORIES)}"

    def no_currency(self, row: int) -> str:
        return f"{self.shown('BillingCurrency', row)} is no ISO 4217 currency"


def none_of(column: pa.Array, valid: Collection[str]) -> pa.Array:
    return pc.invert(pc.fill_null(pc.is_in(column, pa.array(sorted(valid))), fill_value=False))


def backward(kind: str, _: int) -> str:
    return f"{kind}PeriodEnd is not after {kind}PeriodStart"
