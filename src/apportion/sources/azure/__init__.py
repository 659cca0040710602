"""Bills of Microsoft Azure: actual and amortised exports of Cost Management, under EA, MCA and pay-as-you-go; CSV (plain or gzip) and Parquet.

    columns     which of a file's columns is which
    rows        rows to FOCUS columns, with `dates`, `charges`, `services`, `units` and `labels`
    exports     which cost a row tells: actual ones what was billed, amortised ones what was used up
    pairs       both exports of one bill as one

Azure's FOCUS export is read by the kind `focus`. Of the run folders that an export leaves behind the newest counts (`bills/manifests/azure`).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.azure.dates import FORMS
from apportion.sources.azure.exports import ACTUAL, AMORTISED, DATASETS, dataset_of, expect
from apportion.sources.azure.pairs import paired
from apportion.sources.azure.rows import Way, looked_through
from apportion.sources.bills.bill import Bill, Reading, read_bills
from apportion.sources.bills.deliveries import bill_deliveries, deliveries
from apportion.sources.bills.manifests import current
from apportion.sources.files.paths import InputFile
from apportion.sources.files.places import Place
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import Stanza, stanza

SETTINGS = ("amortised", "dataset", "date_form", "role", "currency", "repeats", *STORE_SETTINGS)
FORMATS = ("csv", "parquet")
STANZA = """\
# Azure's cost exports: actual costs, and where there are reservations or savings plans the amortised costs beside them.
[[sources]]
name = "azure"
kind = "azure"
path = "bills/azure/actual"
amortised = "bills/azure/amortised"
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery for each billing period in the files; with `window`, those periods whose middle lies in it."""
    found = stanza(settings, SETTINGS)
    reading = Reading.of(found)
    if "amortised" in found.settings and "dataset" in found.settings:
        raise found.refuse("dataset", "left out where `amortised` is given", found.settings["dataset"])
    with ExitStack() as places:  # faults are placed in their files until all is handed over
        files = current(places.enter_context(Place.of(found, base)), FORMATS)
        if "amortised" not in found.settings:
            yield from bill_deliveries(files, alone_in(files, found).form_of, reading, window)
            return
        other = replace(found, settings={**found.settings, "path": found.text("amortised")})
        others = current(places.enter_context(Place.of(other, base)), FORMATS)
        yield from deliveries(both(files, others, way_of(found), reading), reading, window)


def way_of(found: Stanza) -> Way:
    return Way(found.word("date_form", FORMS, FORMS[0]))


def alone_in(files: Sequence[InputFile], found: Stanza) -> Way:
    shown, counts = looked_through(files)
    dataset = found.word("dataset", DATASETS) if "dataset" in found.settings else dataset_of(shown)
    return replace(way_of(found), dataset=dataset, committed=counts)


def both(files: Sequence[InputFile], others: Sequence[InputFile], way: Way, reading: Reading) -> list[Bill]:
    """Read as a whole, since any row of the one may stand in the other."""
    actual, amortised = (read_bills(some, way.form_of, reading) for some in (files, others))
    expect(actual, ACTUAL, "path")
    expect(amortised, AMORTISED, "amortised")
    return paired(actual, amortised)
