"""What vendors' invoices say: to hold bills against, never posted.

Two forms are read: FOCUS's Invoice Detail dataset (1.4), and a table of one's own with the columns issuer, invoice, billing_start,
billing_end (the first moment after the period), currency and amount, and where known account and category. Each detail is one cost line of role
`reference` with its InvoiceId and BilledCost, over its billing period. A voided invoice asks for nothing: its details are listed and left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.bills.bill import Reading
from apportion.sources.bills.datasets import COST_AND_USAGE, INVOICE_DETAIL, by_dataset
from apportion.sources.bills.deliveries import bill_deliveries
from apportion.sources.bills.manifests import current
from apportion.sources.files.places import Place
from apportion.sources.invoices.forms import form_of
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import stanza

SETTINGS = ("currency", "repeats", *STORE_SETTINGS)
FORMATS = ("csv", "parquet")
STANZA = """\
# What the vendors' invoices say, for `report reconcile`: FOCUS Invoice Detail files, or a table
# with the columns issuer, invoice, billing_start, billing_end, currency and amount.
[[sources]]
name = "invoices"
kind = "invoices"
path = "invoices/*.csv"
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery for each billing period in the files; with `window`, those periods whose middle lies in it."""
    found = stanza(settings, SETTINGS)
    reading = replace(Reading.of(found), role="reference")
    with Place.of(found, base) as place:
        files = by_dataset(current(place, FORMATS))
        details = files[INVOICE_DETAIL] or files[COST_AND_USAGE]  # beside a whole FOCUS delivery its bill is no invoice
        others = [file for dataset in files for file in files[dataset]]
        yield from bill_deliveries(details or others, form_of, reading, window)
