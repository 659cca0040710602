"""The evidence: Iceberg tables in a warehouse, and which state of each counts.

The record in SQL names, for every table, the metadata file that is published. Readers open that file and nothing else. A writer that
died may have left Iceberg's own pointer further on; the next writer, holding the table's lock, puts it back before it begins, and
what the dead one wrote is nobody's: `gc` sweeps it up.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem
from pyiceberg.catalog.sql import IcebergTables, SqlCatalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, NoSuchTableError
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema
from pyiceberg.table import StaticTable, Table
from pyiceberg.table.update.snapshot import ManageSnapshots
from pyiceberg.types import MapType
from sqlalchemy import Engine, update

from apportion.books.blocks import Blocks, Piece
from apportion.books.commits import Committing, producer
from apportion.books.database import BUSY_S, writing
from apportion.books.fileio import LOGICAL, PHYSICAL, WRITTEN, SyncedFileIO, Written, WrittenFile
from apportion.books.pieces import ROWS_PER_FILE, Seen, by_file
from apportion.books.tables import EVIDENCE
from apportion.model.rows import COSTS

NAMESPACE = "evidence"
PROPERTIES = {"format-version": "2", "commit.manifest-merge.enabled": "true", "write.parquet.compression-codec": "zstd"}
WRITER: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 1,
    "write_page_checksum": True,
    "store_schema": False,
}
ROWS_PER_GROUP = 262_144
UNLIKE = ("line_id", *COSTS)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file of the warehouse as it is recorded; only data files have rows, a control total, content and a span."""

    path: str
    table: str
    kind: str
    sha256: str
    bytes: int
    rows: int = 0
    control: str = "0"
    content: str = ""
    part: str = ""
    start_s: int = 0
    end_s: int = 0
    live: bool = True  # of a data file: the table has it now


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that one snapshot is made of, by path."""

    manifests: frozenset[str]  # its list of manifests among them
    data: frozenset[str]


@dataclass(frozen=True, slots=True)
class Commit:
    """A snapshot that was written and is not published yet."""

    table: str
    base: str  # the metadata file it builds on
    snapshot_id: int
    metadata: str
    files: tuple[StoredFile, ...]
    removed: tuple[str, ...] = ()


NewFile = tuple[DataFile, StoredFile]


class Evidence:
    def __init__(self, engine: Engine, logical: str, physical: str) -> None:
        self.engine = engine
        self.logical = logical.rstrip("/")
        self.physical = physical.rstrip("/")
        self.written = Written()
        self.properties: dict[str, Any] = {
            "py-io-impl": f"{SyncedFileIO.__module__}.{SyncedFileIO.__name__}",
            LOGICAL: self.logical, PHYSICAL: self.physical, WRITTEN: self.written, **object_store(),
        }  # fmt: skip
        url = engine.url.update_query_dict({"timeout": str(BUSY_S)}) if engine.dialect.name == "sqlite" else engine.url
        self.catalog = SqlCatalog(
            "apportion", uri=url.render_as_string(hide_password=False), warehouse=self.logical, **self.properties
        )
        self.catalog.engine.dispose()
        self.catalog.engine = engine  # the record's own, with its waits and its syncing
        self.io = SyncedFileIO(self.properties)

    def create(self, name: str) -> Commit:
        """With an empty first snapshot, so that every table always has one to name. What a dead creator left is begun anew."""
        with suppress(NamespaceAlreadyExistsError):
            self.catalog.create_namespace(NAMESPACE)
        with suppress(NoSuchTableError):
            self.catalog.drop_table((NAMESPACE, name))
        place = f"{self.logical}/{name}"
        table = self.catalog.create_table((NAMESPACE, name), EVIDENCE[name], place, properties=PROPERTIES)
        with Committing(table) as transaction, producer(transaction, table, replaces=False):
            pass
        return self.committed(table, "")

    def open(self, name: str, metadata: str) -> Table:
        """For writing, at the published state whatever a dead writer left. The caller holds the table's lock."""
        self.written.take(f"{self.logical}/{name}")
        self.point(name, metadata)
        return self.catalog.load_table((NAMESPACE, name))

    def point(self, name: str, metadata: str) -> None:
        """Iceberg's own pointer, which only writers go by."""
        location = f"{self.logical}/{metadata}"
        pointer = update(IcebergTables).where(
            IcebergTables.table_namespace == NAMESPACE, IcebergTables.table_name == name
        )
        with writing(self.engine) as connection:
            connection.execute(
                pointer.where(IcebergTables.metadata_location != location).values(metadata_location=location)
            )

    def read(self, metadata: str) -> StaticTable:
        return StaticTable.from_metadata(f"{self.logical}/{metadata}", self.properties)

    def data_files(self, table: Table, snapshot_id: int) -> list[DataFile]:
        return [task.file for task in table.scan(snapshot_id=snapshot_id).plan_files()]

    def snapshots(self, table: Table) -> dict[int, Snapshot]:
        """All of the table's; a manifest that several share is read once."""
        known: dict[str, frozenset[str]] = {}
        found = {}
        for snapshot in table.metadata.snapshots:
            manifests = snapshot.manifests(table.io)
            for manifest in manifests:
                if manifest.manifest_path not in known:
                    entries = manifest.fetch_manifest_entry(table.io, discard_deleted=True)
                    known[manifest.manifest_path] = frozenset(
                        self.relative(entry.data_file.file_path) for entry in entries
                    )
            paths = [manifest.manifest_path for manifest in manifests]
            data = frozenset().union(*(known[path] for path in paths))
            found[snapshot.snapshot_id] = Snapshot(
                frozenset(map(self.relative, [snapshot.manifest_list, *paths])), data
            )
        return found

    def read_file(self, name: str, path: str, columns: list[str] | None = None) -> pa.Table:
        """With its page checksums looked at, so that what is copied on is what was written."""
        schema = EVIDENCE[name] if columns is None else pa.schema([EVIDENCE[name].field(column) for column in columns])
        with self.io.new_input(f"{self.logical}/{path}").open() as file:
            parquet = pq.ParquetFile(file, page_checksum_verification=True)
            rows = parquet.read([column for column in schema.names if column in parquet.schema_arrow.names])
        for field in schema:
            if field.name not in rows.column_names:  # written before the column existed
                rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
        return rows.select(schema.names).cast(schema)

    def write(
        self, table: Table, rows: pa.Table | Blocks, part: str, known: Callable[[], int] | None = None
    ) -> list[NewFile]:
        """Parquet files of one part (a source, or a period's charges). `known` tells the content sum of `rows`, where it was taken already."""
        if isinstance(rows, Blocks):
            return [self.write_file(table, pieces, part) for pieces in by_file(rows.pieces())]
        parts = [rows.slice(start, ROWS_PER_FILE) for start in range(0, rows.num_rows, ROWS_PER_FILE)]
        return [self.write_file(table, [(piece, known if len(parts) == 1 else None)], part) for piece in parts]

    def write_file(self, table: Table, pieces: Iterable[Piece], part: str) -> NewFile:
        name = table.name()[-1]
        location = table.location_provider().new_data_location(f"{uuid4()}.parquet")
        schema = numbered(EVIDENCE[name], table.schema())
        seen = Seen(name)
        how = {**WRITER, "use_dictionary": repeating(schema)}
        with self.io.new_output(location).create() as sink, pq.ParquetWriter(sink, schema, **how) as writer:
            for rows, known in pieces:
                writer.write_table(rows.cast(schema), row_group_size=ROWS_PER_GROUP)
                seen.add(rows, known)
        written = self.written.files[location]
        stored = StoredFile(
            self.relative(location), name, "data", written.sha256, written.bytes, seen.rows, seen.control, seen.content, part, *seen.span,
        )  # fmt: skip
        return parquet_file_to_data_file(self.io, table.metadata, location), stored

    def discard(self, files: Iterable[NewFile]) -> None:
        """Files that nobody names and nobody will."""
        for file, _ in files:
            self.io.delete(file.file_path)

    def commit(self, table: Table, removed: Iterable[str], added: Iterable[NewFile]) -> Commit:
        """One snapshot: the files named in `removed` out, those in `added` in."""
        gone, new, base = set(removed), list(added), self.relative(table.metadata_location)
        current = table.current_snapshot()
        old = (
            [file for file in self.data_files(table, current.snapshot_id) if self.relative(file.file_path) in gone]
            if gone and current
            else []
        )
        with Committing(table) as transaction, producer(transaction, table, replaces=bool(gone)) as change:
            for file in old:
                change.delete_data_file(file)
            for file, _ in new:
                change.append_data_file(file)
        return self.committed(table, base, [stored for _, stored in new], gone)

    def tag(self, table: Table, snapshot_id: int) -> Commit | None:
        """So that no expiry ever drops a snapshot that postings rest on. None: it was tagged before."""
        name, base = f"posted-{snapshot_id}", self.relative(table.metadata_location)
        if name in table.metadata.refs:
            return None
        ManageSnapshots(Committing(table, autocommit=True)).create_tag(snapshot_id, name).commit()
        return self.committed(table, base)

    def committed(
        self, table: Table, base: str, data: Iterable[StoredFile] = (), removed: Iterable[str] = ()
    ) -> Commit:
        snapshot = table.current_snapshot()
        if snapshot is None:
            raise ValueError(f"{table.name()} has no snapshot")
        files = {file.path: file for file in data}
        for file in self.written.take(f"{self.logical}/{table.name()[-1]}"):
            files.setdefault(self.relative(file.location), self.stored(file, table.name()[-1]))
        name, metadata = table.name()[-1], self.relative(table.metadata_location)
        return Commit(name, base, snapshot.snapshot_id, metadata, tuple(files.values()), tuple(sorted(removed)))

    def stored(self, file: WrittenFile, name: str) -> StoredFile:
        path = self.relative(file.location)
        return StoredFile(path, name, kind_of(path), file.sha256, file.bytes)

    def relative(self, location: str) -> str:
        if not location.startswith(self.logical + "/"):
            raise ValueError(f"{location} is not in the warehouse {self.logical}")
        return location[len(self.logical) + 1 :]

    def filesystem(self, places: Iterable[str]) -> tuple[FileSystem, list[str]]:
        """How pyarrow opens these places (all of one warehouse)."""
        found = [self.io.parse_location(place) for place in places]
        return self.io.fs_by_scheme(*found[0][:2]), [path for _, _, path in found]

    def place(self, path: str) -> str:
        """Where a recorded file is now."""
        return f"{self.physical}/{path}"


def object_store() -> dict[str, str]:
    """Credentials come from the usual AWS variables by themselves. The region does not, and Amazon would be asked for that of a bucket it does not have."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ("us-east-1" if endpoint else "")
    place = {"s3.endpoint": endpoint, "s3.force-virtual-addressing": "false"} if endpoint else {}
    return {**place, "s3.region": region} if region else place


def kind_of(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    if name.endswith(".metadata.json"):
        return "metadata"
    return "data" if name.endswith(".parquet") else "manifest list" if name.startswith("snap-") else "manifest"


def numbered(rows: pa.Schema, schema: Schema) -> pa.Schema:
    """The model's schema with Iceberg's field ids, which is how readers find a column after it was renamed."""
    fields = []
    for field in rows:
        column = schema.find_field(field.name)
        kind = field.type
        if isinstance(column.field_type, MapType):
            key = pa.field("key", kind.key_type, nullable=False, metadata=field_id(column.field_type.key_id))
            kind = pa.map_(key, pa.field("value", kind.item_type, metadata=field_id(column.field_type.value_id)))
        fields.append(pa.field(field.name, kind, nullable=field.nullable, metadata=field_id(column.field_id)))
    return pa.schema(fields)


def repeating(schema: pa.Schema) -> list[str]:
    """Parquet's names of the columns that say the same again and again: a dictionary of the others is made in vain."""
    maps = [field.name for field in schema if pa.types.is_map(field.type)]
    leaves = [f"{name}.key_value.{part}" for name in maps for part in ("key", "value")]
    return [name for name in schema.names if name not in UNLIKE and name not in maps] + leaves


def field_id(number: int) -> dict[str, str]:
    return {"PARQUET:field_id": str(number)}
