"""Whatever the figures: sections add up to what is owed, changes to the difference, children to their parents, at every level."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.reports.statement.build import statements
from apportion.reports.statement.drivers import Side, changes
from apportion.reports.statement.facts import (
    CARRIED,
    CHANGES,
    FACETED,
    OWNER,
    PLACED,
    WAS,
    WASTE,
    WORK,
    Facts,
    Ran,
    Words,
)
from apportion.reports.statement.shape import LEVELS, Statement, from_json, to_json
from tests.conftest import LONG

Key = tuple[str, str, str]  # level, currency, owner
PLACES = [("9", "central", "platform"), ("1", "research", "vision"), ("1", "research", "speech"), ("", "", "lone")]
WORDS = Words("2026-10", "USD", "", "", "head", "p@1", "effective cost", "write to {owner}")
owners = st.tuples(st.sampled_from(PLACES), st.sampled_from(["", "p1", "p2"]), st.sampled_from(["", "u1", "u2"])).map(
    lambda drawn: (*drawn[0], drawn[1], drawn[2])
)
pools = st.sampled_from(["gpus", "disks"])
amounts = st.integers(-(10**9), 10**9)
placed_rows = st.lists(
    st.tuples(
        st.just("b"), st.sampled_from(["USD", "JPY"]), owners, st.just("compute"), pools,
        st.sampled_from(["usage", "burst", "idle", "overhead", "credit", "adjustment", "subsidy", "rounding", "recovery"]),
        st.sampled_from(["", "x"]), st.sampled_from([("", "", ""), ("_idle", "", ""), ("", "r1", "correction"), ("", "r2", "credit")]),
        st.booleans(), amounts,
    ),
    max_size=25,
)  # fmt: skip
work_rows = st.lists(
    st.tuples(
        st.sampled_from(["USD", "JPY"]),
        owners,
        pools,
        st.sampled_from(["w1", "w2", "w3"]),
        st.integers(0, 10**6),
        amounts,
    ),
    max_size=20,
)


def table(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema.names)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
    )


def placed(rows: list[tuple[Any, ...]]) -> pa.Table:
    return table(
        PLACED,
        [
            (bill, currency, *owner, *mid, *kind, charged, amount)
            for bill, currency, owner, *mid, kind, charged, amount in rows
        ],
    )


def worked(rows: list[tuple[Any, ...]]) -> pa.Table:
    flat = []
    for currency, owner, pool, workload, units, amount in rows:
        held, money = Decimal(units), Decimal(amount).scaleb(-3)
        flat.append(
            (
                currency,
                *owner,
                pool,
                workload,
                "GPU",
                Decimal(1),
                held,
                held,
                Decimal(units // 2),
                Decimal(0),
                money,
                money / 10,
            )
        )
    return table(WORK, flat)


def facts(now: pa.Table, before: pa.Table, work: tuple[pa.Table, pa.Table], same: pa.Table | None) -> Facts:
    empty = {
        "faceted": FACETED.empty_table(),
        "was": WAS.empty_table(),
        "carried": CARRIED.empty_table(),
        "waste": WASTE.empty_table(),
    }
    runs = {"r1": Ran("2026-09", "late", "r0")}
    sides = Side(now, late(now), work[0]), Side(before, late(before), work[1])
    why = changes(*sides, None if same is None else (same, late(same)))
    return Facts(WORDS, now, before, why, work[0], runs=runs, **empty)


def late(rows: pa.Table) -> pa.Table:
    """Some of what was planned, for days of other months."""
    return rows.filter(pc.and_(pc.equal(rows["cause"], "x"), pc.equal(rows["kind"], "")))


def check_sums(made: Statement) -> None:
    assert sum(line.amount for line in made.summary) == made.owed
    assert sum(line.before or 0 for line in made.summary) == made.before
    assert sum(change.amount for change in made.changes) == made.owed - (made.before or 0)
    for part in made.parts:
        assert sum(line.amount for line in part.lines) == made.owed
        assert part.by == "bill" or sum(line.before or 0 for line in part.lines) == made.before
    assert not made.children or sum(line.amount for line in made.children) == made.owed
    assert not made.workloads or sum(line.amount for line in made.workloads) == made.owed
    assert from_json(to_json(made)) == made


@settings(max_examples=200 if LONG else 30)
@given(placed_rows, placed_rows, placed_rows | st.none(), work_rows, work_rows)
def test_everything_adds_up(now: Any, before: Any, same: Any, work: Any, past: Any) -> None:
    whole = facts(placed(now), placed(before), (worked(work), worked(past)), None if same is None else placed(same))
    found = {(level, made.currency, made.owner): made for level in LEVELS for made in statements(whole, level)}
    assert {key: made.owed for key, made in found.items()} == owed(now)
    for made in found.values():
        check_sums(made)
    check_drivers(whole, found)


def owed(rows: list[tuple[Any, ...]]) -> dict[Key, int]:
    """By level, currency and owner, in plain Python."""
    sums = defaultdict[Key, int](int)
    for _, currency, owner, *_, amount in rows:
        for key in owners_of(currency, owner):
            sums[key] += amount
    return sums


def owners_of(currency: str, owner: tuple[str, ...]) -> Iterator[Key]:
    for level, name in zip(OWNER, owner, strict=True):
        if name:
            yield level, currency, f"{owner[2]}/{name}" if level == "project" else name


def check_drivers(whole: Facts, found: dict[Key, Statement]) -> None:
    """Each driver is a sum over the same rows at every level, so that children add up to their parents.

    Not of the children's statements alone: an owner may owe nothing now and still move its parents' figures, because it owed something
    before, or would have under the policy of then.
    """
    sums = defaultdict[tuple[Key, str, str], int](int)
    for row in whole.changes.to_pylist():
        for key in owners_of(row["currency"], tuple(row[name] for name in OWNER)):
            sums[key, row["driver"], row["pool"]] += row["amount"]
    told = {(key, one.driver, one.pool): one.amount for key, made in found.items() for one in made.changes}
    assert told == {name: amount for name, amount in sums.items() if amount and name[0] in found}


@settings(max_examples=200 if LONG else 20)
@given(placed_rows, work_rows)
def test_one_owner_alone_says_the_same(now: Any, work: Any) -> None:
    rows = placed(now)
    whole = facts(rows, rows.slice(0, 0), (worked(work), worked([])), None)
    for level in LEVELS:
        for made in statements(whole, level):
            alone = [one for one in statements(whole.only(level, made.owner), level) if one.currency == made.currency]
            assert alone == [made]


def test_who_owes_nothing_now_still_moves_the_department() -> None:
    """Under the policy of before vision would owe what speech owes now: for the department, it makes no difference."""
    there = ("1", "research", "vision", "", "")
    here = ("1", "research", "speech", "", "")
    rest: tuple[Any, ...] = ("compute", "gpus", "usage", "", ("", "", ""), True, 500)
    now, same = placed([("b", "USD", here, *rest)]), placed([("b", "USD", there, *rest)])
    whole = facts(now, now.slice(0, 0), (worked([]), worked([])), same)
    (team,) = statements(whole, "team")
    assert [(one.driver, one.amount) for one in team.changes] == [("policy", 500)]
    (department,) = statements(whole, "department")
    assert [(one.driver, one.amount) for one in department.changes] == [("direct", 500)]


def test_without_a_month_before_nothing_is_compared() -> None:
    rows = placed(
        [("b", "USD", ("1", "research", "vision", "", ""), "compute", "gpus", "usage", "", ("", "", ""), True, 5)]
    )
    whole = replace(
        facts(rows, rows.slice(0, 0), (worked([]), worked([])), None), before=None, changes=CHANGES.empty_table()
    )
    (made,) = statements(whole, "team")
    assert made.before is None
    assert not made.changes
    assert made.summary[0].before is None
