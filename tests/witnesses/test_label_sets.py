"""Labels on a row own that row, whoever else saw the work: which set each row has, and what measured use goes with it."""

from typing import Any

import pyarrow as pa
import pytest

from apportion.engine.backends.duckdb import DuckDB
from apportion.engine.label_sets import plain_ids, rows_named, with_sets
from apportion.engine.witnesses import hear
from apportion.engine.workloads import unite
from apportion.model.rows import WORKLOADS, set_of_labels
from tests.witnesses.test_witnesses import Row, backend, policy, use, work, world

__all__ = ["backend"]
Own = dict[str, Any]
OWN: list[Own] = [{"label_set": set_of_labels([("team", team)])} for team in "ab"]
A, B = OWN
FIRST, SECOND = f"1~{A['label_set']}", f"1~{B['label_set']}"


def told(rows: list[Row], lives: list[Row], backend: DuckDB, decides: str = "{}") -> tuple[list[Any], dict[str, Any]]:
    """Rows as (workload, start, end, held, used), and each workload's run and labels."""
    found = hear(world(rows, lives, policy(decides)), backend)
    usage = found.usage if isinstance(found.usage, pa.Table) else found.usage.to_pyarrow()
    seen = [
        tuple(row[name] for name in ("workload", "start_s", "end_s", "allocated", "used")) for row in usage.to_pylist()
    ]
    named = {row["workload"]: (row["run"], dict(row["labels"])) for row in unite(found.workloads).to_pylist()}
    backend.forget()
    return sorted(seen, key=str), named


def test_each_set_of_labels_is_a_workload_of_one_run(backend: DuckDB) -> None:
    rows = [use("log", "1", 0, 10, 4, **A), use("log", "1", 20, 30, 2, **B), use("log", "2", 0, 10, 1, **A)]
    lives = [work("log", "1", team="a") | A, work("log", "1", team="b") | B, work("log", "2", team="a") | A]
    seen, named = told(rows, lives, backend)
    expected = [(FIRST, 0, 10, 4, None), (SECOND, 20, 30, 2, None), ("2", 0, 10, 1, None)]
    assert seen == sorted(expected, key=str)
    assert named == {FIRST: ("1", {"team": "a"}), SECOND: ("1", {"team": "b"}), "2": ("2", {"team": "a"})}


def test_sets_of_two_sources_are_one_workload_as_before(backend: DuckDB) -> None:
    rows = [use("log", "1", 0, 10, 4, **A), use("agent", "1", 0, 10, 0, 3, **B)]
    lives = [work("log", "1", team="a") | A, work("agent", "1", host="h") | B]
    seen, named = told(rows, lives, backend, "{gpu: log}")
    assert seen == [("1", 0, 10, 4, 3)]
    assert named == {"1": ("1", {"team": "a", "host": "h"})}


def test_use_that_another_measured_goes_with_the_set_that_held(backend: DuckDB) -> None:
    rows = [
        use("log", "1", 0, 10, 4, **A),
        use("log", "1", 5, 20, 2, **B),
        use("agent", "1", 0, 20, 0, 3),
    ]
    lives = [work("log", "1", team="a") | A, work("log", "1", team="b") | B, work("agent", "1", host="h")]
    seen, named = told(rows, lives, backend, "{gpu: log}")
    both = [(FIRST, 5, 10, 4, 2), (SECOND, 5, 10, 2, 1)]  # 3 by what each held
    assert seen == sorted([(FIRST, 0, 5, 4, 3), *both, (SECOND, 10, 20, 2, 3)], key=str)
    assert named == {FIRST: ("1", {"team": "a", "host": "h"}), SECOND: ("1", {"team": "b", "host": "h"})}


def test_rows_without_labels_of_the_source_that_decides_take_the_latest(backend: DuckDB) -> None:
    rows = [use("log", "1", 0, 10, 4, **A), use("log", "1", 20, 30, 4, **B), use("slurm", "1", 0, 30, 8)]
    lives = [work("log", "1", 0, 10, team="a") | A, work("log", "1", 20, 30, team="b") | B, work("slurm", "1", qos="q")]
    seen, named = told(rows, lives, backend, "{gpu: slurm}")
    assert seen == [("1", 0, 30, 8, None)]
    assert named["1"] == ("1", {"qos": "q"}), "what is said of the id as such"


def test_rows_from_before_sets_had_names_are_of_the_set_that_they_say(backend: DuckDB) -> None:
    rows = [use("log", "1", 0, 10, 4), use("log", "1", 20, 30, 2, **A)]
    seen, named = told(rows, [work("log", "1", team="a"), work("log", "1", team="a") | A], backend)
    assert ({row[0] for row in seen}, named) == ({"1"}, {"1": ("1", {"team": "a"})})
    seen, named = told(rows, [work("log", "1", team="b"), work("log", "1", team="a") | A], backend)
    assert {row[0] for row in seen} == {"1", FIRST}
    assert named == {"1": ("1", {"team": "b"}), FIRST: ("1", {"team": "a"})}


def test_no_plain_id_is_taken_for_a_qualified_one(backend: DuckDB) -> None:
    rows = [use("log", "1", 0, 10, 4, **A), use("log", "1", 20, 30, 2, **B), use("log", FIRST, 0, 10, 1)]
    lives = [work("log", "1", team="a") | A, work("log", "1", team="b") | B, work("log", FIRST, team="c")]
    seen, named = told(rows, lives, backend)
    apart = FIRST.replace("~", "~~")
    assert {row[0] for row in seen} == {FIRST, apart, SECOND.replace("~", "~~")}
    assert (named[FIRST][1], named[apart][1]) == ({"team": "c"}, {"team": "a"})


@pytest.mark.parametrize("accounts", [(A, B), (A, A)])
def test_one_id_in_two_clusters_has_no_witnesses_of_each_other(accounts: tuple[Row, Row], backend: DuckDB) -> None:
    rows = [
        use("east", "1", 0, 10, 4, cluster="e", **accounts[0]),
        use("west", "1", 0, 10, 2, cluster="w", **accounts[1]),
    ]
    lives = [
        work("east", "1", team="a") | accounts[0],
        work("west", "1", team="a" if accounts[0] == accounts[1] else "b") | accounts[1],
    ]
    seen, _ = told(rows, lives, backend)
    assert sorted(row[3] for row in seen) == [2, 4]
    assert len({row[0] for row in seen}) == (1 if accounts[0] == accounts[1] else 2)


def test_use_without_an_allocation_is_what_another_held(backend: DuckDB) -> None:
    rows = [use("log", "1", 0, 10, 8), use("busy", "1", 0, 10, 0, 3) | {"allocated": None}]
    seen, _ = told(rows, [work("log", "1", team="a"), work("busy", "1")], backend)
    assert seen == [("1", 0, 10, 8, 3)]


def test_names_lead_back_to_rows() -> None:
    rows = pa.Table.from_pylist(
        [work("log", "1", team="a") | A, work("log", "1", team="b") | B, work("log", "2")], schema=WORKLOADS
    )
    assert sorted(plain_ids([FIRST, "2", "3~x"]).to_pylist()) == ["1", FIRST, "2", "3~x"]
    found = rows_named(rows, pa.array([FIRST, "2"]))
    assert sorted((row["workload"], dict(row["labels"]).get("team")) for row in found.to_pylist()) == [
        (FIRST, "a"),
        ("2", None),
    ]
    assert sorted(with_sets(rows)["workload"].to_pylist()) == ["1", "1", FIRST, SECOND, "2"]
