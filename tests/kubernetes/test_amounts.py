"""Quantities and the request rule, against the client's own parser and an independent computation."""

from decimal import localcontext
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from apportion.errors import InputError
from apportion.model.gpus import Board
from apportion.sources.kubernetes.boards import metered
from apportion.sources.kubernetes.quantities import base_units, quantity
from apportion.sources.kubernetes.requests import pod_requests

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
numbers = st.one_of(st.integers(0, 10**12).map(str), st.decimals(0, 10**6, places=3).map(lambda found: f"{found:f}"))


@given(numbers, st.sampled_from(SUFFIXES))
def test_a_quantity_is_what_the_official_client_reads(number: str, suffix: str) -> None:
    theirs: Any = parse_quantity  # it has no types
    with localcontext(prec=100):  # beyond 28 digits it would round
        assert quantity(number + suffix) == Fraction(theirs(number + suffix))


@pytest.mark.parametrize(
    ("text", "number"),
    [("100m", Fraction(1, 10)), ("1Gi", 2**30), ("2k", 2000), ("1e3", 1000), ("1E3", 1000), ("1E", 10**18), ("1.5e-3", Fraction(3, 2000)),
     (".5", Fraction(1, 2)), (4, 4)],
)  # fmt: skip
def test_a_quantity_reads(text: object, number: Fraction) -> None:
    assert quantity(text) == number


@pytest.mark.parametrize(
    "text", ["", "1 Gi", "1gi", "K", "1e", "1e999", "0x10", "NaN", "1,5", "٣", None, True, 1.5, "9" * 65, "-1"]
)
def test_what_is_no_quantity_is_refused(text: object) -> None:
    with pytest.raises(InputError):
        quantity(text)


def test_what_is_finer_than_a_base_unit_counts_as_one() -> None:
    assert base_units("cpu", quantity("100n")) == 1
    assert base_units("cpu", quantity("1500m")) == 1500
    assert base_units("memory", quantity("1Gi") / 2**30) == 2**30


amounts = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), st.integers(0, 16), max_size=3)
plain = amounts.map(lambda found: {"resources": {"requests": {key: str(value) for key, value in found.items()}}})
sidecar = plain.map(lambda found: {**found, "restartPolicy": "Always"})


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "containers": draw(st.lists(plain, min_size=1, max_size=3)),
        "initContainers": draw(st.lists(st.one_of(plain, sidecar), max_size=4)),
        "overhead": {key: str(value) for key, value in draw(amounts).items()},
    }
    if draw(st.booleans()):
        spec["resources"] = draw(plain)["resources"]
    return spec


def moments_of(spec: dict[str, Any], name: str) -> int:
    """Plays the pod's start: what runs at each step is counted; the pod needs the most that ever runs at once."""

    def of(container: dict[str, Any]) -> int:
        return int(container["resources"]["requests"].get(name, 0))

    running: list[dict[str, Any]] = []
    most = 0
    for container in spec["initContainers"]:
        most = max(most, sum(map(of, [*running, container])))
        if container.get("restartPolicy") == "Always":
            running.append(container)
    most = max(most, sum(map(of, [*running, *spec["containers"]])))
    whole = spec.get("resources", {}).get("requests", {}).get(name)
    if whole is not None and name in ("cpu", "memory"):
        most = int(whole)
    return most + int(spec["overhead"].get(name, 0))


@given(specs())
def test_a_pod_asks_for_the_most_that_ever_runs_at_once(spec: dict[str, Any]) -> None:
    found = pod_requests(spec)
    for name in ("cpu", "memory", "nvidia.com/gpu"):
        assert found.get(name, 0) == moments_of(spec, name)


def test_a_limit_without_a_request_is_one() -> None:
    spec = {
        "containers": [
            {"name": "a", "resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "4"}, "requests": {"cpu": "1"}}}
        ]
    }
    assert pod_requests(spec) == {"nvidia.com/gpu": 2, "cpu": 1}


SHARED = {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"}
PARTS: list[tuple[dict[str, str], dict[str, str], Fraction | int]] = [
    ({"nvidia.com/gpu": "2"}, {}, 2),
    ({"nvidia.com/gpu": "2"}, SHARED, Fraction(1, 2)),
    ({"nvidia.com/gpu.shared": "1"}, SHARED, Fraction(1, 4)),
    ({"nvidia.com/mig-3g.40gb": "1"}, {"nvidia.com/mig.strategy": "mixed"}, Fraction(3, 7)),
    ({"nvidia.com/mig-1g.10gb": "2"}, {"nvidia.com/mig-1g.10gb.replicas": "2"}, Fraction(1, 7)),
    ({"nvidia.com/gpu": "1"}, {"nvidia.com/mig.strategy": "single", "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"}, Fraction(1, 7)),
    ({"nvidia.com/gpu": "1"}, {"cloud.google.com/gke-gpu-partition-size": "2g.10gb"}, Fraction(2, 7)),
    ({"nvidia.com/gpu": "1"}, {"cloud.google.com/gke-max-shared-clients-per-gpu": "8"}, Fraction(1, 8)),
    ({"nvidia.com/gpu": "1", "nvidia.com/gpucores": "30", "nvidia.com/gpumem": "40960"}, {"nvidia.com/gpu.memory": "81920"}, Fraction(1, 2)),
    ({"amd.com/gpu": "4"}, {}, 4),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "labels", "boards"), PARTS)
def test_a_gpu_is_the_part_of_a_board_that_the_node_says(
    asked: dict[str, str], labels: dict[str, str], boards: Fraction | int
) -> None:
    assert metered({key: quantity(value) for key, value in asked.items()}, labels, Board()) == {"gpu": boards}


def test_a_part_whose_size_nobody_said_is_refused() -> None:
    with pytest.raises(InputError, match="replicas"):
        metered({"nvidia.com/gpu.shared": Fraction(1)}, {}, Board())


def test_what_could_not_be_counted_is_refused() -> None:
    with pytest.raises(InputError) as told:
        metered({"memory": quantity("9999999999Ei")}, {}, Board())
    assert told.value.code == "too-many-digits"
