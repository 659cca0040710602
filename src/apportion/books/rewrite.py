"""A table of evidence with some of its files rewritten, in every snapshot that holds them: the same snapshots, made of other files.

All is written under new names; the caller's transaction publishes it, and what nothing names any more is swept away. The last
snapshot is a new one, so that whatever was planned on the one before has moved.
"""

from collections.abc import Iterable, Mapping
from typing import Literal
from uuid import uuid4

from pyiceberg.manifest import DataFile, ManifestEntry, ManifestFile, write_manifest, write_manifest_list
from pyiceberg.serializers import ToOutputFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from apportion.books.catalog import NAMESPACE, Commit, Evidence, NewFile
from apportion.books.tables import EVIDENCE

CODEC: Literal["deflate"] = "deflate"
FORMAT: Literal[2] = 2


def rewrite(evidence: Evidence, table: Table, files: Mapping[str, NewFile], live: Iterable[str]) -> Commit:
    """`files` are the new ones by the paths of the old ones; `live` are those old ones that the table has now."""
    name, base = table.name()[-1], evidence.relative(table.metadata_location)
    history = History(evidence, table, {path: new for path, (new, _) in files.items()})
    snapshots = [history.snapshot(snapshot) for snapshot in table.metadata.snapshots]
    number = int(base.rsplit("/", 1)[-1].split("-")[0]) + 1
    place = table.location_provider().new_table_metadata_file_location(number)
    ToOutputFile.table_metadata(table.metadata.model_copy(update={"snapshots": snapshots}), table.io.new_output(place))
    evidence.point(name, evidence.relative(place))
    later = evidence.catalog.load_table((NAMESPACE, name))
    later.append(EVIDENCE[name].empty_table())
    return evidence.committed(later, base, [stored for _, stored in files.values()], live)


class History:
    def __init__(self, evidence: Evidence, table: Table, files: Mapping[str, DataFile]) -> None:
        self.evidence = evidence
        self.table = table
        self.io = table.io
        self.files = files
        self.known: dict[str, ManifestFile] = {}

    def place(self, name: str) -> str:
        return self.table.location_provider().new_metadata_location(name)

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        listed = snapshot.manifests(self.io)
        again = [self.manifest(one) for one in listed]
        if [one.manifest_path for one in again] == [one.manifest_path for one in listed]:
            return snapshot
        place = self.place(f"snap-{snapshot.snapshot_id}-0-{uuid4()}.avro")
        ids = snapshot.snapshot_id, snapshot.parent_snapshot_id, snapshot.sequence_number
        with write_manifest_list(FORMAT, self.io.new_output(place), *ids, CODEC) as writer:
            writer.add_manifests(again)
        return snapshot.model_copy(update={"manifest_list": place})

    def manifest(self, listed: ManifestFile) -> ManifestFile:
        """Manifests hold the bounds of columns, names among them; one that several snapshots share is read once."""
        if listed.manifest_path not in self.known:
            entries = listed.fetch_manifest_entry(self.io, discard_deleted=False)
            concerned = any(self.evidence.relative(entry.data_file.file_path) in self.files for entry in entries)
            self.known[listed.manifest_path] = self.written(listed, entries) if concerned else listed
        return self.known[listed.manifest_path]

    def written(self, listed: ManifestFile, entries: list[ManifestEntry]) -> ManifestFile:
        spec, schema = self.table.specs()[listed.partition_spec_id], self.table.schema()
        output = self.io.new_output(self.place(f"{uuid4()}-m0.avro"))
        with write_manifest(FORMAT, spec, schema, output, listed.added_snapshot_id or 0, CODEC) as writer:
            for entry in entries:
                writer.add_entry(self.entry(entry))
        made = writer.to_manifest_file()
        made.sequence_number, made.min_sequence_number = listed.sequence_number, listed.min_sequence_number
        return made

    def entry(self, entry: ManifestEntry) -> ManifestEntry:
        new = self.files.get(self.evidence.relative(entry.data_file.file_path), entry.data_file)
        return ManifestEntry.from_args(
            status=entry.status,
            snapshot_id=entry.snapshot_id,
            sequence_number=entry.sequence_number,
            file_sequence_number=entry.file_sequence_number,
            data_file=new,
        )
