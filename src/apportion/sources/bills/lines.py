"""FOCUS columns to cost lines. What a line lacks is derived where that is safe; a line with a fault keeps its money and is marked."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.currencies import BILLABLE
from apportion.model.rows import CHARGE_CATEGORIES, COST_LINES, COSTS, FOCUS_NUMBERS, FOCUS_TEXT, SECOND
from apportion.sources.bills.components import components
from apportion.sources.bills.form import TIMES, Lines
from apportion.sources.bills.part import FAULTS, UTC, Fault, Part, coded
from apportion.sources.cells.fine import FINE
from apportion.sources.cells.instants import instants
from apportion.sources.cells.labels import labels_from_cells
from apportion.sources.cells.money import money
from apportion.sources.cells.text import mask_of, rows_where, shown, text

NO_ISSUER = "(no issuer)"
NO_CURRENCY = "(none)"
OWN_TEXT = ("x_Component", "line_type", "status", "problem")
SCHEMA = pa.schema([found.with_nullable(True) for found in COST_LINES if found.name not in ("source", "line_id")])
FINER = pa.schema([found.with_type(FINE) if found.name in COSTS else found for found in SCHEMA])


@dataclass(frozen=True, slots=True)
class Written:
    """The lines of one block as its vendor translated them; `first_line` is the number of the first one in the file."""

    part: Part
    lines: Lines
    first_line: int

    @property
    def count(self) -> int:
        return self.part.count if self.lines.rows is None else len(self.lines.rows)

    def row_of(self, line: int) -> int:
        return line if self.lines.rows is None else int(self.lines.rows[line].as_py())

    def table(self, currency: str) -> pa.Table:
        """Of SCHEMA, or FINER where costs have more places than the books keep."""
        columns = self.columns(currency)
        finer = any(columns[name].type == FINE for name in COSTS)
        return (
            pa.table(columns, schema=SCHEMA)
            if not finer
            else pa.table(
                {name: pc.cast(column, FINER.field(name).type) for name, column in columns.items()}, schema=FINER
            )
        )

    def columns(self, currency: str) -> dict[str, pa.Array]:
        """All columns of a cost line but its source and id. The first fault that a line has is its `problem`."""
        found = {name: self.number(name) for name in FOCUS_NUMBERS}
        found |= {name: text(self.cells(name)) for name in (*FOCUS_TEXT, *OWN_TEXT)}
        tags = labels_from_cells(self.cells("Tags"))
        found["Tags"] = tags.values
        found["component"], unknown = components(found, tags.values)
        self.fault(unknown, "unknown-component", lambda _: "the line states a component that does not exist")
        none = pc.and_(found["EffectiveCost"].is_null(), found["BilledCost"].is_null())
        marked = [
            found["problem"],
            *self.times(found),
            *self.words(found, currency),
            self.mark(none, "missing-cost", lambda _: "the line has neither EffectiveCost nor BilledCost"),
            self.mark(mask_of(tags.bad, self.count), "invalid-tags", lambda _: "Tags is no JSON object"),
        ]
        found["problem"] = pc.coalesce(*marked)
        return {name: found[name] for name in SCHEMA.names}

    def cells(self, name: str) -> pa.Array:
        found = self.lines.cells.get(name)
        return pa.nulls(self.count) if found is None else found

    def named(self, name: str) -> str:
        return self.lines.names.get(name, name)

    def shown(self, name: str, line: int) -> str:
        return shown(self.named(name), self.cells(name), line)

    def fault(self, lines: Collection[int], code: str, message: Callable[[int], str]) -> None:
        first_row, first = self.part.first_row, self.first_line
        self.part.faults.extend(
            Fault(first_row + self.row_of(line), code, message(line), first + line) for line in lines
        )

    def mark(self, mask: pa.Array, code: str, message: Callable[[int], str]) -> pa.Array:
        """The code on the lines of a mask, null elsewhere; each is listed too."""
        self.fault(rows_where(mask), code, message)
        return coded(mask, code)

    def number(self, name: str) -> pa.Array:
        """An amount that cannot be read refuses the file; a quantity is left out and noted."""
        cells = self.cells(name)
        if name in COSTS:
            return self.part.exact(cells, self.named(name), self.row_of)
        parsed = money(cells)
        self.fault(parsed.bad, "invalid-quantity", lambda line: f"{self.shown(name, line)} {FAULTS[parsed.bad[line]]}")
        return parsed.values

    def seconds(self, name: str) -> pa.Array:
        cells = self.cells(name)
        return cells if cells.type == SECOND else instants(cells, UTC).values

    def times(self, found: dict[str, pa.Array]) -> Iterator[pa.Array]:
        """Charge and billing periods. What cannot be read stays null here and is placed once all files are read.

        FOCUS times are UTC; one with an offset is converted, one without is taken as UTC.
        """
        read = {name: self.seconds(name) for name in TIMES}
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

    def no_time(self, name: str, line: int) -> str:
        return f"{self.shown(name, line)} is not a time"

    def words(self, found: dict[str, pa.Array], insisted: str) -> Iterator[pa.Array]:
        category, currency, issuer = found["ChargeCategory"], found["BillingCurrency"], found["InvoiceIssuerName"]
        others = rows_where(pc.fill_null(pc.not_equal(currency, insisted), fill_value=True)) if insisted else []
        if others:
            raise InputError(
                "wrong-currency",
                f"{self.shown('BillingCurrency', others[0])} is not {insisted}, on which the source insists",
                where=self.part.where(self.row_of(others[0])),
                hint="correct `currency` in the stanza, or the file",
            )
        yield self.mark(none_of(category, CHARGE_CATEGORIES), "unknown-charge-category", self.no_category)
        yield self.mark(none_of(currency, BILLABLE), "unknown-currency", self.no_currency)
        yield self.mark(issuer.is_null(), "missing-issuer", lambda _: "InvoiceIssuerName is empty")
        found["BillingCurrency"] = pc.fill_null(currency, NO_CURRENCY)
        found["InvoiceIssuerName"] = pc.fill_null(pc.coalesce(issuer, found["ServiceProviderName"]), NO_ISSUER)
        found["ServiceProviderName"] = pc.coalesce(found["ServiceProviderName"], issuer)

    def no_category(self, line: int) -> str:
        return f"{self.shown('ChargeCategory', line)} is none of {', '.join(CHARGE_CATEGORIES)}"

    def no_currency(self, line: int) -> str:
        return f"{self.shown('BillingCurrency', line)} is no ISO 4217 currency"


def none_of(column: pa.Array, valid: Collection[str]) -> pa.Array:
    return pc.invert(pc.fill_null(pc.is_in(column, pa.array(sorted(valid))), fill_value=False))


def backward(kind: str, _: int) -> str:
    return f"{kind}PeriodEnd is not after {kind}PeriodStart"
