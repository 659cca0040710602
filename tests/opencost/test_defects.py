"""The known defects of OpenCost's answers, by the number of the how-to's table: corrected, told with their money, or out of our way."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.model.meters import GPU
from apportion.model.times import DAY_S
from apportion.sources.opencost.asking import CLOUD, WHOLE
from tests.opencost import answers as a
from tests.sources import making

HALF = DAY_S // 2
NO_GPU: dict[str, Any] = {"gpus": Decimal(0)}


def day(base: Path, pods: list[a.Container], *assets: dict[str, Any], others: Any = (), **settings: Any) -> Any:
    (delivery,) = a.saved(base, a.allocations(pods, *others), a.assets(*(assets or (a.node(),))), **settings)
    return delivery


def used(delivery: Any) -> list[int | None]:
    return [row["used"] for row in delivery.tables["usage"].to_pylist() if row["meter"] == "gpu"]


def storage(delivery: Any) -> dict[str, int]:
    rows = [row for row in delivery.tables["usage"].to_pylist() if row["meter"] == "storage"]
    return {row["workload"]: row["allocated"] * (row["end_s"] - row["start_s"]) for row in rows}


def test_1_a_volume_handed_over_is_counted_for_the_time_it_was_mounted(tmp_path: Path) -> None:
    """$24 for a day, two pods for half a day each: theirs is rate x 12 h x 1/2, so $6 each and half of it lost."""
    quarter = a.volume("pv-1", Decimal(6), 100 * a.GIB * 6)
    pods = [
        a.Container("first", end=HALF, more=quarter, **NO_GPU),
        a.Container("second", start=HALF, more=quarter, **NO_GPU),
    ]
    found = day(tmp_path, pods, a.node(), a.disk())
    assert storage(found) == dict.fromkeys(("k8s/c1/vision/first", "k8s/c1/vision/second"), 100 * a.GIB * HALF)
    assert making.total([found]) == Decimal("695.04") + 24
    assert a.codes(found) == {"unreconciled": "-12"}


def test_1_a_volume_that_many_have_mounted_is_split_evenly_while_they_do(tmp_path: Path) -> None:
    mounts = a.volume("pv-1", Decimal(1), 1)
    pods = [
        a.Container("all-day", more=mounts, **NO_GPU),
        a.Container("sidecar", name="one", start=HALF, more=mounts, **NO_GPU),
        a.Container("sidecar", name="two", start=HALF, more=mounts, **NO_GPU),
    ]
    found = storage_rows = day(tmp_path, pods, a.node(), a.disk())
    assert a.unit_seconds(storage_rows, "storage") == 100 * a.GIB * DAY_S
    by_pod: dict[str, int] = {}
    for row in found.tables["usage"].to_pylist():
        if row["meter"] == "storage":
            held = row["allocated"] * (row["end_s"] - row["start_s"])
            by_pod[row["workload"]] = by_pod.get(row["workload"], 0) + held
    assert by_pod == {
        "k8s/c1/vision/all-day": 75 * a.GIB * DAY_S,
        "k8s/c1/vision/sidecar": 25 * a.GIB * DAY_S,
    }


def test_2_a_claim_smaller_than_its_volume_pays_for_the_volume(tmp_path: Path) -> None:
    pods = [a.Container(more=a.volume("pv-1", Decimal("14.4"), 60 * a.GIB * 24), **NO_GPU)]
    found = day(tmp_path, pods, a.node(), a.disk())
    assert storage(found) == {"k8s/c1/vision/train-0": 100 * a.GIB * DAY_S}
    assert a.codes(found) == {"unreconciled": "-9.6"}


def test_3_a_load_balancer_costs_what_its_asset_costs(tmp_path: Path) -> None:
    twice = {"loadBalancerCost": 20.0, "lbAllocations": {"c1/vision/serve": {"service": "serve", "cost": 24.0}}}
    found = day(tmp_path, [a.Container(more=twice)], a.node(), a.balancer(cost=10.0))
    assert [row["EffectiveCost"] for row in making.lines([found]) if row["ResourceType"] == "LoadBalancer"] == [10]
    assert a.codes(found) == {"unreconciled": "10"}


def test_4_use_of_gpus_is_measured_use_times_gpus(tmp_path: Path) -> None:
    def busy(share: Any, gpus: int) -> dict[str, Any]:
        return {
            "gpuEfficiency": 1.0,
            "gpuAllocation": {"gpuModel": "H100", "gpuUsageAverage": share, "gpuRequestAverage": gpus},
        }

    assert used(day(tmp_path / "idle", [a.Container(more=busy(0, 1))])) == [0]
    assert used(day(tmp_path / "full", [a.Container(gpus=Decimal(8), more=busy(1, 8))])) == [8 * GPU]
    assert used(day(tmp_path / "null", [a.Container(more=busy(None, 1))])) == [None]
    assert used(day(tmp_path / "none", [a.Container(more={"gpuAllocation": None})])) == [None]


@pytest.mark.parametrize(
    "field",
    ["totalEfficiency", "gpuEfficiency", "cpuEfficiency", "gpuCount", "cpuCostIdle", "pvByteHours", "minutes"],
)
def test_5_and_7_figures_that_are_wrong_are_not_read(field: str, tmp_path: Path) -> None:
    plain, poisoned = (
        making.canonical([day(tmp_path / name, [a.Container(more=more)])])
        for name, more in (("plain", {}), ("poisoned", {field: 987654.321}))
    )
    for one in (*plain, *poisoned):
        one.pop("files")
    assert plain == poisoned


def test_6_7_8_9_and_11_rows_are_asked_for_whole_unshared_and_unfiltered() -> None:
    """Aggregating loses GPUs, several days lose maxima, sharing idle or costs and filters lose or double money."""
    assert "aggregate" not in WHOLE
    assert "filter" not in WHOLE
    assert (WHOLE["shareIdle"], WHOLE["accumulate"]) == ("false", "false")
    assert not [key for key in (*WHOLE, *CLOUD) if key.startswith(("shareN", "shareL", "shareC", "shareS"))]


def test_8_a_negative_adjustment_stays_with_its_node(tmp_path: Path) -> None:
    found = day(tmp_path, [a.Container()], a.node(adjustment=-700.0))
    assert making.total([found]) == Decimal("-4.96")


def test_9_and_11_shared_and_external_costs_are_told_and_not_counted(tmp_path: Path) -> None:
    found = day(tmp_path, [a.Container(more={"sharedCost": 10.0, "externalCost": 5.0})])
    assert a.codes(found) == {"shared-cost": "15"}
    assert making.total([found]) == Decimal("695.04")


def test_10_where_all_is_idle_the_set_is_empty_and_the_money_stays(tmp_path: Path) -> None:
    (found,) = a.saved(tmp_path, {"code": 200, "data": [{}]}, a.assets(a.node()))
    assert a.codes(found) == {"no-allocations": "695.04"}
    assert making.total([found]) == Decimal("695.04")
    assert found.tables["capacity"].num_rows == 3
    assert found.tables["usage"].num_rows == 0


def test_12_idle_that_was_negative_is_told(tmp_path: Path) -> None:
    pods = [a.Container(cores=Decimal(120))]
    found = day(tmp_path, pods, others=[a.idle_of(a.node(), pods)])
    over = Decimal("115.2") - Decimal("92.16")
    assert a.codes(found) == {"more-than-capacity": str(over), "unreconciled": str(over)}


def test_12_rows_and_idle_that_add_up_are_not_told(tmp_path: Path) -> None:
    pods = [a.Container(f"train-{n}", cores=Decimal(n + 1) / 3, start=n * 777) for n in range(7)]
    found = day(tmp_path, pods, others=[a.idle_of(a.node(), pods)])
    assert a.codes(found) == {}


def test_13_and_14_a_gpu_that_is_seen_and_not_counted_is_told(tmp_path: Path) -> None:
    """Time-slices renamed to nvidia.com/gpu.shared, and MIG's mixed strategy."""
    pods = [a.Container(gpus=Decimal(0), more={"gpuAllocation": {"gpuModel": "H100", "gpuUsageAverage": 0.4}})]
    assert a.codes(day(tmp_path, pods)) == {"gpu-not-counted": "0"}


def test_13_and_14_slices_that_count_as_whole_gpus_are_told_with_their_money(tmp_path: Path) -> None:
    """Time-slices under their plain name, and MIG's single strategy: 10 whole GPUs on a node of 8."""
    pods = [a.Container(f"slice-{n}", cores=Decimal(1), ram=a.GIB) for n in range(10)]
    assert a.codes(day(tmp_path, pods)) == {"more-than-capacity": "120"}


def test_15_a_discount_that_gpus_do_not_get_is_told(tmp_path: Path) -> None:
    found = day(tmp_path, [a.Container()], a.node(discount=0.1))
    assert a.codes(found) == {"discount-not-on-gpu": "48"}
    (line,) = making.lines([found])
    assert (line["ListCost"], line["EffectiveCost"]) == (Decimal("695.04"), Decimal("673.536"))


def test_16_list_prices_as_a_bill_are_told(tmp_path: Path) -> None:
    assert a.codes(day(tmp_path / "ref", [a.Container()])) == {}
    as_bill = {"role": "bill", "issuer": "Nimbus"}
    assert a.codes(day(tmp_path / "bill", [a.Container()], **as_bill)) == {"list-prices": "695.04"}
    reconciled = day(tmp_path / "adjusted", [a.Container()], a.node(adjustment=-100.0), **as_bill)
    assert a.codes(reconciled) == {}


def test_17_metrics_that_are_kept_twice_are_told(tmp_path: Path) -> None:
    pods = [a.Container(f"train-{n}", cores=Decimal(60), **NO_GPU) for n in range(2)]
    assert a.codes(day(tmp_path, pods)) == {"more-than-capacity": "23.04"}


def test_17_a_pod_without_cores_and_bytes_is_told(tmp_path: Path) -> None:
    assert a.codes(day(tmp_path, [a.Container(cores=Decimal(0), ram=0)])) == {"no-hours": "0"}


def test_18_pods_of_one_name_are_two_where_the_server_keeps_their_ids(tmp_path: Path) -> None:
    ids = [f"{n}f0c9a52-7b1e-4a43-9d5e-3b8a7c6d5e4f" for n in (1, 2)]
    pods = [a.Container(f"train-0 {uid}", start=n * HALF, end=(n + 1) * HALF) for n, uid in enumerate(ids)]
    found = day(tmp_path, pods)
    rows = found.tables["workloads"].to_pylist()
    assert [row["workload"] for row in rows] == [f"k8s/c1/{uid}" for uid in ids]
    assert [row["name"] for row in rows] == ["train-0"] * 2
    assert [dict(row["labels"])["k8s.uid"] for row in rows] == ids


def test_19_a_pod_that_only_waits_has_no_row_and_its_node_is_idle(tmp_path: Path) -> None:
    found = day(tmp_path, [a.Container(node="node-1")], a.node("node-1"), a.node("node-2"))
    offered = {row["resource"] for row in found.tables["capacity"].to_pylist()}
    assert offered == {"node-1", "node-2"}
    assert making.total([found]) == 2 * Decimal("695.04")


def test_20_a_pod_of_an_owner_that_they_do_not_know_keeps_its_labels(tmp_path: Path) -> None:
    about = {"controller": "", "controllerKind": "", "labels": {"training_kubeflow_org_job_name": "bert"}}
    found = day(tmp_path, [a.Container(properties=about)])
    (row,) = found.tables["workloads"].to_pylist()
    assert row["run"] == row["workload"]
    assert dict(row["labels"])["k8s.label.training_kubeflow_org_job_name"] == "bert"


def test_22_labels_are_taken_as_they_write_them(tmp_path: Path) -> None:
    about = {"labels": {"app_kubernetes_io_name": "train"}, "namespaceLabels": {"team": "vision"}}
    found = day(tmp_path, [a.Container(properties=about)])
    labels = dict(found.tables["workloads"].to_pylist()[0]["labels"])
    assert labels["k8s.label.app_kubernetes_io_name"] == "train"
    assert labels["k8s.namespace_label.team"] == "vision"
