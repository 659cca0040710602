"""Posted rows that were asked for last, for whoever serves many readers. The ledger only grows: what was posted since is added to what was read."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import pyarrow as pa
from sqlalchemy import Connection, func, select

from apportion.books import record
from apportion.books.ledger import CONTRA, added_runs, read_posted, read_rows, summed
from apportion.books.minor import read_minor
from apportion.books.recent import Recent
from apportion.model.rows import POSTINGS

MINOR = "minor units"


class Which(NamedTuple):
    """Of all periods or one; of all kinds of runs or some; until some second."""

    period: str | None
    kinds: tuple[str, ...]
    as_of_s: int | None


class Months:
    """The same runs are the same rows, as long as they show the same names. Large, so none are kept unless a server says how many."""

    def __init__(self) -> None:
        self.kept: Recent[pa.Table] = Recent(0)
        self._runs: dict[Which, tuple[str, ...]] = {}  # that were added up last

    def get(self, connection: Connection, period: str | None, kinds: Sequence[str], as_of_s: int | None) -> pa.Table:
        which, named = Which(period, tuple(kinds), as_of_s), names_standing(connection)
        runs = added_runs(connection, *which)
        before = self._runs.get(which, ())
        if self.kept.most and as_of_s is None:
            self._runs[which] = runs
        known = self.kept.peek((period, before, named)) if before and runs[: len(before)] == before else None
        return self.kept.get(
            (period, runs, named),
            lambda: (
                read_posted(connection, *which)
                if known is None
                else summed(pa.concat_tables([known, rows_of(connection, period, runs[len(before) :])]))
            ),
        )

    def minor(self, connection: Connection, period: str, as_of_s: int | None) -> pa.Table:
        """In whole minor units."""
        key = (MINOR, period, added_runs(connection, period, (), as_of_s), names_standing(connection))
        return self.kept.get(key, lambda: read_minor(connection, period, as_of_s))


def rows_of(connection: Connection, period: str | None, runs: Sequence[str]) -> pa.Table:
    """The owners' side of some runs."""
    table = record.entries.c
    within = [table.period == period] if period else []
    return read_rows(connection, POSTINGS, table.account.not_like(CONTRA + "%"), table.run_id.in_(runs), *within)


def names_standing(connection: Connection) -> tuple[Hashable, ...]:
    """Another whenever a posted row may show another name."""
    number, known = func.max(record.erasures.c.number), select(func.count()).select_from(record.names)
    return tuple(connection.execute(select(select(number).scalar_subquery(), known.scalar_subquery())).one())
