"""The parts of the objects that a plan writes, as Kubernetes (core/v1) and Kueue (v1beta1, v1beta2) define them: no other key, and quantities as text."""

import re
from collections.abc import Mapping
from typing import Any

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
QUANTITY = re.compile(r"[0-9]+(Gi)?")
RESOURCE = re.compile(r"(requests\.)?(cpu|memory|storage|nvidia\.com/gpu)")


def check(found: Mapping[str, Any]) -> None:
    assert set(found) == {"apiVersion", "kind", "metadata", "spec"}
    head = found["metadata"]
    assert set(head) - {"namespace"} == {"name", "labels"}
    assert all(NAME.fullmatch(head[key]) and len(head[key]) <= 63 for key in ("name", "namespace") if key in head)
    assert ("namespace" in head) is (found["kind"] in ("ResourceQuota", "LocalQueue"))
    CHECKS[found["kind"]](found["apiVersion"], found["spec"])


def resource_quota(version: str, spec: Mapping[str, Any]) -> None:
    assert (version, set(spec)) == ("v1", {"hard"})
    for name, value in spec["hard"].items():
        assert name.startswith("requests.")
        assert RESOURCE.fullmatch(name)
        assert QUANTITY.fullmatch(value)


def cluster_queue(version: str, spec: Mapping[str, Any]) -> None:
    """Every covered resource once in every flavour; what is lent is no more than what there is; borrowing needs a cohort."""
    cohort = {"kueue.x-k8s.io/v1beta1": "cohort", "kueue.x-k8s.io/v1beta2": "cohortName"}[version]
    assert set(spec) == {cohort, "namespaceSelector", "resourceGroups"}
    for rule in spec["namespaceSelector"]["matchExpressions"]:
        assert (set(rule), rule["operator"]) == ({"key", "operator", "values"}, "In")
    for group in spec["resourceGroups"]:
        assert set(group) == {"coveredResources", "flavors"}
        for flavour in group["flavors"]:
            assert set(flavour) == {"name", "resources"}
            assert [one["name"] for one in flavour["resources"]] == group["coveredResources"]
            for one in flavour["resources"]:
                assert (
                    {"name", "nominalQuota"} <= set(one) <= {"name", "nominalQuota", "borrowingLimit", "lendingLimit"}
                )
                assert all(QUANTITY.fullmatch(value) for key, value in one.items() if key != "name")
                assert number(one.get("lendingLimit", "0")) <= number(one["nominalQuota"])


def number(text: str) -> int:
    return int(text.removesuffix("Gi"))


def local_queue(version: str, spec: Mapping[str, Any]) -> None:
    assert version.startswith("kueue.x-k8s.io/v1beta")
    assert set(spec) == {"clusterQueue"}


def cohort(version: str, spec: Mapping[str, Any]) -> None:
    assert version.startswith("kueue.x-k8s.io/v1")
    assert set(spec) <= {"parentName", "resourceGroups", "fairSharing"}


CHECKS = {"ResourceQuota": resource_quota, "ClusterQueue": cluster_queue, "LocalQueue": local_queue, "Cohort": cohort}
