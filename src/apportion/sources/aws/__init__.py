"""AWS's own bills: Cost and Usage Reports in their old form (CSV and Parquet) and as Data Exports (CUR 2.0), plain or gzip, one file or many.

    header     which report a file is, and under which names it has the columns that are read
    block      a block of rows by those names, amounts exact
    words      what AWS's line item types are in FOCUS words, and how each is amortised
    costs      billed, amortised, contracted, list and net cost of each line
    services   product codes to service categories
    tags       resource tags and cost categories as tags
    lines      all of that together: rows to FOCUS columns
    split      split cost allocation: what pods and tasks take from the instances they ran on
    weights    how AWS weighs accelerators, cores and memory against each other

Each row is one cost line. Its BilledCost is its unblended cost, so that the sum is the bill's, digit for digit. Split rows carry no money
unless the stanza says `split = "pods"`; then what they carry is taken from their instance's line, so that nothing is counted twice.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.aws.header import header_of
from apportion.sources.aws.lines import form
from apportion.sources.aws.look import look
from apportion.sources.bills.bill import Reading
from apportion.sources.bills.deliveries import bill_deliveries
from apportion.sources.bills.manifests import current
from apportion.sources.files.places import Place
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import stanza

SETTINGS = ("role", "currency", "repeats", "split", *STORE_SETTINGS)
SPLITS = ("parent", "pods")
FORMATS = ("csv", "parquet")
STANZA = """\
# AWS's Cost and Usage Report (a Data Export in the form of CUR 2.0, or the older report): a file, or the folder that AWS writes to.
[[sources]]
name = "aws"
kind = "aws"
path = "bills/aws"
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery for each billing period in the files that count now; with `window`, those periods whose middle lies in it."""
    found = stanza(settings, SETTINGS)
    reading = Reading.of(found)
    pods = found.word("split", SPLITS, "parent") == "pods"
    with Place.of(found, base) as place:
        files = current(place, FORMATS)
        taken = look(files) if pods else {}
        yield from bill_deliveries(
            files, lambda names, file: form(header_of(names, file), taken.get(file.name)), reading, window
        )
