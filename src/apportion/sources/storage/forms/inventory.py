"""Amazon S3 Inventory (manifest version 2016-11-30, also of compatible stores): bytes by prefix and storage class, from `manifest.json` and its files.

CSV files have no header (the manifest's `fileSchema` is one) and URL-encoded keys; Parquet files have both as they are. Every version of an object
counts; a delete marker has no size.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.sources.files.columnar import read_columnar
from apportion.sources.files.paths import InputFile, input_files, open_file
from apportion.sources.files.stream import CHUNK, Stream, corrupt
from apportion.sources.storage.report import Level, Part, Said, gathered

TOP = "/"  # what lies in no folder
NAMES = {"CSV": ("Key", "Size", "StorageClass"), "Parquet": ("key", "size", "storage_class")}


@dataclass(frozen=True, slots=True)
class Inventory:
    at_s: int
    part: Part
    files: tuple[FileDigest, ...]


def is_manifest(text: str) -> bool:
    return '"fileSchema"' in text and '"sourceBucket"' in text


def parse_inventory(manifest: InputFile, said: Said, base: Path, depth: int) -> Inventory:
    found = json.loads(said.text)
    try:
        at_s = int(found["creationTimestamp"]) // 1000
        listed = [(str(one["key"]), str(one.get("MD5checksum", ""))) for one in found["files"]]
        form, bucket, schema = found["fileFormat"], found["sourceBucket"], found["fileSchema"]
    except (KeyError, TypeError, ValueError) as error:
        raise corrupt(manifest, f"the manifest lacks {error}") from error
    if form not in NAMES:
        raise InputError(
            "unknown-format",
            f"{manifest.name} lists {form} files",
            where=manifest.name,
            hint="have the inventory written as CSV or Parquet",
        )
    sums: list[pa.Table] = []
    digests = []
    for key, md5 in listed:
        file = data_file(key, manifest, base)
        check_md5(file, md5)
        table, digest = read_csv(file, schema) if form == "CSV" else read_parquet(file)
        sums.append(by_prefix(table, depth))
        digests.append(digest)
    levels = list(as_levels(sums, encoded=form == "CSV"))
    return Inventory(at_s, gathered(said.named(bucket), "prefix", levels), tuple(digests))


def data_file(key: str, manifest: InputFile, base: Path) -> InputFile:
    """`.../ID/2026-10-01T00-00Z/manifest.json` lists `.../ID/data/NAME`; a copy may also have them beside the manifest."""
    name = key.rpartition("/")[2]
    folder = Path(manifest.name).parent
    places = [folder.parent / "data" / name, folder / "data" / name, folder / name]
    for place in places:
        if (base / place).exists():
            return input_files(str(place), base, ("csv", "parquet"), manifest.name)[0]
    raise InputError(
        "no-such-file",
        f"{manifest.name} lists {name}, which is not there",
        where=manifest.name,
        hint=f"fetch it to {places[0]}: without it the inventory is not whole",
    )


def check_md5(file: InputFile, expected: str) -> None:
    if not expected:
        return
    digest = hashlib.md5(usedforsecurity=False)
    with open_file(file) as raw:
        while data := raw.read(CHUNK):
            digest.update(data)
    if digest.hexdigest() != expected:
        raise corrupt(file, "its MD5 is not the one in the manifest")


def read_csv(file: InputFile, schema: str) -> tuple[pa.Table, FileDigest]:
    columns = [name.strip() for name in schema.split(",")]
    with Stream(file) as stream:
        data = stream.read_all()
        digest = stream.sha256
    wanted = [name for name in NAMES["CSV"] if name in columns]
    try:
        table = pa.csv.read_csv(
            pa.BufferReader(data),
            read_options=pa.csv.ReadOptions(column_names=columns),
            parse_options=pa.csv.ParseOptions(newlines_in_values=False),
            convert_options=pa.csv.ConvertOptions(
                column_types={"Key": pa.string(), "Size": pa.int64(), "StorageClass": pa.string()},
                include_columns=wanted,
                strings_can_be_null=True,
            ),
        ) if data else pa.table({name: pa.array([], pa.string()) for name in wanted})  # fmt: skip
    except pa.ArrowInvalid as error:
        raise corrupt(file, str(error).splitlines()[0]) from error
    return named(table, "CSV", file), FileDigest(file.name, digest, table.num_rows, "0")


def read_parquet(file: InputFile) -> tuple[pa.Table, FileDigest]:
    sheet = read_columnar(file, lambda header: [name for name in NAMES["Parquet"] if name in header])
    return named(sheet.table, "Parquet", file), FileDigest(file.name, sheet.sha256, sheet.table.num_rows, "0")


def named(table: pa.Table, form: str, file: InputFile) -> pa.Table:
    key, size, tier = NAMES[form]
    if key not in table.column_names or size not in table.column_names:
        raise InputError(
            "missing-columns",
            f"{file.name} lacks {key} or {size}",
            where=file.name,
            hint="have the inventory list the size of each object",
        )
    tiers = table[tier] if tier in table.column_names else pa.nulls(table.num_rows, pa.string())
    return pa.table({"key": table[key], "size": table[size], "tier": tiers})


def by_prefix(table: pa.Table, depth: int) -> pa.Table:
    """The first `depth` folders of each key, summed by class."""
    keys = pc.replace_substring_regex(pc.cast(table["key"], pa.string()), r"%2[Ff]", "/")
    folders = pc.struct_field(pc.extract_regex(keys, rf"^(?P<folder>(?:[^/]*/){{0,{depth}}})"), "folder")
    tiers = pc.fill_null(pc.cast(table["tier"], pa.string()), "STANDARD")
    sizes = pc.fill_null(pc.cast(table["size"], pa.int64()), 0)
    return (
        pa.table({"folder": folders, "tier": tiers, "size": sizes})
        .group_by(["folder", "tier"])
        .aggregate([("size", "sum")])
    )


def as_levels(sums: list[pa.Table], *, encoded: bool) -> Iterator[Level]:
    row: dict[str, Any]
    for row in (one for table in sums for one in table.to_pylist()):
        folder = row["folder"].strip("/")
        yield Level((unquote_plus(folder) if encoded else folder) or TOP, int(row["size_sum"]), None, row["tier"])
