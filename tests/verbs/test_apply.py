"""What is posted is the difference: added to what was posted it gives the plan, whatever either is."""

from datetime import date
from decimal import Decimal

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from apportion.model.rows import POSTING_KEY, POSTINGS
from apportion.reports.sums import grouped
from apportion.verbs.difference import difference
from tests.reports.record import record, row

AMOUNTS = st.decimals(min_value=-(10**19), max_value=10**19, places=18, allow_nan=False, allow_infinity=False)
ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.integers(1, 3), AMOUNTS), max_size=12)


def table(rows: list[tuple[str, str, int, Decimal]]) -> pa.Table:
    """Each key once, as the ledger gives it."""
    found = {
        (team, pool, day): row(str(amount), team=team, pool=pool, day=date(2026, 10, day))
        for team, pool, day, amount in rows
    }
    return record(*found.values()).posted if found else POSTINGS.empty_table()


def sums(*tables: pa.Table) -> dict[tuple[str, ...], Decimal]:
    found = grouped(pa.concat_tables(tables), POSTING_KEY)
    return {key: amount for key, amount in found.items() if amount}


@given(ROWS, ROWS)
def test_posted_plus_difference_is_the_plan(
    planned: list[tuple[str, str, int, Decimal]], posted: list[tuple[str, str, int, Decimal]]
) -> None:
    plan, record_now = table(planned), table(posted)
    change = difference(plan, record_now)
    assert change.schema.equals(POSTINGS)
    assert sums(record_now, change) == sums(plan)
    assert all(change["amount"].to_pylist())


def test_nothing_changes_where_nothing_differs() -> None:
    assert len(difference(record().posted, record().posted)) == 0
