"""Details of invoices to cost lines, from either form."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.money import plain
from apportion.sources.bills.datasets import INVOICE_DETAIL, dataset_of
from apportion.sources.bills.form import COST, CURRENCY, TIME, Form, Lines
from apportion.sources.bills.part import Part
from apportion.sources.bills.vendors import refuse_others
from apportion.sources.cells.text import rows_where
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns

KIND = "invoices"
FOCUS = {  # the cost line's column, and the file's
    name: name
    for name in (
        "InvoiceIssuerName", "InvoiceId", "InvoiceDetailId", "BillingAccountId", "BillingPeriodStart", "BillingPeriodEnd", "BillingCurrency",
        "BilledCost", "ChargeCategory", "InvoiceDetailDescription", "InvoiceIssueStatus",
    )
}  # fmt: skip
OWN = {
    "InvoiceIssuerName": "issuer",
    "InvoiceId": "invoice",
    "BillingPeriodStart": "billing_start",
    "BillingPeriodEnd": "billing_end",
    "BillingCurrency": "currency",
    "BilledCost": "amount",
}
OPTIONAL = {"BillingAccountId": "account", "ChargeCategory": "category", "ChargeDescription": "description"}
TYPED = {"BilledCost": COST, "BillingCurrency": CURRENCY, "BillingPeriodStart": TIME, "BillingPeriodEnd": TIME}
STATUS = {"issued": "final", "open": "estimated"}
VOIDED = "voided"


def form_of(header: Sequence[str], file: InputFile) -> Form:
    refuse_others(header, file, KIND)
    focus = dataset_of(header) == INVOICE_DETAIL
    folded = {name.casefold(): name for name in reversed(header)}
    needed = FOCUS if focus else OWN
    missing = [name for name in needed.values() if name.casefold() not in folded and name != "InvoiceDetailDescription"]
    if missing:
        raise missing_columns(missing, header, file)
    asked = needed if focus else {**OWN, **OPTIONAL}
    columns = {name: folded[column.casefold()] for name, column in asked.items() if column.casefold() in folded}
    typed = {columns[name]: kind for name, kind in TYPED.items() if name in columns}
    name = "FOCUS Invoice Detail" if focus else "invoices"
    return Form(name, tuple(columns.values()), lambda part: details(part, columns), typed=typed)


def details(part: Part, columns: Mapping[str, str]) -> Lines:
    """One line for each detail of an invoice that stands."""
    said = pc.utf8_lower(part.text(columns.get("InvoiceIssueStatus", "")))
    void = pc.fill_null(pc.equal(said, VOIDED), fill_value=False)
    invoice, amount = part.text(columns["InvoiceId"]), part.money(columns["BilledCost"])
    part.fault(
        rows_where(void),
        "voided-invoice",
        lambda row: f"invoice {invoice[row]} was voided: its {plain(amount[row].as_py() or Decimal(0))} are left out",
    )
    rows = pc.indices_nonzero(pc.invert(void)).cast(pa.int64())
    cells = {name: part.cells(column).take(rows) for name, column in columns.items()}
    cells |= {
        "ChargePeriodStart": cells["BillingPeriodStart"],
        "ChargePeriodEnd": cells["BillingPeriodEnd"],
        "ChargeDescription": cells.get("ChargeDescription", cells.get("InvoiceDetailDescription", pa.nulls(len(rows)))),
        "ChargeCategory": cells.get("ChargeCategory", pa.repeat(pa.scalar("Usage"), len(rows))),
        "line_type": pa.repeat(pa.scalar("Invoice"), len(rows)),
        "status": pa.array([STATUS.get(word) if word else None for word in said.take(rows).to_pylist()], pa.string()),
    }
    return Lines(cells, rows, columns)
