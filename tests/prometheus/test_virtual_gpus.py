"""The two ways in which dcgm-exporter says what pods on virtual GPUs used, each as that version writes it."""

import json
from pathlib import Path

import pytest

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import Interval
from apportion.sources.prometheus import read
from tests.prometheus.test_cases import DCGM, HOUR, POD, T0, Line, amounts, deliver, pod, row, save, ticks

SLICED: Line = (
    "kube_node_labels",
    {"node": "n0", "label_nvidia_com_gpu_sharing_strategy": "time-slicing", "label_nvidia_com_gpu_replicas": "4"},
    1,
)
NOTEBOOK = {**POD, "pod": "nb-1", "uid": "uid-1"}
COPIES: list[
    Line
] = [  # dcgm-exporter 4.4.1-4.5.2 with KUBERNETES_VIRTUAL_GPUS: the board's value on the row of each pod, and no row of the board
    ("DCGM_FI_DEV_GPU_UTIL", row(container="main", vgpu="0"), 80),
    ("DCGM_FI_DEV_GPU_UTIL", row(NOTEBOOK, container="main", vgpu="1"), 80),
]
SHARES: list[Line] = [  # 4.5.3-4.8.2 with the same setting: each pod's own, with its uid, beside the board's
    ("DCGM_FI_DEV_GPU_UTIL", DCGM, 80),
    ("DCGM_FI_DEV_GPU_UTIL", row(container="main", vgpu="0", pod_uid="uid-0"), 60),
    ("DCGM_FI_DEV_GPU_UTIL", row(NOTEBOOK, container="main", vgpu="1", pod_uid="uid-1"), 20),
]
ENGINE: list[Line] = [  # both versions copy this one
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", row(container="main", vgpu="0"), 0.9),
    ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", row(NOTEBOOK, container="main", vgpu="1"), 0.9),
]


@pytest.mark.parametrize(
    ("lines", "used"),
    [
        (COPIES, {"uid-0": {GPU // 4 * 80 // 100}, "uid-1": {GPU // 4 * 80 // 100}}),
        (SHARES, {"uid-0": {GPU * 60 // 100}, "uid-1": {GPU * 20 // 100}}),
        ([*COPIES, *ENGINE], {"uid-0": {GPU // 4 * 90 // 100}, "uid-1": {GPU // 4 * 90 // 100}}),
        ([*SHARES, *ENGINE], {"uid-0": {GPU * 60 // 100}, "uid-1": {GPU * 20 // 100}}),
    ],
    ids=["copies of the board's", "the pods' own", "copies, and engines", "the pods' own before copies of engines"],
)
def test_use_of_virtual_gpus_is_the_boards_or_the_pods_own(
    tmp_path: Path, lines: list[Line], used: dict[str, set[int]]
) -> None:
    """A row of the board alone, which comes with the pods', tells that theirs are shares of it: those are not cut down to what the pods hold once more."""
    pods = [*pod(nvidia_com_gpu=1), *pod(NOTEBOOK, nvidia_com_gpu=1), SLICED]
    found = deliver(tmp_path, [*pods, *lines])
    assert amounts(found, "gpu") == {"uid-0": {GPU // 4}, "uid-1": {GPU // 4}}
    assert amounts(found, "gpu", "used") == used


def test_a_pod_with_several_replicas_of_a_board_has_one_share_of_it(tmp_path: Path) -> None:
    twice: list[Line] = [*SHARES[:2], (SHARES[1][0], {**SHARES[1][1], "vgpu": "2"}, 60)]
    found = deliver(tmp_path, [*pod(nvidia_com_gpu=2), SLICED, *twice])
    assert amounts(found, "gpu", "used") == {"uid-0": {GPU * 60 // 100}}


def test_an_exporter_that_is_replaced_within_the_hour(tmp_path: Path) -> None:
    """Each sample by what came with it: half an hour of copies, half an hour of shares."""
    half = T0 + HOUR // 2
    save(tmp_path, [*pod(nvidia_com_gpu=1), *pod(NOTEBOOK, nvidia_com_gpu=1), SLICED])
    whole = json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))
    for lines, at in ((COPIES, ticks(T0, half)), (SHARES, ticks(half))):
        save(tmp_path, lines, at)
        whole["data"]["result"] += json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["data"]["result"]
    (tmp_path / "answer.json").write_text(json.dumps(whole), encoding="utf-8")
    stanza = {"name": "k8s", "kind": "prometheus", "path": "answer.json", "cluster": "c"}
    (found,) = (one for one in read(stanza, tmp_path, Interval(T0, T0 + HOUR)) if isinstance(one, Delivery))
    assert amounts(found, "gpu", "used") == {"uid-0": {GPU * 60 // 100}, "uid-1": {GPU * 20 // 100}}, (
        "what is measured of the pod itself counts"
    )
