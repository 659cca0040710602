"""Every vendor's accelerators: how schedulers spell them, and what one is of a device."""

from fractions import Fraction

import pytest

from apportion.errors import InputError
from apportion.model.accelerators import CORE, CORES, DEVICES, EXPORTERS, accelerator_of, resource_key, spelled
from apportion.model.gpus import Board
from apportion.model.meters import GPU, METERS


@pytest.mark.parametrize(
    ("resource", "meter", "share"),
    [
        ("nvidia.com/gpu", "gpu", "1"),
        ("nvidia_com_gpu", "gpu", "1"),
        ("nvidia.com/mig-3g.40gb", "gpu", "3/7"),
        ("nvidia_com_mig_3g_40gb", "gpu", "3/7"),
        ("nvidia_com_mig_1g_10gb_me", "gpu", "1/7"),
        ("amd.com/gpu", "gpu", "1"),
        ("amd_com_cpx_nps4", "gpu", "1/8"),
        ("gpu.intel.com/i915", "gpu", "1"),
        ("google.com/tpu", "tpu", "1"),
        ("google_com_tpu", "tpu", "1"),
        ("aws.amazon.com/neuron", "neuron", "1"),
        ("habana_ai_gaudi", "gaudi", "1"),
        ("huawei.com/Ascend910", "accelerator", "1"),
    ],
)
def test_one_of_a_resource_is_so_much_of_a_device(resource: str, meter: str, share: str) -> None:
    assert accelerator_of(resource) == (meter, Fraction(share))


def test_what_is_no_accelerator_is_none() -> None:
    for name in ("cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "rdma/hca", "nvidia.com/gpumem"):
        assert accelerator_of(name) is None


def test_shared_replicas_need_the_board() -> None:
    assert accelerator_of("nvidia_com_gpu_shared", Board(replicas=4)) == ("gpu", Fraction(1, 4))
    with pytest.raises(InputError) as refused:
        accelerator_of("nvidia.com/gpu.shared")
    assert refused.value.code == "unknown-share"


def test_a_neuron_core_is_a_part_by_the_instance_type() -> None:
    for machine, cores in CORES.items():
        assert accelerator_of(CORE, machine=f"{machine}.48xlarge") == ("neuron", Fraction(1, cores))
    with pytest.raises(InputError) as refused:
        accelerator_of(CORE, machine="m5.large")
    assert refused.value.code == "unknown-share"


def test_every_part_is_a_whole_number_of_base_units_of_its_meter() -> None:
    for key, meter in DEVICES.items():
        assert METERS[meter].base == GPU
        assert resource_key(spelled(key)) == key
    for cores in CORES.values():
        assert GPU % cores == 0


def test_every_exporter_counts_a_known_meter_and_names_no_metric_twice() -> None:
    names = [name for one in EXPORTERS for table in (one.used, one.energy, one.power) for name in table]
    assert len(names) == len(set(names))
    assert {one.meter for one in EXPORTERS} == {"gpu", "tpu", "neuron", "gaudi"}
    assert {one.meter for one in EXPORTERS} <= set(METERS)
