"""Which node a line paid for: drawn clusters whose map is known, and the cases that drawing does not reach."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from apportion.engine.nodes import Known, read_known
from apportion.engine.ties import Tie, Ties, charge_columns, rivalries, tie_lines
from apportion.model.rows import CAPACITY, COST_LINES
from apportion.policy.load import load_policy
from apportion.policy.rules import NodeRule
from tests.nodes.clusters import CHANNELS, DAY_S, Drawn, Machine, capacity_row, draw, line_row

RULES = '{when: {tag.slot: "*"}, node: "n{tag.slot}"}'
HEAD = "policy: p\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"


def rules(text: str = RULES) -> tuple[NodeRule, ...]:
    return load_policy(f"{HEAD}nodes: [{text}]\n", "policy.yaml").nodes


def known(capacity: pa.Table, *others: str) -> Known:
    return read_known({*capacity["resource"].to_pylist(), *others}, capacity, {})


def found(ties: Ties) -> list[Tie]:
    return [ties.found[number] for number in ties.of_row]


@pytest.mark.parametrize("seed", range(60))
def test_every_line_of_a_drawn_cluster_finds_its_node(seed: int) -> None:
    drawn = draw(seed)
    ties = found(tie_lines(drawn.lines, known(drawn.capacity), rules()))
    assert [(tie.node, tie.by) for tie in ties] == [(node, by) for node, by, _ in drawn.truth]
    spans = [tie.span and (tie.span.start_s // DAY_S, tie.span.end_s // DAY_S) for tie in ties]
    assert spans == [span for *_, span in drawn.truth]


def test_the_draw_reaches_every_rule_and_every_trap() -> None:
    truths = [truth for seed in range(60) for truth in draw(seed).truth]
    assert {by for _, by, _ in truths} == {"", *CHANNELS}
    assert any(span for *_, span in truths), "no node was replaced"
    assert any(len(holders) > 1 for seed in range(60) for (kind, _), holders in handed_on(draw(seed)) if kind == "ip")


def handed_on(drawn: Drawn) -> list[tuple[tuple[str, str], tuple[object, ...]]]:
    return list(known(drawn.capacity).holders.items())


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_makes_no_difference(seed: int) -> None:
    drawn = draw(seed)
    back = pa.array(range(len(drawn.lines) - 1, -1, -1))
    there = found(tie_lines(drawn.lines, known(drawn.capacity), rules()))
    turned = known(drawn.capacity.take(pa.array(range(len(drawn.capacity) - 1, -1, -1))))
    assert found(tie_lines(drawn.lines.take(back), turned, rules()))[::-1] == there


def lines(*told: Mapping[str, object], day: int = 0) -> pa.Table:
    rows = [line_row(each, day) | {"line_id": str(number)} for number, each in enumerate(told)]
    return pa.Table.from_pylist(rows, schema=COST_LINES)


def cluster(*nodes: tuple[str, dict[str, str]], days: tuple[int, int] = (0, 20)) -> Known:
    rows = [capacity_row(Machine(0, "", name, *days, ""), labels) for name, labels in nodes]
    return known(pa.Table.from_pylist(rows, schema=CAPACITY))


def one(told: Mapping[str, object], nodes: Known, text: str = "") -> Tie:
    return found(tie_lines(lines(told), nodes, rules(text) if text else ()))[0]


def test_what_stands_as_it_is_comes_before_what_is_read_out_of_it() -> None:
    nodes = cluster(("n1", {"k8s.provider_id": "aws:///z/i-0abc"}), ("n2", {}), ("i-0abc", {}))
    assert one({"ResourceId": "i-0abc", "ResourceName": "n2"}, nodes).node == "i-0abc"
    assert one({"ResourceId": "i-0def", "ResourceName": "n2"}, nodes).by == "name"


def test_a_rule_of_the_policy_comes_first_and_the_first_that_matches_wins() -> None:
    nodes = cluster(("n1", {}), ("n2", {}), ("n3.cluster.local", {}))
    told = {"ResourceId": "n1", "Tags": [("Name", "n2"), ("slot", "3")]}
    assert one(told, nodes, f'{{when: {{tag.gone: "*"}}, node: n1}}, {RULES}').by == "rule 2"
    assert one(told, nodes, f'{{when: {{ResourceId: "n*"}}, node: "{{tag.Name}}"}}, {RULES}').node == "n2"
    assert one(told, nodes, '{when: {ResourceId: "n*"}, node: "{tag.missing}"}').by == "id", "it has no such tag"
    unknown = one(told, nodes, '{when: {}, node: "rack-{tag.slot}"}')
    assert (unknown.node, unknown.tried) == ("", ("rule 1: rack-3",))
    assert one(told, nodes, RULES).node == "n3.cluster.local"


def test_an_instance_that_is_a_node_under_two_names_is_tied_to_none() -> None:
    twice = {"k8s.provider_id": "aws:///z/i-0abc"}
    tie = one({"ResourceId": "i-0abc"}, cluster(("a", twice), ("b", twice)))
    assert (tie.node, tie.by, tie.rivals) == ("", "instance id", ("a", "b"))


def test_a_path_ties_where_its_last_part_alone_would_not() -> None:
    nodes = cluster(("a", {"k8s.provider_id": "gce://p/z1/gke-x"}), ("b", {"k8s.provider_id": "gce://p/z2/gke-x"}))
    assert one({"ResourceId": "//compute.googleapis.com/projects/p/zones/z2/instances/gke-x"}, nodes).node == "b"
    assert one({"ResourceId": "projects/p/instances/gke-x"}, nodes).rivals == ("a", "b")


def test_an_address_counts_only_while_the_node_had_it() -> None:
    nodes = cluster(("a", {"k8s.ip": "10.0.0.5"}), days=(0, 10))
    told: Mapping[str, object] = {"ResourceId": "vm", "Tags": [("ip", "10.0.0.5")]}
    early, late = (found(tie_lines(lines(told, day=day), nodes, ()))[0] for day in (9, 10))
    assert (early.node, late.node) == ("a", "")


def test_disks_and_addresses_that_only_look_like_nodes_are_tied_to_none() -> None:
    nodes = cluster(("gke-x", {"k8s.provider_id": "gce://p/z/gke-x"}), ("3", {}))
    for told in (
        {"ResourceId": "//compute.googleapis.com/projects/p/zones/z/disks/gke-x"},
        {
            "ResourceId": "/subscriptions/s/resourcegroups/r/providers/microsoft.compute/virtualmachinescalesets/other/virtualmachines/3"
        },
        {"ResourceId": "arn:aws:ec2:r:1:volume/gke-x"},
        {"ResourceId": "127.0.0.1"},
        {},
    ):
        assert one(dict(told), nodes).node == "", told


def test_rivals_are_told_with_their_money() -> None:
    twice = {"k8s.ip": "10.0.0.5"}
    told: Mapping[str, object] = {"ResourceId": "vm", "Tags": [("ip", "10.0.0.5")]}
    ties = tie_lines(lines(told, told, {"ResourceId": "a"}), cluster(("a", twice), ("b", twice)), ())
    (problem,) = rivalries(ties, pa.array([1, 2, 4], pa.decimal128(38, 18)))
    assert (problem.where, problem.code, problem.money) == ("vm", "ambiguous-node", "3")
    assert problem.message == "ip 10.0.0.5 is that of a and of b in its time; it is tied to none of them"


def test_money_outside_the_life_of_a_replaced_machine_stays_where_the_bill_has_it() -> None:
    rows = [
        capacity_row(Machine(0, "", "n1", *days, ""), {"k8s.provider_id": f"aws:///z/{name}"})
        for name, days in (("i-a", (2, 5)), ("i-b", (5, 9)))
    ]
    nodes = known(pa.Table.from_pylist(rows, schema=CAPACITY))
    billed = [line_row({"ResourceId": "i-a"}, day) | {"line_id": str(day)} for day in (1, 3)]
    billed.append(line_row({"ResourceId": "i-b"}, 0) | {"line_id": "b", "charge_end_s": 20 * DAY_S})
    table = pa.Table.from_pylist(billed, schema=COST_LINES)
    columns = charge_columns(table, tie_lines(table, nodes, ()))
    days = [[second // DAY_S for second in columns[name].to_pylist()] for name in ("charge_start_s", "charge_end_s")]
    assert days == [[1, 3, 5], [2, 4, 9]]
