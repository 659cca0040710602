"""Their hours as usage: unit-seconds equal to those of a schedule that was drawn before anything was read."""

import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from apportion.model.meters import GPU
from apportion.model.times import DAY_S
from tests.opencost import answers as a

SEEDS = range(5)


def schedule(seed: int) -> list[a.Container]:
    """Pods of one to three containers, of any seconds, on four nodes."""
    dice = random.Random(seed)
    found = []
    for number in range(40):
        node, pod_start = f"node-{dice.randrange(4)}", dice.randrange(DAY_S - 600)
        for name in ("main", "sidecar", "logger")[: dice.randint(1, 3)]:
            start = min(pod_start + dice.randrange(300), DAY_S - 60)
            found.append(
                a.Container(
                    f"train-{number}", name, node, start=start, end=dice.randint(start + 60, DAY_S),
                    cores=Decimal(dice.choice([1, 250, 4000, 16000])) / 1000, ram=dice.randrange(1, 200) * 2**20,
                    gpus=Decimal(dice.choice([0, 1, 2]) if name == "main" else 0),
                )
            )  # fmt: skip
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_hours_are_those_of_the_schedule_to_the_unit_second(seed: int, tmp_path: Path) -> None:
    pods = schedule(seed)
    truth: Counter[tuple[str, str]] = Counter()
    for pod in pods:
        seconds = pod.end - pod.start
        truth[f"k8s/c1/vision/{pod.pod}", "cpu"] += int(pod.cores * 1000) * seconds
        truth[f"k8s/c1/vision/{pod.pod}", "memory"] += pod.ram * seconds
        truth[f"k8s/c1/vision/{pod.pod}", "gpu"] += int(pod.gpus) * GPU * seconds
    (found,) = a.saved(tmp_path, a.allocations(pods))
    read: Counter[tuple[str, str]] = Counter()
    for row in found.tables["usage"].to_pylist():
        read[row["workload"], row["meter"]] += row["allocated"] * (row["end_s"] - row["start_s"])
    assert read == +truth


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_one_pod_and_meter_never_overlap(seed: int, tmp_path: Path) -> None:
    """Else two rows that the books tell apart by their start would be quarantined or counted twice."""
    (found,) = a.saved(tmp_path, a.allocations(schedule(seed)))
    rows = sorted(
        (row["workload"], row["meter"], row["start_s"], row["end_s"]) for row in found.tables["usage"].to_pylist()
    )
    for one, other in pairwise(rows):
        assert one[:2] != other[:2] or one[3] <= other[2]


@pytest.mark.parametrize("thousandths", ["0.4", "1.7", "333.333"])
def test_cores_finer_than_a_base_unit_keep_their_hours(thousandths: str, tmp_path: Path) -> None:
    """A sidecar's average use is no whole number of millicores; rounded, the smallest would be free."""
    cores = Decimal(thousandths) / 1000
    pod = a.Container(cores=cores, gpus=Decimal(0), more={"cpuCoreRequestAverage": 0})
    (found,) = a.saved(tmp_path, a.allocations([pod]))
    said = Fraction(Decimal(str(pod.row(a.PRICES)["cpuCoreHours"]))) * 3600 * 1000
    assert abs(a.unit_seconds(found, "cpu") - said) <= Fraction(1, 2)
    assert len(found.tables["usage"].to_pylist()) <= 3


def test_ten_minutes_of_a_gpu_are_one_gpu(tmp_path: Path) -> None:
    """0.16667 GPU-hours over ten minutes are 1.00002 GPUs by the digits."""
    for name, more in (("told", {}), ("untold", {"gpuAllocation": None})):
        (found,) = a.saved(tmp_path / name, a.allocations([a.Container(end=600, more=more)]))
        assert a.unit_seconds(found, "gpu") == GPU * 600
