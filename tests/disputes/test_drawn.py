"""Whatever was posted: a transfer comes to nothing in every bill, component and day, and moves what it says from the one to the other."""

from datetime import date
from decimal import Decimal

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.books.shapes import Transfer
from apportion.model.rows import POSTINGS
from apportion.model.times import Period
from apportion.policy.load import load_policy
from apportion.verbs.transfers import (
    Desk,
    credit_rows,
    in_currency,
    named,
    owed,
    places_of,
    reclass_rows,
    rows_of_owner,
)
from tests.conftest import LONG
from tests.disputes.small import POLICY, sums

POLICY_READ = load_policy(POLICY, "policy.yaml")
DAY = ("bill", "currency", "component", "day")
ROW = st.fixed_dictionaries({
    "period": st.just("2026-09"), "bill": st.sampled_from(["one", "two"]), "currency": st.sampled_from(["USD", "USD", "gCO2e"]),
    "component": st.sampled_from(["compute", "storage"]), "pool": st.sampled_from(["", "h100"]),
    "day": st.sampled_from([date(2026, 9, 1), date(2026, 9, 30)]), "reason": st.sampled_from(["usage", "idle", "credit"]),
    "cause": st.sampled_from(["", "held"]), "cost_centre": st.just("1"), "department": st.just("research"), "team": st.sampled_from(["vision", "speech"]),
    "project": st.sampled_from(["", "p"]), "user": st.sampled_from(["", "u"]), "amount": st.decimals("-9", "99", places=9),
})  # fmt: skip


def desk(rows: list[dict[str, object]]) -> Desk:
    return Desk(Period(2026, 9), Period(2026, 10), POLICY_READ, "", pa.Table.from_pylist(rows, POSTINGS))


@given(st.lists(ROW, min_size=1, max_size=12), st.booleans())
@settings(max_examples=80 if LONG else 30, deadline=None)
def test_what_is_moved_balances(rows: list[dict[str, object]], whole: bool) -> None:
    at = desk(rows)
    mine = rows_of_owner(at.rows, "vision")
    made = Transfer("dispute-1", "vision", "office", "USD", Decimal(1), "drawn", dispute=1)
    out = reclass_rows(at, mine.to_pylist(), made).to_pylist()
    assert sums(out, *DAY) == {}
    assert sums([*rows, *out], "team", "bill", "currency").keys() <= {
        (team, bill, currency) for team in ("speech", "office") for bill in ("one", "two") for currency in ("USD", "gCO2e")
    }  # fmt: skip
    money = in_currency(mine, "USD")
    most = owed(money)
    if most <= 0:
        return
    leaf = named(at, "vision", "team") if whole else None
    credit = Transfer("dispute-1", "vision", "office", "USD", most, "drawn", dispute=1)
    given_back = credit_rows(at, places_of(money, leaf, at), credit).to_pylist()
    assert sums(given_back, *DAY) == {}
    assert sums(given_back, "team", "reason") == {("vision", "credit"): -most, ("office", "subsidy"): most}
