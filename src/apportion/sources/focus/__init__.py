"""Bills in FOCUS form: CSV (plain or gzip) and Parquet, FOCUS 1.0 to 1.4, as one file, a folder or a glob, here or in an object store.

Every line of every file becomes a cost line with its money exact. A line with a fault in another field keeps its money and is
marked, so that it is posted to `_unallocated` and seen; a file with an amount that cannot be read exactly is refused whole.
Lines are handed over by billing period: a later delivery of a period replaces the earlier one.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.model.currencies import BILLABLE
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.bills.bill import ROLES, Reading
from apportion.sources.bills.deliveries import bill_deliveries
from apportion.sources.files.places import Place
from apportion.sources.focus.columns import form_of
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import stanza

SETTINGS = ("role", "currency", "electricity_of", *STORE_SETTINGS)
FORMATS = ("csv", "parquet")
STANZA = """\
# A bill in FOCUS columns: a file, a folder or a glob.
[[sources]]
name = "cloud"
kind = "focus"
path = "bills/*.csv"
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery for each billing period in the files; with `window`, those periods whose middle lies in it."""
    found = stanza(settings, SETTINGS)
    currency = found.word("currency", BILLABLE) if "currency" in settings else ""
    reading = Reading(found.text("name"), found.word("role", ROLES, "bill"), currency, found.text("electricity_of", ""))
    with Place.of(found, base) as place:
        yield from bill_deliveries(place.files(FORMATS), form_of, reading, window)
