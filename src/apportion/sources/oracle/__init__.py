"""Oracle Cloud's cost reports: CSV (plain or gzip), many small files a day, as one file, a folder or a glob.

Oracle's FOCUS reports are read by the kind `focus`. The two tell the same money: read one of them.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.bills.bill import Reading
from apportion.sources.bills.deliveries import bill_deliveries
from apportion.sources.files.places import Place
from apportion.sources.oracle.columns import form_of
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import stanza

SETTINGS = ("role", "currency", "repeats", *STORE_SETTINGS)
FORMATS = ("csv",)
STANZA = """\
# Cost reports of Oracle Cloud, as they lie in the tenancy's report bucket.
[[sources]]
name = "oracle"
kind = "oracle"
path = "oracle/reports/cost-csv"
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery for each month of usage in the files; with `window`, those whose middle lies in it."""
    found = stanza(settings, SETTINGS)
    reading = Reading.of(found)
    with Place.of(found, base) as place:
        yield from bill_deliveries(place.files(FORMATS), form_of, reading, window)
