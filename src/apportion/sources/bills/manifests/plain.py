"""A `manifest.json` that lists files: as plain names, or as objects with a name and what is known of the file.

    {"blobs": [{"blobName": "…/part_0_0001.csv", "byteCount": 1024, "dataRowCount": 10}]}
    {"dataFiles": ["s3://bucket/…/part-00001.parquet"]}
    {"files": [{"path": "part-1.csv.gz", "rows": 10, "sha256": "…"}]}

The files that its folder holds beside those listed do not count; files of other folders do.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from apportion.sources.bills.manifests.listed import Listed, document, folder, meant, unknown
from apportion.sources.files.paths import Stated, format_of
from apportion.sources.files.places import Place

LISTS = ("files", "dataFiles", "data_files", "blobs", "parts", "entries", "reportKeys")
NAMES = ("path", "name", "key", "url", "uri", "file", "fileName", "blobName")
SIZES = ("size", "bytes", "byteCount", "sizeInBytes")
ROWS = ("rows", "rowCount", "row_count", "dataRowCount", "recordCount")
DATA = ("csv", "parquet")


def select(place: Place) -> tuple[Listed, ...] | None:
    names = place.names
    manifests = [name for name in names if is_manifest(name)]
    if not manifests:
        return None
    listed = [one for manifest in manifests for one in entries(place, manifest)]
    folders = tuple(folder(manifest) for manifest in manifests)
    outside = [name for name in names if format_of(name) in DATA and not name.startswith(folders)]
    return (*listed, *(Listed(name, Stated()) for name in outside))


def is_manifest(name: str) -> bool:
    base = name.rpartition("/")[2].casefold()
    return base == "manifest.json" or base.endswith(("-manifest.json", "_manifest.json"))


def entries(place: Place, manifest: str) -> Iterator[Listed]:
    found = document(place, manifest)
    lists = [found[key] for key in LISTS if isinstance(found.get(key), list)]
    if not lists:
        raise unknown(manifest)
    for entry in lists[0]:
        facts = entry if isinstance(entry, Mapping) else {"path": entry}
        written = first(facts, NAMES, str)
        if written is None:
            raise unknown(manifest)
        stated = Stated(first(facts, SIZES, int), first(facts, ROWS, int), first(facts, ("sha256",), str))
        yield Listed(meant(written, place.names, manifest), stated)


def first(facts: Mapping[str, Any], keys: tuple[str, ...], kind: type) -> Any:
    return next((facts[key] for key in keys if isinstance(facts.get(key), kind)), None)
