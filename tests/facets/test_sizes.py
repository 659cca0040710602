"""The most that a workload held at once, against a count second by second."""

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.engine.sizes import SIZES, most_held, size_of
from apportion.model.meters import GPU, METERS
from apportion.model.rows import USAGE

ROW = st.fixed_dictionaries({
    "source": st.sampled_from(["a", "b"]),
    "workload": st.sampled_from(["w1", "w2", "w3"]),
    "meter": st.sampled_from(["gpu", "tpu", "cpu"]),
    "resource": st.sampled_from(["n1", "n2"]),
    "start_s": st.integers(0, 9),
    "end_s": st.integers(0, 9),
    "allocated": st.integers(0, 3).map(lambda units: units * GPU // 2),
    "used": st.none(),
})  # fmt: skip


@given(st.lists(ROW, max_size=12))
def test_the_most_held_at_once_is_that_of_the_fullest_second(rows: list[dict[str, object]]) -> None:
    expected: dict[str, Fraction] = {}
    for key in {
        (row["workload"], row["source"], row["meter"]) for row in rows if METERS[str(row["meter"])].base == GPU
    }:
        own = [row for row in rows if (row["workload"], row["source"], row["meter"]) == key]
        seconds = [sum(row["allocated"] for row in own if row["start_s"] <= at < row["end_s"]) for at in range(10)]  # type: ignore[misc,operator]
        most = max(expected.get(str(key[0]), Fraction(0)), Fraction(max(seconds), GPU))
        expected |= {str(key[0]): most} if most else {}
    assert most_held(pa.Table.from_pylist(rows, USAGE)) == expected


@pytest.mark.parametrize(
    ("held", "size"),
    [
        ("0", "no GPU"), ("1/7", "part of a GPU"), ("1", "1 GPU"), ("3/2", "1 GPU"), ("2", "2 to 8 GPUs"), ("8", "2 to 8 GPUs"), ("9", "9 to 64 GPUs"),
        ("64", "9 to 64 GPUs"), ("512", "65 to 512 GPUs"), ("100000", "over 512 GPUs"),
    ],
)  # fmt: skip
def test_usual_sizes(held: str, size: str) -> None:
    assert size_of(Fraction(held), {}) == size_of(Fraction(held), SIZES) == size


def test_sizes_of_a_policy_and_work_that_is_smaller_than_all_of_them() -> None:
    sizes = {"large": Fraction(32), "small": Fraction(4)}
    assert [size_of(Fraction(held), sizes) for held in (3, 4, 31, 32)] == ["", "small", "small", "large"]
