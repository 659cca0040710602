"""What is read from a body: both envelopes, holes in it, errors as text and JSON; windows that do not fit; settings."""

import json
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError, InputError, ProjectError
from apportion.model.rows import TABLES
from apportion.model.times import DAY_S, Interval
from apportion.sources.opencost import SOURCE, STANZA, read
from apportion.sources.opencost.answers import data_of
from apportion.sources.opencost.day import LISTED
from tests.opencost import answers as a
from tests.sources import making

NEXT = Interval(a.DAY.end_s, a.DAY.end_s + DAY_S)


def refusal(base: Path, *bodies: Any, **settings: Any) -> ApportionError:
    with pytest.raises((InputError, ProjectError)) as caught:
        a.saved(base, *bodies, **settings)
    return caught.value


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            'Invalid window parameter: illegal window: 1x\n{"code":400,"data":null,"message":"bad"}',
            "Invalid window parameter",
        ),
        ("<html><title>Log in</title>{</html>", "<html>"),
        ('{"code":500,"data":null,"message":"error computing allocations: query error"}', "query error"),
        ('{"code":400,"data":null,"message":"bad request - includeIdle must be set true"}', "includeIdle"),
        ('{"status":"error","data":{},"message":"no"}', "refused: no"),
        ('{"error":"not found"}', "no data"),
        ("[]", "no data"),
        ("", "not JSON"),
        ('{"code":200,"data":[{"c1/a":', "not JSON"),
    ],
)
def test_a_body_that_is_no_answer_is_told_in_the_servers_words(body: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        data_of(body.encode(), "x")
    assert caught.value.code == "bad-response"
    assert said in caught.value.message


def test_both_envelopes_and_sets_that_are_missing_give_the_same(tmp_path: Path) -> None:
    rows, assets = a.allocations([a.Container()]), a.assets(a.node())
    plain = a.saved(tmp_path / "plain", rows, assets)
    older = a.saved(tmp_path / "older", {**rows, "status": "success"}, {**assets, "status": "success", "meta": {}})
    holes = a.saved(tmp_path / "holes", {"data": [None, {}, *rows["data"]]}, {"data": [assets["data"], None]})
    assert [one.tables for one in plain] == [one.tables for one in older] == [one.tables for one in holes]


def test_tables_have_the_models_schema(tmp_path: Path) -> None:
    (found,) = a.saved(tmp_path, a.allocations([a.Container()]), a.assets(a.node(), a.disk(), a.management()))
    for name, table in found.tables.items():
        assert table.schema.equals(TABLES[name])
        table.validate(full=True)
        assert not any(table[field.name].null_count for field in table.schema if not field.nullable)


def test_null_numbers_are_nothing_and_what_is_no_row_is_told(tmp_path: Path) -> None:
    nulls = dict.fromkeys(("cpuCoreHours", "cpuCost", "cpuCoreUsageAverage", "ramByteUsageAverage"))
    rows = a.allocations([a.Container(more=nulls)])
    rows["data"][0] |= {
        "c1/n/x/y/z": 7,
        "c1/n/x/y/back": {**a.Container(start=500, end=100).row(a.PRICES), "totalCost": 3.5},
    }
    (found,) = a.saved(tmp_path, rows, a.assets(a.node(totalCost=None)))
    assert {row["meter"]: row["used"] for row in found.tables["usage"].to_pylist()} == {"memory": None, "gpu": 252000}
    assert [(problem.code, problem.money) for problem in found.problems] == [
        ("malformed-row", "0"),
        ("malformed-row", "3.5"),
    ]
    assert making.total([found]) == Decimal("695.04"), "a total that is null is what its parts add up to"


def test_money_keeps_the_digits_that_were_written(tmp_path: Path) -> None:
    text = json.dumps(a.assets(a.node())).replace('"totalCost": 695.04', '"totalCost": 0.123456789012345678')
    (found,) = a.saved(tmp_path, a.allocations([a.Container()]), text)
    assert making.total([found]) == Decimal("0.123456789012345678")


def test_each_window_is_a_delivery_and_one_can_be_asked_for(tmp_path: Path) -> None:
    bodies = [a.allocations([a.Container(day=day)]) for day in (a.DAY, NEXT)] + [
        a.assets(a.node(day=day)) for day in (a.DAY, NEXT)
    ]
    assert [one.window for one in a.saved(tmp_path, *bodies)] == [a.DAY, NEXT]
    (second,) = read({"name": "oc", "kind": "opencost", "path": "answers"}, tmp_path, NEXT)
    assert second.window == NEXT  # type: ignore[union-attr]  # saved answers have no progress


def test_answers_for_windows_that_overlap_are_refused(tmp_path: Path) -> None:
    week = Interval(a.DAY.start_s, a.DAY.start_s + 7 * DAY_S)
    found = refusal(tmp_path, a.allocations([a.Container()]), a.assets(a.node(day=week)))
    assert found.code == "wrong-window"


def test_files_that_say_nothing_or_the_same_or_a_summary_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "empty", {"code": 200, "data": [{}]}).code == "no-rows"
    assert refusal(tmp_path / "cloud", a.allocations([a.Container()]), report="cloudCost").code == "no-rows"
    rows = a.allocations([a.Container()])
    assert refusal(tmp_path / "twice", rows, rows).code == "same-file-twice"
    summary = {"code": 200, "data": {"sets": [{"allocations": {}, "window": {}}]}}
    assert "/allocation/summary" in refusal(tmp_path / "summary", summary).hint


def test_a_row_without_a_pod_is_told_with_its_money(tmp_path: Path) -> None:
    by_namespace = {"name": "vision", "properties": {"cluster": "c1", "namespace": "vision"}, "cpuCost": 5, "ramCost": 2,
                    **a.times(a.DAY.start_s, a.DAY.end_s, a.DAY)}  # fmt: skip
    (found,) = a.saved(tmp_path, a.allocations([], by_namespace), a.assets(a.node()))
    assert a.codes(found) == {"no-pod": "7"}


def test_without_assets_there_are_hours_and_no_money(tmp_path: Path) -> None:
    (found,) = a.saved(tmp_path, a.allocations([a.Container()]))
    assert found.tables["cost_lines"].num_rows == 0
    assert a.unit_seconds(found, "gpu") == 504_000 * DAY_S
    assert a.codes(found) == {"no-assets": str(Decimal("7.68") * 2 + 60)}


def test_as_a_bill_it_must_say_who_sends_it(tmp_path: Path) -> None:
    bodies = a.allocations([a.Container()]), a.assets(a.node())
    assert refusal(tmp_path, *bodies, role="bill").code == "missing-setting"
    (found,) = a.saved(tmp_path, *bodies, role="bill", issuer="Nimbus", currency="EUR")
    (scope,) = found.scopes
    assert (scope.issuer, scope.accounts, scope.billing, scope.role) == ("Nimbus", ("111122223333",), (a.DAY,), "bill")
    assert {row["BillingCurrency"] for row in making.lines([found])} == {"EUR"}


def test_a_bill_whose_assets_name_no_account_speaks_for_all_or_for_the_one_given(tmp_path: Path) -> None:
    bodies = a.allocations([]), a.assets(a.management())
    as_bill = {"role": "bill", "issuer": "Nimbus"}
    (found,) = a.saved(tmp_path / "none", *bodies, **as_bill)
    assert [scope.accounts for scope in found.scopes] == [()]
    (found,) = a.saved(tmp_path / "given", *bodies, account="42", **as_bill)
    assert [scope.accounts for scope in found.scopes] == [("42",)]


def test_one_cluster_may_be_given_a_name_and_two_may_not(tmp_path: Path) -> None:
    (found,) = a.saved(tmp_path / "one", a.allocations([a.Container()]), a.assets(a.node()), cluster="prod")
    assert found.tables["workloads"]["workload"].to_pylist() == ["k8s/prod/vision/train-0"]
    both = a.allocations([a.Container(), a.Container(cluster="c2", node="node-2")])
    assert refusal(tmp_path / "two", both, cluster="prod").code == "invalid-setting"


def test_capacity_may_be_left_to_another_source(tmp_path: Path) -> None:
    (found,) = a.saved(tmp_path, a.allocations([a.Container()]), a.assets(a.node()), capacity=False)
    assert sorted(found.tables) == ["cost_lines", "usage", "workloads"]
    assert making.total([found]) == Decimal("695.04")


def test_traffic_is_a_line_for_each_namespace_and_bytes_of_its_pods(tmp_path: Path) -> None:
    def moved(pod: str, namespace: str, cost: float) -> a.Container:
        more = {"networkTransferBytes": 10 * a.GIB, "networkReceiveBytes": a.GIB, "networkCost": cost}
        return a.Container(pod, namespace=namespace, more=more)

    pods = [moved("one", "vision", 0.25), moved("two", "vision", 0.5), moved("three", "speech", 1.0)]
    (found,) = a.saved(tmp_path, a.allocations(pods), a.assets(a.node()))
    lines = [row for row in making.lines([found]) if row["ResourceType"] == "Network"]
    assert {dict(row["Tags"])["k8s.namespace"]: row["EffectiveCost"] for row in lines} == {
        "vision": Decimal("0.75"),
        "speech": 1,
    }
    rows = [row for row in found.tables["usage"].to_pylist() if row["meter"] == "network"]
    assert [row["allocated"] for row in rows] == [11 * a.GIB] * 3


def test_cloud_costs_are_lines_of_their_own_report(tmp_path: Path) -> None:
    row = {
        "properties": {"provider": "AWS", "service": "AmazonEC2", "accountID": "42", "invoiceEntityID": "7", "category": "Compute"},
        "window": a.times(a.DAY.start_s, a.DAY.end_s, a.DAY)["window"],
        **{name: {"cost": cost, "kubernetesPercent": 0.91} for name, cost in
           (("listCost", 30.0), ("netCost", 20.0), ("amortizedNetCost", 19.5), ("invoicedCost", 20.5), ("amortizedCost", 21.0))},
    }  # fmt: skip
    body = {"code": 200, "data": {"sets": [{"cloudCosts": {"AWS/AmazonEC2": row}}, {"cloudCosts": None}]}}
    (found,) = a.saved(tmp_path, body, report="cloudCost")
    (line,) = making.lines([found])
    assert [line[name] for name in ("ListCost", "ContractedCost", "EffectiveCost", "BilledCost")] == [
        30, 20, Decimal("19.5"), Decimal("20.5"),
    ]  # fmt: skip
    assert set(found.tables) == {"cost_lines"}
    assert [(one.issuer, one.accounts, one.role) for one in found.scopes] == [("AWS", ("7",), "reference")]


def test_many_problems_of_a_kind_are_counted(tmp_path: Path) -> None:
    pods = [a.Container(f"p{n}", cores=Decimal(0), ram=0, gpus=Decimal(0)) for n in range(LISTED + 5)]
    (found,) = a.saved(tmp_path, a.allocations(pods), a.assets(a.node()))
    assert len(found.problems) == LISTED + 1
    assert found.problems[-1].row == "+5"


def test_the_stanza_that_init_writes_is_one(tmp_path: Path) -> None:
    text = (
        STANZA.replace("# role", "role")
        .replace("# issuer", "issuer")
        .replace("# flavour", "flavour")
        .replace("# currency", "currency")
        .replace("# capacity", "capacity")
    )
    (settings,) = tomllib.loads(text)["sources"]
    with pytest.raises(InputError) as caught:
        list(SOURCE.read({**settings, "path": "none.json"}, tmp_path, None))
    assert caught.value.code == "no-such-file", "every setting of the stanza is known"
