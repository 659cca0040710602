"""Samples of capacity that follow one another are one row; what was offered at any second stays the same."""

from collections import Counter
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from apportion.model.rows import CAPACITY
from apportion.verbs.levels import as_levels


def row(start: int, end: int, **said: Any) -> dict[str, Any]:
    usual = {"source": "s", "resource": "n1", "meter": "gpu", "amount": 8, "state": "up", "labels": [("gpu", "H100")]}
    return usual | {"cluster": None} | said | {"start_s": start, "end_s": end}


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=CAPACITY)


def test_a_month_of_samples_is_one_row() -> None:
    found = as_levels(table([row(n * 60, n * 60 + 60) for n in range(43_200)]))
    assert found.to_pylist() == [row(0, 43_200 * 60)]
    assert found.schema.equals(CAPACITY)


def test_what_differs_in_anything_stays_apart() -> None:
    others: list[dict[str, Any]] = [
        {"resource": "n2"},
        {"meter": "cpu"},
        {"amount": 4},
        {"state": "down"},
        {"source": "t"},
        {"labels": []},
        {"labels": [("gpu", "A100")]},
    ]
    rows = [row(n, n + 1, **said) for n, said in enumerate([{}, *others])]
    assert as_levels(table(rows)).to_pylist() == rows
    gap = [row(0, 1), row(2, 3)]
    assert as_levels(table(gap)).to_pylist() == gap


samples = st.builds(
    lambda start, length, resource, amount, labels: row(start, start + length, resource=resource, amount=amount, labels=labels),
    st.integers(0, 8), st.integers(0, 3), st.sampled_from(["n1", "n2"]), st.sampled_from([1, 2]),
    st.sampled_from([[], [("a", "b")], [("a", "b"), ("c", "d")], [("c", "d")]]),
)  # fmt: skip


def offered(rows: list[dict[str, Any]]) -> Counter[tuple[Any, ...]]:
    """What each resource offers at each second under which labels."""
    out: Counter[tuple[Any, ...]] = Counter()
    for each in rows:
        for second in range(each["start_s"], each["end_s"]):
            out[each["resource"], second, tuple(each["labels"]), each["state"]] += each["amount"]
    return out


@given(st.lists(samples, max_size=12))
def test_every_second_offers_what_it_offered(rows: list[dict[str, Any]]) -> None:
    found = as_levels(table(rows)).to_pylist()
    assert offered(found) == offered(rows)
    assert len(found) <= len(rows)
    last = {each["resource"]: each["labels"] for each in rows}
    assert {each["resource"]: each["labels"] for each in found} == last, "the last word on labels stays the last"
