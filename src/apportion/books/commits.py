"""Iceberg's own commits, at a cost that does not grow with the number of commits before: a month may be restated a hundred times."""

from pyiceberg.manifest import ManifestFile
from pyiceberg.table import Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.snapshots import Operation
from pyiceberg.table.update.snapshot import _MergeAppendFiles, _OverwriteFiles


class Committing(Transaction):
    """pyiceberg copies the metadata, all snapshots there ever were in it, some twenty times a commit, and changes none of the copies."""

    _known: tuple[object, TableMetadata] | None = None  # the updates, and what comes of them

    @property
    def table_metadata(self) -> TableMetadata:
        if not self._updates:
            return self._table.metadata
        if self._known is None or self._known[0] is not self._updates:
            self._known = self._updates, super().table_metadata
        return self._known[1]


class Replacing(_OverwriteFiles):
    """pyiceberg carries the lists of files that earlier commits took out along for ever; an append leaves them behind, and so does this."""

    def __init__(self, transaction: Transaction, table: Table) -> None:
        super().__init__(operation=Operation.OVERWRITE, transaction=transaction, io=table.io)

    def _process_manifests(self, manifests: list[ManifestFile]) -> list[ManifestFile]:
        return [
            manifest
            for manifest in manifests
            if manifest.added_snapshot_id == self._snapshot_id
            or manifest.has_added_files()
            or manifest.has_existing_files()
        ]


def producer(transaction: Transaction, table: Table, *, replaces: bool) -> Replacing | _MergeAppendFiles:
    return Replacing(transaction, table) if replaces else transaction.update_snapshot().merge_append()
