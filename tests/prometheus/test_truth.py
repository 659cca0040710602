"""What is read from a real Prometheus against the schedule that its samples were made from."""

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import Interval
from apportion.sources.live import Progress
from apportion.sources.prometheus import read
from tests.prometheus.world import Pod, World


def settings(url: str, cluster: str, **more: Any) -> dict[str, Any]:
    return {"name": "k8s", "kind": "prometheus", "url": url, "cluster": "c", "match": f'cluster="{cluster}"', **more}


def delivery(url: str, world: World, window: Interval | None = None, **more: Any) -> Delivery:
    whole = Interval(world.start, world.end)
    (found,) = (
        one
        for one in read(settings(url, more.pop("cluster", world.cluster), **more), Path(), window or whole)
        if isinstance(one, Delivery)
    )
    return found


@pytest.fixture(scope="module")
def found(url: str, world: World) -> Delivery:
    return delivery(url, world)


def rows(found: Delivery, meter: str) -> dict[str, list[dict[str, Any]]]:
    """The usage of a meter by uid."""
    mine: dict[str, list[dict[str, Any]]] = {}
    for row in found.tables["usage"].to_pylist():
        if row["meter"] == meter:
            mine.setdefault(row["workload"].rpartition("/")[2], []).append(row)
    return mine


def unit_seconds(found: list[dict[str, Any]], column: str = "allocated") -> int:
    return sum(row[column] * (row["end_s"] - row["start_s"]) for row in found)


def ran(world: World) -> list[Pod]:
    return [pod for pod in world.pods if pod.run_s]


def test_run_seconds_and_gpus_are_exact(found: Delivery, world: World, record_property: Any) -> None:
    cpu, gpu = rows(found, "cpu"), rows(found, "gpu")
    truth = {pod.uid: (pod.run_s, int(pod.run_s * pod.gpus * GPU)) for pod in ran(world)}
    assert {
        uid: (sum(row["end_s"] - row["start_s"] for row in cpu[uid]), unit_seconds(gpu.get(uid, []))) for uid in cpu
    } == truth
    record_property(f"pods of seed {world.seed}, run seconds exact", len(truth))


def test_requests_are_those_of_the_schedule(found: Delivery, world: World) -> None:
    cpu, memory = rows(found, "cpu"), rows(found, "memory")
    for pod in ran(world):
        assert {row["allocated"] for row in cpu[pod.uid]} == {1000 * (pod.pod_cores or pod.cores)}
        assert {row["allocated"] for row in memory[pod.uid]} == {pod.memory}
        assert {row["resource"] for row in cpu[pod.uid]} == {pod.node}


def test_what_was_used(found: Delivery, world: World) -> None:
    cpu, memory, gpu = rows(found, "cpu"), rows(found, "memory"), rows(found, "gpu")
    for pod in ran(world):
        used = sum((row["used"] or 0) * (row["end_s"] - row["start_s"]) for row in cpu[pod.uid])
        lost = pod.millicores_used * world.step if crosses_late(pod, world) else 0
        assert abs(used - world.core_ms(pod)) <= pod.run_s + lost, pod
        assert {row["used"] for row in memory[pod.uid]} <= {pod.memory_used, None}
        assert {row["used"] for row in gpu.get(pod.uid, [])} <= {int(pod.gpus * GPU / 4), None}


def crosses_late(pod: Pod, world: World) -> bool:
    """Its last scrape by one exporter falls into an hour in which the other saw it no longer."""
    last = world.last_tick("cadvisor", pod)
    return last // 3600 > (world.last_tick("ksm", pod) + world.step - 1) // 3600


def test_traffic_is_exact(found: Delivery, world: World) -> None:
    moved = rows(found, "network")
    truth = {pod.uid: total for pod in ran(world) if (total := world.moved_bytes(pod))}
    assert {uid: sum(row["allocated"] for row in mine) for uid, mine in moved.items()} == truth


def test_boards_energy_is_shared_once(found: Delivery, world: World) -> None:
    joules = rows(found, "energy")
    for uid, truth in world.energy().items():
        mine = joules.get(uid, [])
        assert abs(sum(row["allocated"] for row in mine) - truth / 1000) <= Fraction(len(mine) + 1, 2), uid


def test_capacity_and_its_states(found: Delivery, world: World) -> None:
    seconds: Counter[tuple[str, str, str, int]] = Counter()
    for row in found.tables["capacity"].to_pylist():
        seconds[row["resource"], row["meter"], row["state"], row["amount"]] += row["end_s"] - row["start_s"]
    first = world.ticks("ksm", world.start, world.end)[0]
    for node in world.nodes:
        down = node.down[1] - node.down[0]
        drained = node.cordoned[1] - node.cordoned[0]
        truth = {"up": world.end - first - down - drained, "down": down, "drained": drained}
        assert {state: seconds[node.name, "cpu", state, 128_000] for state in truth} == truth
        if node.gpus:
            assert seconds[node.name, "gpu", "up", node.gpus * GPU] == world.end - first


def test_volumes(found: Delivery, world: World) -> None:
    stored = rows(found, "storage")
    for namespace, claim, size, start, end in world.volumes:
        assert unit_seconds(stored[claim]) == size * (end - start)
        assert {row["resource"] for row in stored[claim]} == {f"storage/{namespace}/{claim}"}
        assert {row["used"] for row in stored[claim]} <= {size // 4, None}


def test_labels_runs_and_outcomes(found: Delivery, world: World) -> None:
    workloads = {row["workload"]: row for row in found.tables["workloads"].to_pylist()}
    assert "k8s/c/uid-too-big" not in workloads, "a pod that never ran is none"
    for pod in ran(world):
        row = workloads[f"k8s/c/{pod.uid}"]
        labels = dict(row["labels"])
        assert labels["k8s.pod"] == pod.name
        if "jobset_sigs_k8s_io_jobset_name" in dict(pod.labels):
            name = dict(pod.labels)["jobset_sigs_k8s_io_jobset_name"]
            assert labels["k8s.label.jobset.sigs.k8s.io/jobset-name"] == labels["ml.run"] == name
            assert row["run"] == f"k8s/c/{pod.namespace}/JobSet/{name}"
            assert labels["k8s.namespace_label.department"] == f"d-{pod.namespace[-1]}"
        if pod.lingers:
            assert row["outcome"] == {"Succeeded": "completed", "Failed": "failed"}[pod.phase_after]


def test_the_outage_is_listed_as_estimated(found: Delivery, world: World) -> None:
    through = {
        f"{pod.namespace}/{pod.name}" for pod in ran(world) if pod.start < world.gap[0] and pod.end > world.gap[1]
    }
    listed = [problem for problem in found.problems if problem.where.startswith("kube_pod_status_phase")]
    assert {problem.code for problem in found.problems} == {"estimated"}
    assert len(listed) == 1
    assert all(name in listed[0].message for name in sorted(through)[:5])


def test_hours_read_alone_say_what_the_whole_says(url: str, world: World, found: Delivery) -> None:
    whole = sorted(map(tuple, (row.values() for row in found.tables["usage"].to_pylist())), key=str)
    hours = [world.gap[0] // 3600 * 3600, world.moved // 3600 * 3600, world.start + 23 * 3600]
    for hour in hours:
        alone = delivery(url, world, Interval(hour, hour + 3600)).tables["usage"].to_pylist()
        mine = [row for row in whole if hour <= row[4] < hour + 3600]
        assert sorted(map(tuple, (row.values() for row in alone)), key=str) == mine


def test_days_add_up_to_the_whole(url: str, world: World, found: Delivery) -> None:
    middle = world.start + 86_400
    parts = [delivery(url, world, span) for span in (Interval(world.start, middle), Interval(middle, world.end))]
    together = [row for part in parts for row in part.tables["usage"].to_pylist()]
    assert sorted(map(str, together)) == sorted(map(str, found.tables["usage"].to_pylist()))


@pytest.mark.parametrize("style", ["exported", "old"])
def test_renamed_labels_are_found_by_themselves(url: str, style: str) -> None:
    from tests.prometheus.conftest import SEEDS
    from tests.prometheus.world import make_world

    world = make_world(SEEDS[0])
    plain, other = delivery(url, world), delivery(url, world, cluster=style)
    assert other.tables["usage"].equals(plain.tables["usage"])
    assert other.tables["capacity"].equals(plain.tables["capacity"])


def test_progress_is_told(url: str, world: World) -> None:
    told = [
        one
        for one in read(settings(url, world.cluster), Path(), Interval(world.start, world.end))
        if isinstance(one, Progress)
    ]
    assert [one.done for one in told] == sorted(one.done for one in told)
    assert told[-1].done <= told[-1].total
