"""Who a group of tags is: a pod, a job or a machine, with labels by which the policy finds its owner."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from apportion.sources.datadog.answers import Tags

LABELS = MappingProxyType({
    "kube_cluster_name": "k8s.cluster", "kube_namespace": "k8s.namespace", "pod_name": "k8s.pod", "pod_uid": "k8s.uid",
    "kube_ownerref_kind": "k8s.owner_kind", "kube_ownerref_name": "k8s.owner", "kube_node": "k8s.node",
    "slurm_cluster_name": "slurm.cluster", "slurm_job_id": "slurm.job", "slurm_job_name": "slurm.job_name", "slurm_user": "slurm.user",
    "slurm_user_name": "slurm.user", "slurm_account": "slurm.account", "slurm_account_name": "slurm.account",
    "slurm_partition": "slurm.partition", "slurm_partition_name": "slurm.partition", "slurm_qos": "slurm.qos",
    "gpu_device": "gpu.model", "gpu_type": "gpu.model",
})  # fmt: skip
CLUSTERS = ("kube_cluster_name", "slurm_cluster_name")


@dataclass(frozen=True, slots=True)
class Group:
    """`kind` is k8s or slurm; empty for what belongs to no pod or job, such as an idle board."""

    kind: str
    workload: str
    name: str
    resource: str
    labels: tuple[tuple[str, str], ...]
    cluster: str | None = None  # None: neither the tags nor the stanza tell it


def group_of(tags: Tags, cluster: str) -> Group:
    """Pods without a uid are named by namespace; jobs by their id, since Datadog does not tell when they were submitted."""
    given = dict(tags)
    labels = {LABELS.get(tag, f"datadog.{tag}"): value for tag, value in tags if tag != "host"}
    pods, jobs = {"pod_name", "pod_uid"} & set(given), "slurm_job_id" in given
    kind = "slurm" if jobs else "k8s" if pods else ""
    if kind:
        labels.setdefault(f"{kind}.cluster", cluster or kind)
    if kind == "k8s" and "host" in given:  # a job may be on many
        labels.setdefault("k8s.node", given["host"])
    resource = given.get("host", given.get("kube_node", ""))
    told = next((given[tag] for tag in CLUSTERS if given.get(tag)), cluster) or None
    return Group(kind, workload_id(given, labels, kind), named(given), resource, tuple(sorted(labels.items())), told)


def workload_id(given: Mapping[str, str], labels: Mapping[str, str], kind: str) -> str:
    if kind == "slurm":
        return f"slurm/{labels['slurm.cluster']}/{given['slurm_job_id']}"
    if kind == "k8s":
        within = given.get("pod_uid") or f"{given.get('kube_namespace', '')}/{given.get('pod_name', '')}"
        return f"k8s/{labels['k8s.cluster']}/{within}"
    return "datadog/" + ",".join(f"{tag}:{value}" for tag, value in sorted(given.items()))


def named(given: Mapping[str, str]) -> str:
    return given.get("pod_name") or given.get("slurm_job_name") or given.get("slurm_job_id") or given.get("host") or ""
