"""The charges behind the postings without their workloads: what each owner held, used and wasted, by pool and day. Few rows, however many jobs there were."""

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import summed
from apportion.model.rows import CHARGES
from apportion.reports.held import QUANTITIES, READ
from apportion.verbs.project import Project

SUMMED = ("unit_seconds", *QUANTITIES, "waste")
KEYS = tuple(name for name in READ if name not in SUMMED)
HELD = pa.schema([CHARGES.field(name) for name in (*KEYS, *SUMMED)])
Holding = Callable[[Project, Sequence[str], int | None], pa.Table]


def held_in(project: Project, months: Sequence[str], snapshot: int | None = None) -> pa.Table:
    """Of some months, by a snapshot of the charges or as they are now."""
    rows = project.books.scan(
        "charges", snapshot, columns=HELD.names, where=pc.field("period").isin(sorted(set(months)))
    )
    return summed(rows, KEYS, SUMMED).select(HELD.names).cast(HELD)
