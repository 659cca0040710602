"""The books as the rest of the program sees them: the only writer of evidence and record."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from sqlalchemy import func, select

from apportion.books import agreed, deliveries, disputes, ledger, record
from apportion.books.accepted import Acceptances
from apportion.books.acknowledged import Acknowledgements
from apportion.books.adding import add
from apportion.books.audit import Note, note, note_once, read_latest, read_notes
from apportion.books.backup import backup
from apportion.books.booked import read_booked
from apportion.books.browse import Browse
from apportion.books.budgets import Budgets
from apportion.books.catalog import Evidence
from apportion.books.channels import Channels
from apportion.books.charges import charges_snapshot
from apportion.books.close import close, read_close
from apportion.books.database import reading, writing
from apportion.books.documents import last_number, read_invoices, read_texts
from apportion.books.doors import Doors
from apportion.books.erase import Erased, erase, look
from apportion.books.failures import spoken
from apportion.books.gc import collect
from apportion.books.hooks import Hooks
from apportion.books.ingest import ingest
from apportion.books.locks import Locks
from apportion.books.months import Months
from apportion.books.names import Names
from apportion.books.pledges import Pledges
from apportion.books.proposals import Proposals
from apportion.books.pseudonyms import Asked
from apportion.books.publish import published, versions
from apportion.books.pushes import Pushes
from apportion.books.recent import Recent
from apportion.books.rounds import Rounds
from apportion.books.shapes import (
    CLOSE,
    COMPUTED,
    Close,
    Closed,
    Damage,
    DeliveredProblem,
    Dispute,
    DisputeNote,
    Following,
    Posted,
    Receipt,
    Run,
    StoredPlan,
    StoredPolicy,
    StoredRun,
    TableVersion,
    Transfer,
)
from apportion.books.state import read_state
from apportion.books.tables import EVIDENCE
from apportion.books.tokens import Tokens
from apportion.books.transfers import post_run, read_transfers, transfer
from apportion.books.verify import verify
from apportion.books.views.making import Views
from apportion.books.whatifs import Whatifs
from apportion.errors import BooksError, Problem
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import Period

SNAPSHOTS = 32  # whose files are remembered


class Books:
    """Opened by `open_books`. Safe to use from several threads and processes at once."""

    def __init__(self, evidence: Evidence, locks: Locks, names: Names) -> None:
        self.evidence = evidence
        self.names = names
        self.engine = evidence.engine
        self.locks = locks
        self.months = Months()
        self._files: Recent[list[str]] = Recent(SNAPSHOTS)
        self.doors = Doors(self.engine)
        self.hooks = Hooks(self.engine)
        self.channels = Channels(self.engine)
        self.budgets = Budgets(self.engine)
        self.acknowledgements = Acknowledgements(self.engine)
        self.acceptances = Acceptances(self.engine)
        self.pledges = Pledges(self.engine)
        self.browse = Browse(self.engine)
        self.tokens = Tokens(self.engine)
        self.proposals = Proposals(self.engine)
        self.pushes = Pushes(self.engine)
        self.views = Views(self.engine)
        self.whatifs = Whatifs(self.engine)
        self.rounds = Rounds(self.engine)

    def ingest(self, delivery: Delivery) -> Receipt:
        with spoken():
            take = add if delivery.adds else ingest
            return take(self.evidence, self.locks, delivery)

    def inputs(self) -> dict[str, TableVersion]:
        with spoken(), reading(self.engine) as connection:
            return versions(connection)

    def snapshot(self, table: str) -> int:
        """The one that is published now."""
        with spoken(), reading(self.engine) as connection:
            return int(published(connection, table).snapshot_id)

    def files(self, table: str, snapshot_id: int | None = None) -> list[str]:
        """The Parquet files of a published snapshot, the current one if none is named. An empty table has none."""
        with spoken():
            with reading(self.engine) as connection:
                now = published(connection, table)
                known = record.snapshots.c
                at = now.snapshot_id if snapshot_id is None else snapshot_id
                if not connection.execute(
                    select(known.table).where(known.table == table, known.snapshot_id == at)
                ).first():
                    raise BooksError(
                        "unknown-snapshot",
                        f"table {table} never had a published snapshot {at}",
                        hint="see what `inputs` names",
                    )
            return list(self._files.get((now.metadata, at), lambda: self._data_files(now.metadata, at)))

    def _data_files(self, metadata: str, snapshot_id: int) -> list[str]:
        found = self.evidence.data_files(self.evidence.read(metadata), snapshot_id)
        return sorted(self.evidence.place(self.evidence.relative(file.file_path)) for file in found)

    def scan(
        self,
        table: str,
        snapshot_id: int | None = None,
        *,
        columns: Sequence[str] | None = None,
        where: pc.Expression | None = None,
    ) -> pa.Table:
        """Rows of a published snapshot; `where` is a pyarrow expression over its columns."""
        paths = self.files(table, snapshot_id)
        schema = EVIDENCE[table] if columns is None else pa.schema([EVIDENCE[table].field(name) for name in columns])
        if not paths:
            return schema.empty_table()
        with spoken():
            filesystem, places = self.evidence.filesystem(paths)
            options = ds.ParquetFileFormat(
                default_fragment_scan_options=ds.ParquetFragmentScanOptions(page_checksum_verification=True)
            )
            whole = pa.schema([field.with_nullable(True) for field in EVIDENCE[table]])  # older files lack some columns
            rows = ds.dataset(places, schema=whole, format=options, filesystem=filesystem)
            return rows.to_table(columns=schema.names, filter=where).cast(schema)

    def snapshot_of(self, table: str, delivery_id: str) -> int | None:
        """The table as it was when this delivery had been taken in; None where the delivery did not touch it."""
        known = record.snapshots.c
        with spoken(), reading(self.engine) as connection:
            return connection.scalar(
                select(known.snapshot_id).where(known.table == table, known.made_by == delivery_id)
            )

    def charges_then(self, as_of_s: int) -> int:
        """The snapshot of the charges as the runs until some second had left them."""
        with spoken(), reading(self.engine) as connection:
            return charges_snapshot(connection, as_of_s)

    def delivered_files(self, delivery_id: str) -> list[FileDigest]:
        """The files that a delivery was read from, as they were."""
        with spoken(), reading(self.engine) as connection:
            return deliveries.read_files(connection, delivery_id)

    def reference_sources(self) -> list[str]:
        """Sources whose cost lines are only compared with a bill and never posted."""
        with spoken(), reading(self.engine) as connection:
            return sorted(connection.scalars(select(record.sources.c.name).where(record.sources.c.role == "reference")))

    def deliveries(self) -> list[dict[str, Any]]:
        with spoken(), reading(self.engine) as connection:
            return deliveries.read_deliveries(connection)

    def problems(self, source: str | None = None) -> list[Problem]:
        return [one.problem for one in self.delivered_problems(source)]

    def delivered_problems(self, source: str | None = None) -> list[DeliveredProblem]:
        with spoken(), reading(self.engine) as connection:
            return deliveries.read_problems(connection, source)

    def quarantine(self) -> list[dict[str, Any]]:
        with spoken(), reading(self.engine) as connection:
            return deliveries.read_quarantine(connection)

    def save_policy(self, version: str, text: str, file: str, name: str, effective: object) -> None:
        """`effective` is a date or its ISO text."""
        with spoken(), writing(self.engine) as connection:
            agreed.save_policy(connection, StoredPolicy(version, text, file, name, str(effective)))

    def policy_for(self, period: Period) -> StoredPolicy | None:
        with spoken(), reading(self.engine) as connection:
            return agreed.policy_for(connection, period)

    def policies(self) -> list[StoredPolicy]:
        with spoken(), reading(self.engine) as connection:
            return agreed.read_policies(connection)

    def save_plan(self, plan: StoredPlan) -> None:
        with spoken(), writing(self.engine) as connection:
            agreed.save_plan(connection, self.names, plan)

    def load_plan(self, period: str) -> StoredPlan | None:
        with spoken(), reading(self.engine) as connection:
            return agreed.load_plan(connection, str(period))

    def plan_summary(self, digest: str) -> dict[str, Any]:
        """What a plan said of itself, by its digest; empty where it was not kept."""
        with spoken(), reading(self.engine) as connection:
            return agreed.plan_summary(connection, digest)

    def post(self, run: Run, following: Following | None = None) -> Posted:
        with spoken():
            return post_run(self.evidence, self.locks, self.names, run, following)

    def close_period(self, closing: Close) -> Closed:
        with spoken():
            return close(self.evidence, self.names, closing)

    def closed(self, period: str) -> Closed | None:
        """How a period was closed; None while it is open."""
        with spoken():
            return read_close(self.evidence, str(period))

    def closed_by(self, period: str) -> str | None:
        """The version of the policy that a period was closed with; None while it is open."""
        return next((run.policy_version for run in self.runs(CLOSE) if run.period == str(period)), None)

    def closed_periods(self) -> list[str]:
        """In the order of the calendar."""
        with spoken(), reading(self.engine) as connection:
            return sorted(connection.scalars(select(record.closes.c.period)))

    def statements(self, period: str, level: str, owner: str = "") -> list[str]:
        """Those that were issued when a period was closed, of all owners at a level or of one, in canonical JSON."""
        with spoken(), reading(self.engine) as connection:
            return read_texts(connection, str(period), level, owner)

    def last_number(self) -> int:
        """Of the invoices that were issued so far."""
        with spoken(), reading(self.engine) as connection:
            return last_number(connection)

    def posted(self, period: str | None = None, *, kinds: Sequence[str] = (), as_of_s: int | None = None) -> pa.Table:
        """Of all periods or one; of all kinds of runs or some; as they stood at a second, or now."""
        with spoken(), reading(self.engine) as connection:
            return self.months.get(connection, None if period is None else str(period), kinds, as_of_s)

    def minor(self, period: str, as_of_s: int | None = None) -> pa.Table:
        """What a period comes to in whole minor units, now or at a second: every figure that is not of a day is a sum of these."""
        with spoken(), reading(self.engine) as connection:
            return self.months.minor(connection, str(period), as_of_s)

    def booked(self, period: str) -> Iterator[pa.Table]:
        """What a period holds, a day at a time, with the kind of its runs and the closed period that they are about; all of one moment."""
        with spoken(), reading(self.engine) as connection:
            yield from read_booked(connection, str(period))

    def believed(self, period: str, kinds: Sequence[str] = COMPUTED, before_seq: int | None = None) -> pa.Table:
        """What the period has come to: its own runs of these kinds, and those about it that were booked later.

        By default what its evidence says: what was planned in it, with its corrections. Now, or as it was before a link of the ledger.
        """
        with spoken(), reading(self.engine) as connection:
            return ledger.read_believed(connection, str(period), kinds, before_seq)

    def transfer(self, made: Transfer, run: Run) -> Posted:
        with spoken():
            return transfer(self.evidence, self.names, made, run)

    def transfers(self) -> list[Transfer]:
        """What people decided, oldest first."""
        with spoken(), reading(self.engine) as connection:
            return read_transfers(connection)

    def open_dispute(self, made: Dispute, why: str) -> Dispute:
        with spoken():
            return disputes.open_dispute(self.evidence, made, why)

    def say(self, number: int, text: str) -> Dispute:
        with spoken():
            return disputes.say(self.evidence, number, text)

    def settle(self, number: int, end: DisputeNote, made: tuple[Transfer, Run] | None) -> tuple[Dispute, Posted | None]:
        with spoken():
            return disputes.settle(self.evidence, self.names, number, end, made)

    def disputes(self) -> list[Dispute]:
        """In the order in which they were opened."""
        with spoken(), reading(self.engine) as connection:
            return disputes.read_disputes(connection)

    def dispute(self, number: int) -> Dispute:
        with spoken(), reading(self.engine) as connection:
            return disputes.read_dispute(connection, number)

    def entries(self, **filters: object) -> pa.Table:
        with spoken(), reading(self.engine) as connection:
            return ledger.read_entries(connection, **filters)

    def owners(self) -> pa.Table:
        """Who was ever charged, from which pools: team, project, user and pool, each combination once."""
        with spoken(), reading(self.engine) as connection:
            return ledger.read_owners(connection)

    def find_entries(self, text: str, teams: Collection[str] | None, most: int) -> pa.Table:
        """Entries of some teams, or of all, by their number or the beginning of their hash."""
        with spoken(), reading(self.engine) as connection:
            return ledger.find_entries(connection, text, teams, most)

    def invoices(self) -> list[tuple[str, str, str]]:
        """Period, owner and number of every statement that has one."""
        with spoken(), reading(self.engine) as connection:
            return read_invoices(connection)

    def runs(self, kind: str = "") -> list[StoredRun]:
        """Of all kinds or one, oldest first."""
        with spoken(), reading(self.engine) as connection:
            return [run for run in ledger.read_runs(connection) if kind in ("", run.kind)]

    def teams(self) -> list[str]:
        """All that something was ever posted to."""
        with spoken(), reading(self.engine) as connection:
            return sorted(connection.scalars(select(record.entries.c.team).distinct()))

    def head(self, period: str | None = None) -> str:
        with spoken(), reading(self.engine) as connection:
            return ledger.read_head(connection, None if period is None else str(period))

    def state(self) -> str:
        """Another whenever something was recorded."""
        with spoken(), reading(self.engine) as connection:
            return read_state(connection)

    def verify(self, head: str | None = None) -> list[Damage]:
        with spoken():
            return verify(self.evidence, self.names, head)

    def backup(self, path: str | Path) -> str:
        """One .tar file, or .tar.gz; `restore` makes books of it. Returns the head of the copy."""
        with spoken():
            return backup(self.evidence, self.locks, Path(path))

    def gc(self, older_than_s: int) -> list[str]:
        """Removes files older than this that nothing names, and returns them."""
        with spoken():
            return collect(self.evidence, self.locks, older_than_s)

    def note_once(self, what: str, detail: str) -> bool:
        """A deed outside the books; False where it was noted before."""
        with spoken(), writing(self.engine) as connection:
            return note_once(connection, what, detail)

    def noted(self, what: str, detail: str, why: str = "") -> None:
        """A deed outside the books that may be done again."""
        with spoken(), writing(self.engine) as connection:
            note(connection, what, detail, why)

    def would_erase(self, asked: Asked) -> Erased:
        with spoken():
            return look(self.evidence, self.names, asked)

    def erase(self, asked: Asked) -> Erased:
        """Takes the names of users out of closed months; hashes and sums stay."""
        with spoken():
            return erase(self.evidence, self.locks, self.names, asked)

    def erasures(self) -> int:
        """How often names were taken out."""
        with spoken(), reading(self.engine) as connection:
            return connection.scalar(select(func.count()).select_from(record.erasures)) or 0

    def renew_names_key(self, why: str) -> None:
        """Where the key is lost, or is to be another: the one that the books were opened with is theirs from now on."""
        with spoken(), writing(self.engine) as connection:
            self.names.renew_key(connection)
            note(connection, "names key", self.names.print, why)

    def audit(self) -> list[Note]:
        """Who did what, oldest first."""
        with spoken(), reading(self.engine) as connection:
            return read_notes(connection)

    def audit_page(self, who: str, what: str, before: int, most: int) -> list[tuple[int, Note]]:
        """As `audit`, a page at a time from the newest."""
        with spoken(), reading(self.engine) as connection:
            return read_latest(connection, who, what, before, most)

    def close(self) -> None:
        self.engine.dispose()
