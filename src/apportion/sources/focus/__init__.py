"""Bills in FOCUS form, 1.0 to 1.4: CSV (plain or gzip) and Parquet; a file, a folder or a glob, here or in an object store, with or without manifest.

Every line of every file becomes a cost line with its money exact. A line with a fault in another field keeps its money and is
marked, so that it is posted to `_unallocated` and seen; a file with an amount that cannot be read exactly is refused whole.
Lines are handed over by billing period: a later delivery of a period replaces the earlier one.

    columns    the columns of each version
    versions   which version a file is said to be
    rules      what becomes of a column that is not there
    values     cells that are bound to words, JSON or another cell
    splits     charges that the vendor split already
    status     estimated or final
    parts      the files of one bill have the same columns
    forms      a file to lines
    watching   what is looked at over all files
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from apportion.errors import InputError
from apportion.model.currencies import BILLABLE
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.bills.bill import Reading
from apportion.sources.bills.datasets import BILLING_PERIOD, COST_AND_USAGE, MEANING, by_dataset
from apportion.sources.bills.deliveries import bill_deliveries
from apportion.sources.bills.manifests import current
from apportion.sources.bills.part import Fault
from apportion.sources.files.paths import InputFile
from apportion.sources.files.places import Place
from apportion.sources.focus.columns import VERSIONS
from apportion.sources.focus.forms import forms
from apportion.sources.focus.status import stated
from apportion.sources.focus.versions import stated_versions, version_for
from apportion.sources.focus.watching import Watching
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import stanza

SETTINGS = ("role", "currency", "repeats", "version", "electricity_of", *STORE_SETTINGS)
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
    reading = replace(Reading.of(found, BILLABLE), electricity_of=found.text("electricity_of", ""))
    version = found.word("version", VERSIONS) if "version" in settings else ""
    with Place.of(found, base) as place:
        files = by_dataset(current(place, FORMATS))
        said = stated_versions(place)
        form_of = forms(lambda name: version or version_for(name, said))
        watch = Watching(stated(files[BILLING_PERIOD]), passed_over(files))
        yield from bill_deliveries(charged(files), form_of, reading, window, watch)


def charged(files: Mapping[str, Sequence[InputFile]]) -> Sequence[InputFile]:
    """The bill itself; a place that holds other datasets alone is refused."""
    if files[COST_AND_USAGE]:
        return files[COST_AND_USAGE]
    dataset, file = next((dataset, found[0]) for dataset, found in files.items() if found)
    raise InputError(
        "another-dataset",
        f"{file.name} is FOCUS's {dataset} dataset: {MEANING[dataset]}",
        where=file.name,
        hint="name the Cost and Usage files in `path`",
    )


def passed_over(files: Mapping[str, Sequence[InputFile]]) -> list[Fault]:
    """Notes the files of datasets that say nothing here."""
    return [
        Fault(-1, "another-dataset", f"{file.name} beside it is FOCUS's {dataset} dataset: {MEANING[dataset]}")
        for dataset, found in files.items()
        for file in found
        if dataset not in (COST_AND_USAGE, BILLING_PERIOD)
    ]
