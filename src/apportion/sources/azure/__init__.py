"""Bills of Microsoft Azure: actual and amortised exports of Cost Management, under EA, MCA and pay-as-you-go; CSV (plain or gzip) and Parquet.

    columns     which of a file's columns is which
    rows        rows to FOCUS columns, with `dates`, `charges`, `services`, `units` and `labels`
    exports     which cost a row tells: actual ones what was billed, amortised ones what was used up
    pairs       both exports of one bill as one

Azure's FOCUS export is read by the kind `focus`. Of the run folders that an export leaves behind the newest counts (`bills/manifests/azure`).
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from apportion.model.currencies import MINOR_DIGITS
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.azure.dates import FORMS
from apportion.sources.azure.exports import ACTUAL, AMORTISED, DATASETS, alone, dataset_of, expect
from apportion.sources.azure.pairs import paired
from apportion.sources.azure.rows import form_of
from apportion.sources.bills.bill import ROLES, Bill, Reading, read_bills
from apportion.sources.bills.deliveries import deliveries
from apportion.sources.bills.manifests import current
from apportion.sources.files.places import Place
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import Stanza, stanza

SETTINGS = ("amortised", "dataset", "date_form", "role", "currency", *STORE_SETTINGS)
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
    currency = found.word("currency", MINOR_DIGITS) if "currency" in settings else ""
    reading = Reading(found.text("name"), found.word("role", ROLES, "bill"), currency)
    with ExitStack() as places:  # faults are placed in their files until all is handed over
        yield from deliveries(bills(found, base, reading, places), reading, window)


def bills(found: Stanza, base: Path, reading: Reading, places: ExitStack) -> list[Bill]:
    def export(path: str) -> list[Bill]:
        place = places.enter_context(Place.of(replace(found, settings={**found.settings, "path": path}), base))
        return read_bills(current(place, FORMATS), form_of(found.word("date_form", FORMS, FORMS[0])), reading)

    own = export(found.text("path"))
    if "amortised" not in found.settings:
        dataset = found.word("dataset", DATASETS) if "dataset" in found.settings else dataset_of(own)
        return [alone(bill, dataset) for bill in own]
    if "dataset" in found.settings:
        raise found.refuse("dataset", "left out where `amortised` is given", found.settings["dataset"])
    other = export(found.text("amortised"))
    expect(own, ACTUAL, "path")
    expect(other, AMORTISED, "amortised")
    return paired(own, other)
