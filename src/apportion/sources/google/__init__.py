"""Google Cloud's bill: the detailed export of Cloud Billing to BigQuery, asked from BigQuery or read from files exported from there.

    forms       which file is one            fields     structs, lists, JSON text and flat columns by one name
    columns     a row as FOCUS columns       credits    what is part of the price, and what is a line of its own
    labels      labels, system labels, project labels, tags as one map
    gke         GKE cost allocation          services   categories, and the fees of commitments
    asking      BigQuery                     months     which invoice months a window calls for

A delivery is an invoice month. Google's FOCUS view is read by the kind `focus`. They tell the same money: read one of them.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from apportion.errors import ApportionError, InputError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, instant_text
from apportion.sources.bills.deliveries import bill_deliveries
from apportion.sources.bills.manifests import current
from apportion.sources.files.paths import InputFile
from apportion.sources.files.places import Place
from apportion.sources.google.asking import Asked, asking
from apportion.sources.google.forms import STANDARD, Exports, as_exported
from apportion.sources.google.months import OVERLAP_S, month_text, months_due
from apportion.sources.google.settings import How, how_of
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.settings import Stanza

FORMATS = ("parquet", "jsonl", "json", "csv")
STANZA = """\
# Google Cloud's detailed billing export, from BigQuery. Credentials come as for gcloud.
[[sources]]
name = "google"
kind = "google"
project = "my-billing-project"
dataset = "billing"
billing_account = "0123AB-4567CD-89EF01"
# service_account = "keys/billing.json"
# path = "gs://bucket/export/*.parquet"   # files exported from there, instead of asking
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """One delivery for each invoice month: of files, those whose middle lies in the window; of BigQuery, those that the window calls for."""
    how, found = how_of(settings)
    if how.path:
        exports = Exports()
        with Place.of(found, base) as place:
            files = [as_exported(file) for file in current(place, FORMATS)]
            yield from bill_deliveries(files, exports.form_of, how.reading, window, exports)
        return
    if window is None:
        raise InputError(
            "no-period", "BigQuery is asked for a window, and none was given", where=how.where, hint="give a period"
        )
    with asking(how, found, base) as asked:
        changed = asked.changed(window.start_s)
        due = months_due(window, changed)
        for number, month in enumerate(due):
            yield Progress(number, len(due), month_text(month))
            yield from month_of(asked, how, month, (window.end_s, max(changed.values(), default=None)))


def month_of(asked: Asked, how: How, month: Interval, edges: tuple[int, int | None]) -> Iterator[Delivery]:
    """All rows of an invoice month, page by page into a temporary file. A month of which the export knows nothing is not delivered:
    it may have been removed there, and what the books have of it stays.
    """
    end_s, newest = edges
    exports = Exports(newest)
    with TemporaryDirectory(prefix="apportion-") as folder:
        file = InputFile(f"{how.table.name} {month_text(month)}", Path(folder) / "month.parquet", "parquet")
        if not asked.save(month, file.path):
            return
        for delivery in bill_deliveries([file], exports.form_of, how.reading, None, exports):
            covered = Interval(month.start_s, min(month.end_s, end_s))
            yield replace(delivery, window=covered, files=())


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Whether the table is there and how new it is: BigQuery takes no money for that."""
    try:
        how, found = how_of(settings)
        if how.path:
            count = sum(len(one.tables["cost_lines"]) for one in read(settings, base) if isinstance(one, Delivery))
            yield Sign("ok", f"{count:,} cost lines in the files")
            return
        yield from looked_at(how, found, base)
    except ApportionError as error:
        yield Sign("wrong", error.message, error.hint)


def looked_at(how: How, found: Stanza, base: Path) -> Iterator[Sign]:
    with asking(how, found, base) as asked:
        rows, changed_s, detailed = asked.look()
    yield Sign("ok", f"{how.table.name} has {rows:,} rows, the last of {instant_text(changed_s)[:16]}")
    if not detailed:
        yield Sign("note", STANDARD, "enable the detailed usage cost export in Cloud Billing")
    if time.time() - changed_s > 2 * DAY_S:
        yield Sign("note", "the export is over two days old", "see Billing export in the Google Cloud console")


SOURCE = Live(
    read=read, probe=probe, stanza=STANZA, overlap_s=OVERLAP_S, step_s=3660 * DAY_S
)  # what is due is asked for at once, month by month
