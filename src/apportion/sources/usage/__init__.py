"""Custom logs: usage, capacity, reservations or workloads from CSV, Parquet or JSON, by a mapping of columns in the stanza.

A row that cannot be taken is listed with its place and left out: a log carries no money. One delivery a run; its window is the
setting `window`, else the period asked for, else the whole months that the rows cover.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.files.places import Place
from apportion.sources.outside.stores.opening import STORE_SETTINGS
from apportion.sources.settings import stanza
from apportion.sources.usage.delivery import read_log
from apportion.sources.usage.mapping import SETTINGS, mapping

FORMATS = ("csv", "parquet", "jsonl", "json")
STANZA = """\
# A usage log with columns of your own: left what Apportion calls it, right the column.
[[sources]]
name = "jobs"
kind = "usage"
path = "usage/*.csv"
time_zone = "UTC"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpus" }
labels = { team = "team" }
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery]:
    """One delivery of all the files that `path` names."""
    found = stanza(settings, (*SETTINGS, *STORE_SETTINGS))
    how = mapping(found)
    with Place.of(found, base) as place:
        yield read_log(place.files(FORMATS), how, window)
