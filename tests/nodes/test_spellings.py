"""How each cloud spells a machine, and what is no machine."""

import pytest

from apportion.engine.spellings import address_key, host_key, instance_key, provider_key

SCALE_SET = "/subscriptions/1a-2b/resourceGroups/MC_rg/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-12345678-vmss/virtualMachines/{}"
ALIKE = {  # spellings of one machine by key: in the cluster's words and in the bill's
    "provider": (
        ["gce://p/z/gke-x", "//compute.googleapis.com/projects/p/zones/z/instances/gke-x",
         "https://www.googleapis.com/compute/v1/projects/p/zones/z/instances/gke-x", "projects/p/zones/z/instances/gke-x"],
        ["azure:///subscriptions/S/resourceGroups/R/providers/Microsoft.Compute/virtualMachines/aks-x",
         "/subscriptions/s/resourcegroups/r/providers/microsoft.compute/virtualmachines/aks-x"],
        ["azure://" + SCALE_SET.format(3), SCALE_SET.format(3).lower()],
        ["oci://ocid1.instance.oc1.iad.abc", "ocid1.instance.oc1.iad.abc"],
        ["openstack:///3f2a", "openstack:///3F2A"],
    ),
    "instance": (
        ["aws:///eu-central-1a/i-0abc", "arn:aws:ec2:eu-central-1:123456789012:instance/i-0abc",
         "arn:aws-us-gov:ec2:us-gov-west-1:1:instance/i-0abc", "i-0abc", "I-0ABC"],
        ["gce://p/z/gke-x", "projects/p/instances/gke-x", "//compute.googleapis.com/projects/77/zones/z/instances/gke-x", "gke-x"],
        ["5021234567890123456", "//compute.googleapis.com/projects/p/zones/z/instances/5021234567890123456"],
        ["azure://" + SCALE_SET.format(3), SCALE_SET.format(3).lower()],
        ["hcloud://12345678", "12345678"],
    ),
    "address": (["10.0.1.5", "ip-10-0-1-5.eu-central-1.compute.internal", "ip-10-0-1-5", "IP-10-0-1-5.ec2.internal"], ["2001:db8::5", "2001:0DB8::0005"]),
    "host": (
        ["h100-1", "H100-1.cluster.local", "//compute.googleapis.com/projects/p/zones/z/instances/h100-1"],
        ["aks-gpu-12345678-vmss00000z", SCALE_SET.format(35)],
        ["i-0abc.eu-central-1.compute.internal", "arn:aws:ec2:eu-central-1:1:instance/i-0abc"],
    ),
}  # fmt: skip
KEYS = {"provider": provider_key, "instance": instance_key, "address": address_key, "host": host_key}
NOTHING = {  # no key of the kind
    "provider": ["i-0abc", "arn:aws:ec2:r:1:instance/i-0abc", "projects/p/instances/n", "", "https://example.org/instances/a"],
    "instance": ["3", "arn:aws:ec2:r:1:volume/vol-0abc", "arn:aws:ec2:r:1:network-interface/eni-1", "storage/x", "",
                 "//compute.googleapis.com/projects/p/zones/z/disks/gke-x"],
    "address": ["127.0.0.1", "0.0.0.0", "169.254.169.254", "10.0.1", "ip-10-0-1.x", "ip-300-0-0-1", "h100-1", ""],
    "host": ["10.0.1.5", "ip-10-0-1-5.ec2.internal", "localhost", "3", "storage/x", "", "ocid1.instance.oc1.iad.abc"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "spelled"), [(kind, one) for kind, groups in ALIKE.items() for one in groups])
def test_spellings_of_one_machine_have_one_key(kind: str, spelled: list[str]) -> None:
    keys = {KEYS[kind](text) for text in spelled}
    assert len(keys) == 1
    assert "" not in keys


@pytest.mark.parametrize("kind", KEYS)
def test_different_machines_have_different_keys(kind: str) -> None:
    firsts = [KEYS[kind](group[0]) for group in ALIKE[kind]]
    assert len(set(firsts)) == len(firsts)


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in NOTHING.items() for text in texts])
def test_what_is_no_machine_has_no_key(kind: str, text: str) -> None:
    assert KEYS[kind](text) == ""
