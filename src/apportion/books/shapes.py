"""What the books are handed and what they hand back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa

from apportion.errors import Problem
from apportion.model.result import Result
from apportion.model.times import Interval

PLAN, CORRECTION, CREDIT, RECLASS, CLOSE = "plan", "correction", "credit", "reclass", "close"  # kinds of runs
COMPUTED = (PLAN, CORRECTION)  # from evidence; the others are decided by people
TRANSFERS = (CREDIT, RECLASS)
KINDS = (*COMPUTED, *TRANSFERS, CLOSE)
ALL, AMOUNT, LOWERED = "all", "amount", "lowered"  # how much of something is decided; `lowered`: at most the amount
OPEN, REJECTED, CREDITED, RECLASSED = "open", "rejected", "credited", "reclassed"  # what a dispute is


@dataclass(frozen=True, slots=True)
class Receipt:
    """The acknowledgement of a delivery: once a caller holds it, the rows survive a crash.

    `replaced` counts earlier rows that were removed or cut; `outside` counts delivered rows that lie wholly outside the window.
    """

    changed: bool
    delivery_id: str
    rows: dict[str, int]
    replaced: dict[str, int]
    quarantined: int
    outside: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeliveredProblem:
    """A problem with the delivery that told it; `window` is the delivery's."""

    delivery_id: str
    source: str
    window: Interval
    problem: Problem


@dataclass(frozen=True, slots=True)
class TableVersion:
    """A published state of one table. The digest is that of its rows, whatever their order, files and deliveries."""

    table: str
    snapshot_id: int
    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class StoredPolicy:
    version: str
    text: str
    file: str
    name: str
    effective: str  # ISO day


@dataclass(frozen=True, slots=True)
class StoredPlan:
    digest: str
    period: str
    policy_version: str
    inputs: dict[str, int]
    head: str
    postings: pa.Table
    bill_days: pa.Table
    summary: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be posted: the differences to what is posted already, and what each bill and day must come to afterwards.

    `expected_head` is `head()` as it was when the differences were taken.

    kind         postings                                            bill_days
    plan         of a period that is open                            what its bills come to afterwards
    correction   booked in `period`, of the closed period `about`    by how much its bills change
    credit       between owners: an amount that somebody else pays   none
    reclass      between owners: what was another's                  none

    `cause` says why, of all but a plan.
    """

    run_id: str
    period: str
    plan_digest: str
    policy_version: str
    inputs: dict[str, int]
    postings: pa.Table
    bill_days: pa.Table
    expected_head: str
    charges: Iterable[pa.RecordBatch] | None = None
    engine: str = "duckdb"
    kind: str = "plan"
    about: str = ""
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Following:
    """What people decided of a month, applied again to a run that computes it anew: posted with that run, or not at all.

    `head` is the ledger's when the decisions were read.
    """

    head: str
    runs: tuple[tuple["Transfer", Run], ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A statement as it is issued. `number` is that of an invoice, 0 where nothing is charged; `label` is how it is written."""

    level: str
    owner: str
    currency: str
    number: int
    label: str
    amount: int
    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A statement that was issued; `sha256` is that of its text."""

    level: str
    owner: str
    currency: str
    number: int
    label: str
    amount: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Transfer:
    """What people decided, as a run of kind credit or reclass: `amount` moves from `owner` to `other`, each TEAM, TEAM/PROJECT or TEAM/PROJECT/USER.

    `reference` tells two apart that are otherwise the same; `dispute` is the number of the dispute that it settles, 0 where there is none.
    `extent` is what was decided of it: `all` of what stands, or an `amount`; "" in books made before that was kept. `bill` and `pool` narrow a credit.
    `follows` is the run of the decision that this one takes further, because the month was computed anew; its amount is by how much, below 0 where less moves.
    """

    run_id: str
    owner: str
    other: str
    currency: str
    amount: Decimal
    why: str
    approver: str = ""
    reference: str = ""
    dispute: int = 0
    extent: str = ""
    bill: str = ""
    pool: str = ""
    follows: str = ""


@dataclass(frozen=True, slots=True)
class DisputeNote:
    """One entry of a dispute's thread: `open` by who disputes and whoever answers, or how it ended, with the run that was posted for it."""

    at_s: int
    who: str
    status: str
    text: str
    run_id: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Dispute(Result):
    """What is doubted: `kind` is posting, job or statement. `evidence` is what `explain` said when it was opened, as JSON, at `head`.

    `key` is what finds it in the books: a posting's key, or a job's workloads. `part` says that only `amount` of it is doubted, not all of it.
    The books give the number and the thread.
    """

    period: str
    kind: str
    name: str
    key: tuple[str, ...]
    owner: str
    currency: str
    amount: Decimal
    part: bool
    evidence: str
    head: str
    number: int = 0
    notes: tuple[DisputeNote, ...] = ()

    @property
    def status(self) -> str:
        """Said by its last note."""
        return self.notes[-1].status if self.notes else OPEN


@dataclass(frozen=True, slots=True)
class Beside:
    """Rules to come that statements tell of: a policy, by its version and its text."""

    version: str
    text: str


@dataclass(frozen=True, slots=True)
class Close:
    """The end of a period. `minor` is what it comes to in whole minor units; `checks` is what was looked at, and what it said, by name.

    `why` is the reason for closing although some check said no. `expected_head` is the ledger's, as it was when `minor` was made.
    """

    period: str
    policy_version: str
    minor: pa.Table
    checks: Mapping[str, str]
    expected_head: str
    why: str = ""
    documents: tuple[Document, ...] = ()
    beside: Beside | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    period: str
    run_id: str
    policy_version: str
    minor: pa.Table
    checks: Mapping[str, str]
    why: str
    head: str
    closed_s: int
    documents: tuple[Kept, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A posted run: the links `seq` to `last_seq` of the chain."""

    run_id: str
    period: str
    plan_digest: str
    policy_version: str
    inputs: dict[str, int]
    engine: str
    entries: int
    seq: int
    last_seq: int
    head_before: str
    head_after: str
    posted_s: int
    kind: str
    about: str
    cause: str


@dataclass(frozen=True, slots=True)
class Posted:
    run_id: str
    posted: bool  # False: this run had been posted before, nothing changed
    entries: int
    head: str


@dataclass(frozen=True, slots=True)
class Damage:
    """Something in the books is not what was recorded."""

    code: str
    where: str
    message: str
