"""The runs that cost most are the same, whether all were looked at or only those that lead somewhere."""

from decimal import Decimal
from itertools import product

import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from apportion.reports.account import top_runs
from apportion.verbs.charged import RUNS, leading, told

MOST = 10  # of `top_runs`
NAMES = {"team": ("a", "b"), "project": ("", "p"), "user": ("u", "v")}
owners = st.tuples(*(st.sampled_from(names) for names in NAMES.values()))
charged = st.lists(st.tuples(owners, st.sampled_from(["USD", "EUR"]), st.integers(-5, 5)), max_size=80)


def runs_of(drawn: list[tuple[tuple[str, ...], str, int]]) -> pa.Table:
    rows = [
        dict(zip(RUNS.names, (f"r{n:02}", None, *owner, currency, Decimal(amount), None), strict=True))
        for n, (owner, currency, amount) in enumerate(drawn)
    ]
    return pa.Table.from_pylist(rows, RUNS)


@given(charged)
def test_what_leads_is_all_that_any_owner_s_page_shows(drawn: list[tuple[tuple[str, ...], str, int]]) -> None:
    every = runs_of(drawn)
    few = leading(every, MOST)
    for keys in (("team",), ("team", "project"), ("user",), ("team", "user")):
        for values, currency in product(product(*(NAMES[key] for key in keys)), ("USD", "EUR")):
            assert top_runs(own(few, keys, values), currency) == top_runs(own(every, keys, values), currency)


def own(rows: pa.Table, keys: tuple[str, ...], values: tuple[str, ...]) -> pa.Table:
    for key, value in zip(keys, values, strict=True):
        rows = rows.filter(pc.equal(rows[key], value))
    return rows


def test_few_are_kept_of_many() -> None:
    many = runs_of([(("a", "p", "u"), "USD", n) for n in range(100)])
    assert sorted(leading(many, MOST)["amount"].to_pylist()) == [Decimal(n) for n in range(90, 100)]


SEEN = (
    {"workload": "7_1", "run": "7_1", "name": None, "source": "power"},
    {"workload": "7_1", "run": "7", "name": "sweep", "source": "slurm"},
    {"workload": "7_1", "run": "8", "name": "another", "source": "tracker"},
    {"workload": "9", "run": "9", "name": None, "source": "power"},
    {"workload": "9", "run": "9", "name": "train", "source": "slurm"},
    {"workload": "3", "run": "3", "name": None, "source": "power"},
)


@given(st.permutations(SEEN))
def test_a_run_is_what_the_source_that_knows_it_says_in_whatever_order_they_were_read(
    rows: list[dict[str, str]],
) -> None:
    found = {row["workload"]: (row["run"], row["name"]) for row in told(pa.Table.from_pylist(rows)).to_pylist()}
    assert found == {"7_1": ("7", "sweep"), "9": ("9", "train"), "3": ("3", None)}
