"""FOCUS has four datasets. Cost and Usage is the bill; the others say something about bills and are never added to them."""

from collections.abc import Sequence

from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import header_of

COST_AND_USAGE, BILLING_PERIOD = "Cost and Usage", "Billing Period"
INVOICE_DETAIL, CONTRACT_COMMITMENT = "Invoice Detail", "Contract Commitment"
TOLD_BY = {  # a column that no other dataset has
    "billingperiodstatus": BILLING_PERIOD,
    "invoicedetailgrain": INVOICE_DETAIL,
    "invoiceissuestatus": INVOICE_DETAIL,
    "contractcommitmentid": CONTRACT_COMMITMENT,
}
MEANING = {
    COST_AND_USAGE: "what was charged, line by line; a source of kind 'focus' reads it",
    BILLING_PERIOD: "which billing periods are open and which closed, not what was charged; it belongs beside the bill",
    INVOICE_DETAIL: "what each invoice says, not what was charged; a source of kind 'invoices' reads it",
    CONTRACT_COMMITMENT: "what was agreed, not what was charged, so nothing of it is counted",
}


def dataset_of(header: Sequence[str]) -> str:
    return next((TOLD_BY[name.casefold()] for name in header if name.casefold() in TOLD_BY), COST_AND_USAGE)


def by_dataset(files: Sequence[InputFile]) -> dict[str, list[InputFile]]:
    """The files of each dataset, by their headers."""
    found: dict[str, list[InputFile]] = {name: [] for name in MEANING}
    for file in files:
        found[dataset_of(header_of(file))].append(file)
    return found
