"""The owners' side of what single runs posted."""

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.ledger import CONTRA
from apportion.books.shapes import CLOSE, PLAN, StoredRun
from apportion.model.rows import MINOR_KEY
from apportion.model.times import Period
from apportion.verbs.project import Project


def owners_side(project: Project, run_ids: Sequence[str]) -> pa.Table:
    """What runs posted to owners, without the bills' own side of the double entry."""
    rows = project.books.entries(run_id=run_ids)
    return rows.filter(pc.invert(pc.starts_with(rows["account"], CONTRA)))


def other_rows(project: Project, period: Period | str, runs: Iterable[StoredRun]) -> pa.Table:
    """What of some runs corrections of earlier months and decisions posted in a month, each row with its run."""
    own = [run.run_id for run in runs if run.period == str(period) and run.kind not in (PLAN, CLOSE)]
    rows = owners_side(project, own)
    return rows.select([*MINOR_KEY, "run_id", "amount"]).rename_columns([*MINOR_KEY, "run", "amount"])
