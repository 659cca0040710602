"""A resource is a cluster and a name: which text stands for which of them."""

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

from apportion.engine.backend import Backend
from apportion.engine.clusters import Place, locate, name_resources
from apportion.engine.plan import make_plan
from apportion.engine.witnesses import hear
from apportion.model.rows import CAPACITY, USAGE
from tests.engine.golden_world import GOLDEN, read_world

EAST, WEST = ("east", "g01"), ("west", "g01")


@pytest.mark.parametrize(
    ("stated", "keys"),
    [
        ([("", "g01")], {("", "g01"): "g01"}),
        ([EAST], {EAST: "g01"}),
        ([EAST, ("", "g01")], {EAST: "g01", ("", "g01"): "g01"}),
        ([EAST, ("", "g02")], {EAST: "g01", ("", "g02"): "g02"}),
        ([EAST, WEST], {EAST: "east/g01", WEST: "west/g01"}),
        ([EAST, WEST, ("", "g01")], {EAST: "east/g01", WEST: "west/g01", ("", "g01"): "/g01"}),
        ([EAST, WEST, ("", "east/g01")], {EAST: "east//g01", WEST: "west/g01", ("", "east/g01"): "east/g01"}),
        ([("a", "b/c"), ("z", "b/c"), ("a/b", "c"), ("z", "c")], {
            ("a", "b/c"): "a/b/c", ("z", "b/c"): "z/b/c", ("a/b", "c"): "a/b//c", ("z", "c"): "z/c",
        }),
    ],
)  # fmt: skip
def test_a_name_is_plain_where_one_cluster_has_it(
    stated: list[tuple[str, str]], keys: dict[tuple[str, str], str]
) -> None:
    found = name_resources(stated)
    assert found.keys == keys
    assert {key: name_resources(reversed(stated)).keys[key] for key in keys} == keys
    assert len(found.places) == len(set(found.places.values()))
    for (cluster, name), key in keys.items():
        assert found.places[key].node == name
        assert found.places[key].cluster == cluster or not cluster


def test_only_a_name_that_several_named_clusters_have_is_left_open() -> None:
    assert name_resources([EAST, ("", "g01"), ("", "g02")]).open == ()
    assert name_resources([EAST, WEST, ("", "g01"), ("", "g02")]).open == ("g01",)


def rows_of(schema: pa.Schema, told: tuple[tuple[str, str, str | None], ...], **usual: object) -> pa.Table:
    hour = {"meter": "gpu", "start_s": 0, "end_s": 3600}
    rows: list[dict[str, object]] = [
        hour | usual | {"source": source, "resource": resource, "cluster": cluster}
        for source, resource, cluster in told
    ]
    return pa.Table.from_pylist(rows, schema=schema)


def usage(*told: tuple[str, str, str | None]) -> pa.Table:
    return rows_of(USAGE, told, workload="w", allocated=504_000)


def capacity(*told: tuple[str, str, str | None]) -> pa.Table:
    return rows_of(CAPACITY, told, amount=504_000, state="up", labels=[])


def test_rows_of_one_cluster_are_not_touched(backend: Backend) -> None:
    rows, offered = usage(("a", "g01", "east"), ("b", "g01", None)), capacity(("a", "g01", "east"))
    found = locate(rows, offered, backend)
    assert found.usage is rows
    assert found.capacity is offered
    assert found.places == {"g01": Place("east", "g01")}
    assert found.findings == ()


def test_capacity_decides_too_where_a_row_of_usage_belongs(backend: Backend) -> None:
    found = locate(usage(("a", "g01", None)), capacity(("a", "g01", "east"), ("b", "g01", "west")), backend)
    assert found.usage.to_pyarrow()["resource"].to_pylist() == ["/g01"]
    assert sorted(found.capacity["resource"].to_pylist()) == ["east/g01", "west/g01"]
    (finding,) = found.findings
    assert (finding.source, finding.rows, finding.hours, finding.share) == ("a", 1, Decimal(1), Decimal(1))


def test_capacity_without_a_cluster_is_counted_in_rows(backend: Backend) -> None:
    found = locate(usage(("a", "g01", "east"), ("a", "g01", "west")), capacity(("list", "g01", None)), backend)
    (finding,) = found.findings
    assert (finding.source, finding.rows, finding.hours, finding.share) == ("list", 1, Decimal(0), Decimal(1))


def test_two_nodes_of_one_name_offer_what_each_has(backend: Backend) -> None:
    """One source each: by name alone one of them would decide for both."""
    world = read_world(GOLDEN / "two-clusters")
    rows = world.capacity.to_pylist()
    told = [row | {"source": row["cluster"], "labels": []} for row in rows]
    heard = hear(replace(world, capacity=pa.Table.from_pylist(told, schema=CAPACITY)), backend)
    assert [row["amount"] for row in heard.capacity.to_pylist()] == [row["amount"] for row in rows]
    assert make_plan(heard, backend).digest == make_plan(world, backend).digest


@pytest.mark.parametrize("case", ["two-clusters", "two-clusters-one-not-stated", "node-in-two-clusters"])
def test_a_world_that_was_heard_is_planned_alike(case: str, backend: Backend) -> None:
    world = read_world(GOLDEN / case)
    heard = make_plan(hear(world, backend), backend)
    assert heard.digest == make_plan(world, backend).digest
    assert heard.findings == make_plan(world, backend).findings
