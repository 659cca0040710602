"""What pods hold: requests, DRA claims, shared claims; and worlds whose schedule is known before they are read."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.sources.kubernetes import SOURCE
from tests.kubernetes.objects import AT_S, HOUR_S, Object, claim, container, devices, gpu, mig, node, pod, result
from tests.kubernetes.reading import LAST_HOUR, codes, one, rows, stanza
from tests.kubernetes.server import TOKEN, serving


def held(*objects: Object, **settings: Any) -> tuple[dict[tuple[str, str], int], list[str]]:
    """Unit-seconds in the last hour by pod and meter, and the codes of problems."""
    with serving(objects) as recorded:
        found = one(recorded, **{"usage": True, **settings})
    names = {row["workload"]: row["name"] for row in rows(found, "workloads")}
    total: Counter[tuple[str, str]] = Counter()
    for row in rows(found, "usage"):
        seconds = min(row["end_s"], LAST_HOUR.end_s) - max(row["start_s"], LAST_HOUR.start_s)
        total[names[row["workload"]], row["meter"]] += row["allocated"] * seconds
    return dict(total), codes(found)


def claiming(name: str, *claims: str, **more: Any) -> Object:
    spec = {"resourceClaims": [{"name": f"c{number}", "resourceClaimName": each} for number, each in enumerate(claims)]}
    return pod(name, **{"requests": {}, "spec": spec, **more})


def test_usage_is_prometheus_business_unless_asked_for() -> None:
    """And so is capacity: two sources that both said it would say it twice."""
    for usage, tables in ((False, set()), ("claims", {"usage"}), (True, {"usage", "capacity"})):
        with serving([node(), pod("a")]) as recorded, pytest.MonkeyPatch.context() as patch:
            patch.setenv("TEST_TOKEN", TOKEN)
            settings = {key: value for key, value in stanza(recorded, usage=usage).items() if key != "capacity"}
            *_, found = SOURCE.read(settings, Path(), LAST_HOUR)
        assert isinstance(found, Delivery)
        assert set(found.tables) == {"workloads", "reservations", *tables}


def test_a_pod_holds_its_requests_on_its_node() -> None:
    sidecar = container("proxy", {"cpu": "500m", "memory": "1Gi"}, restartPolicy="Always")
    setup = container("fetch", {"cpu": "8", "memory": "2Gi"})
    made = pod(
        "a",
        containers=[container(requests={"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "2"})],
        spec={"initContainers": [sidecar, setup]},
    )
    found, problems = held(node(), made)
    assert found == {
        ("a", "cpu"): 8500 * HOUR_S,
        ("a", "memory"): 17 * 2**30 * HOUR_S,
        ("a", "gpu"): 2 * GPU * HOUR_S,
    }
    assert problems == []


def test_a_time_sliced_gpu_is_a_part_of_a_board() -> None:
    labels = {
        "nvidia.com/gpu.replicas": "4",
        "nvidia.com/gpu.sharing-strategy": "time-slicing",
        "nvidia.com/gpu.count": "2",
    }
    found, _ = held(node(labels=labels), pod("a"))
    assert found["a", "gpu"] == GPU * HOUR_S // 4


def test_cores_count_where_nobody_can_say_what_the_gpu_is() -> None:
    found, problems = held(node(), pod("a", requests={"cpu": "4", "nvidia.com/gpu.shared": "1"}))
    assert found == {("a", "cpu"): 4000 * HOUR_S}
    assert problems == ["unknown-share"]


def test_runais_fraction_counts() -> None:
    found, _ = held(node(), pod("a", requests={}, annotations={"gpu-fraction": "0.25"}))
    assert found == {("a", "gpu"): GPU * HOUR_S // 4}


def test_devices_of_a_claim_count_whole_or_by_their_profile() -> None:
    users = claiming("a", "two"), claiming("b", "slice")
    offered = devices("node-1", 3, gpu(0), gpu(1), mig(2, "1g.10gb", 0))
    stale = devices("node-1", 2, mig(0, "7g.80gb", 0))
    claims = (
        claim("two", [result("gpu-0"), result("gpu-1")], users[:1]),
        claim("slice", [result("gpu-2-mig-0")], users[1:]),
    )
    found, problems = held(node(capacity={}), *users, *claims, offered, stale)
    assert found == {("a", "gpu"): 2 * GPU * HOUR_S, ("b", "gpu"): GPU * HOUR_S // 7}
    assert problems == []


def test_a_claim_from_a_template_is_found_by_the_pods_status() -> None:
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]}
    user = pod(
        "a",
        requests={},
        spec=spec,
        status={"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "a-gpu-x7"}]},
    )
    found, _ = held(node(), user, claim("a-gpu-x7", [result("gpu-0")], [user]), devices("node-1", 1, gpu(0)))
    assert found == {("a", "gpu"): GPU * HOUR_S}


def test_the_claim_behind_a_plain_request_is_not_counted_again() -> None:
    user = pod(
        "a",
        status={"extendedResourceClaimStatus": {"resourceClaimName": "a-extended-resources-x", "requestMappings": []}},
    )
    made = claim("a-extended-resources-x", [result("gpu-0")], [user])
    made["metadata"]["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"}
    found, _ = held(node(), user, made, devices("node-1", 1, gpu(0)))
    assert found == {("a", "gpu"): GPU * HOUR_S}


def test_a_share_counts_the_capacity_that_it_consumes() -> None:
    user = claiming("a", "part")
    part = result("gpu-0", shareID="a671734a-e8e5-11e4-8fde-42010af09327", consumedCapacity={"memory": "20Gi"})
    found, _ = held(node(), user, claim("part", [part], [user]), devices("node-1", 1, gpu(0)))
    assert found == {("a", "gpu"): GPU * HOUR_S // 4}


def test_administrators_and_other_drivers_take_no_gpu() -> None:
    user = claiming("a", "odd")
    results = [result("gpu-0", adminAccess=True), result("channel-0", driver="compute-domain.nvidia.com")]
    assert held(node(), user, claim("odd", results, [user]), devices("node-1", 1, gpu(0))) == ({}, [])


def test_a_driver_of_ones_own_may_be_named() -> None:
    user = claiming("a", "own")
    made = devices("node-1", 1, {"name": "npu-0"})
    made["spec"]["driver"] = "npu.example.com"
    found, _ = held(
        node(),
        user,
        claim("own", [result("npu-0", driver="npu.example.com")], [user]),
        made,
        drivers={"npu.example.com": "accelerator"},
    )
    assert found == {("a", "accelerator"): GPU * HOUR_S}


def test_what_a_claim_holds_and_nobody_can_say_is_listed() -> None:
    users = claiming("a", "gone"), claiming("b", "nowhere"), claiming("d", "vague")
    vague = result("gpu-0", shareID="a671734a-e8e5-11e4-8fde-42010af09327")
    claims = claim("nowhere", [result("gpu-9")], users[1:2]), claim("vague", [vague], users[2:])
    assert held(node(), *users, *claims, devices("node-1", 1, gpu(0))) == (
        {},
        ["missing-claim", "unknown-share", "unknown-share"],
    )


def test_older_versions_of_dra_are_read() -> None:
    user = claiming("a", "one")
    offered = devices("node-1", 1)
    offered["spec"]["devices"] = [
        {"name": "gpu-0", "basic": {key: value for key, value in gpu(0).items() if key != "name"}}
    ]
    made = claim("one", [result("gpu-0")], [user])
    for each in (offered, made):
        each["apiVersion"] = "resource.k8s.io/v1beta1"
    with serving([node(), user, made, offered], versions={"resource.k8s.io": ["v1alpha3", "v1beta1"]}) as recorded:
        found = one(recorded, usage="claims")
    assert [row["allocated"] for row in rows(found, "usage")] == [GPU]


def test_only_claims_may_be_asked_for() -> None:
    found, _ = held(
        node(),
        claiming("a", "one", requests={"cpu": "4"}),
        pod("b"),
        claim("one", [result("gpu-0")]),
        devices("node-1", 1, gpu(0)),
        usage="claims",
    )
    assert found == {("a", "gpu"): GPU * HOUR_S}


def test_a_claim_and_a_request_of_one_pod_add_up_in_one_row() -> None:
    user = claiming("a", "one", requests={"nvidia.com/gpu": "1"})
    with serving([node(), user, claim("one", [result("gpu-0")], [user]), devices("node-1", 1, gpu(0))]) as recorded:
        (row,) = rows(one(recorded, usage=True), "usage")
    assert row["allocated"] == 2 * GPU


@pytest.mark.parametrize("seed", range(5))
def test_a_shared_claim_is_divided_to_the_last_unit_among_those_that_run(seed: int) -> None:
    dice = random.Random(seed)
    spans = [
        (start := dice.randrange(0, 3500), dice.choice([None, dice.randrange(start + 1, 3600)])) for _ in range(11)
    ]
    begin = LAST_HOUR.start_s
    users = [
        claiming(f"p{n}", "shared", start=begin + a, end=None if b is None else begin + b)
        for n, (a, b) in enumerate(spans)
    ]
    busy = sum(any(a <= second < (3600 if b is None else b) for a, b in spans) for second in range(3600))
    exact = [
        sum(
            GPU / sum(c <= second < (3600 if d is None else d) for c, d in spans)
            for second in range(a, 3600 if b is None else b)
        )
        for a, b in spans
    ]
    reserved = [user for user, (_, b) in zip(users, spans, strict=True) if b is None]
    found, _ = held(node(), *users, claim("shared", [result("gpu-0")], reserved), devices("node-1", 1, gpu(0)))
    assert sum(found.values()) == busy * GPU
    for number, share in enumerate(exact):
        assert abs(found.get((f"p{number}", "gpu"), 0) - share) <= 3600


@pytest.mark.parametrize("seed", [11, 12, 13])
def test_a_world_from_a_schedule_comes_out_to_the_second(seed: int) -> None:
    """The schedule is drawn and added up first; objects are made of it, served in pages of seven, and read by the official client."""
    dice = random.Random(seed)
    nodes = {f"n{number}": dice.choice([1, 2, 4]) for number in range(4)}
    truth: Counter[str] = Counter()
    pods = []
    for number in range(150):
        home, gpus, cores = dice.choice(sorted(nodes)), dice.randrange(0, 5), dice.randrange(1, 64)
        start = LAST_HOUR.start_s + dice.randrange(-7200, 3600)
        end = dice.choice([None, start + dice.randrange(0, 5400)])
        end = end if end is None or end <= AT_S else None
        seconds = max(0, (AT_S if end is None else end) - max(start, LAST_HOUR.start_s))
        truth["gpu"] += GPU * gpus // nodes[home] * seconds
        truth["cpu"] += 250 * cores * seconds
        asked = {"cpu": f"{250 * cores}m", "nvidia.com/gpu": str(gpus)}
        pods.append(
            pod(f"p{number}", dice.choice(["vision", "speech"]), node=home, start=start, end=end, requests=asked)
        )
    objects = [
        node(name, labels={"nvidia.com/gpu.replicas": str(parts)} if parts > 1 else None)
        for name, parts in nodes.items()
    ] + pods
    dice.shuffle(objects)
    with serving(objects) as recorded:
        found = one(recorded, usage=True, page=7)
    got: Counter[str] = Counter()
    for row in rows(found, "usage"):
        got[row["meter"]] += row["allocated"] * (min(row["end_s"], AT_S) - max(row["start_s"], LAST_HOUR.start_s))
    assert got == truth
    assert len(rows(found, "workloads")) == 150
