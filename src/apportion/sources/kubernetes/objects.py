"""Which objects are read, where the API has them, and one moment of a cluster as the objects that were found."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from apportion.errors import Problem

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """`versions` are those whose form is understood, the best first. Owners are read for their names, labels and owners only."""

    name: str
    group: str
    plural: str
    versions: tuple[str, ...] = ("v1",)
    is_owner: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.group, self.name

    def path(self, version: str) -> str:
        return f"/apis/{self.group}/{version}/{self.plural}" if self.group else f"/api/{version}/{self.plural}"

    def __str__(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural


def owners(group: str, version: str, *names: str) -> tuple[Kind, ...]:
    return tuple(Kind(name, group, f"{name.lower()}s", (version,), is_owner=True) for name in names)


KUEUE, DRA = "kueue.x-k8s.io", "resource.k8s.io"
KUEUE_VERSIONS = ("v1beta2", "v1beta1")
DRA_VERSIONS = ("v1", "v1beta2", "v1beta1")
POD, NAMESPACE, NODE = Kind("Pod", "", "pods"), Kind("Namespace", "", "namespaces"), Kind("Node", "", "nodes")
QUOTA = Kind("ResourceQuota", "", "resourcequotas")
CLAIM = Kind("ResourceClaim", DRA, "resourceclaims", DRA_VERSIONS)
SLICE = Kind("ResourceSlice", DRA, "resourceslices", DRA_VERSIONS)
CLUSTER_QUEUE = Kind("ClusterQueue", KUEUE, "clusterqueues", KUEUE_VERSIONS)
LOCAL_QUEUE = Kind("LocalQueue", KUEUE, "localqueues", KUEUE_VERSIONS)
FLAVOUR = Kind("ResourceFlavor", KUEUE, "resourceflavors", KUEUE_VERSIONS)
COHORT = Kind("Cohort", KUEUE, "cohorts", (*KUEUE_VERSIONS, "v1alpha1"))
WORKLOAD = Kind("Workload", KUEUE, "workloads", KUEUE_VERSIONS)
OWNERS = (
    *owners("batch", "v1", "Job", "CronJob"),
    *owners("apps", "v1", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet"),
    *owners("jobset.x-k8s.io", "v1alpha2", "JobSet"),
    *owners("trainer.kubeflow.org", "v1alpha1", "TrainJob"),
    *owners("kubeflow.org", "v1", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "Notebook"),
    Kind("MPIJob", "kubeflow.org", "mpijobs", ("v2beta1", "v1"), is_owner=True),
    *owners("ray.io", "v1", "RayCluster", "RayJob", "RayService"),
    *owners("argoproj.io", "v1alpha1", "Workflow", "CronWorkflow"),
    *owners("batch.volcano.sh", "v1alpha1", "Job"),
    *owners("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet"),
    *owners("workload.codeflare.dev", "v1beta2", "AppWrapper"),
    *owners("sparkoperator.k8s.io", "v1beta2", "SparkApplication"),
)
KINDS = (
    POD, NAMESPACE, NODE, QUOTA, CLAIM, SLICE, CLUSTER_QUEUE, LOCAL_QUEUE, FLAVOUR, COHORT, WORKLOAD, *OWNERS,
)  # fmt: skip
BY_KEY = {kind.key: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Moment:
    """What there was at one moment. `problems` name what could not be looked at."""

    at_s: int
    found: Mapping[tuple[str, str], list[Object]]
    problems: tuple[Problem, ...] = ()
    by_name: dict[tuple[str, str], dict[tuple[str, str], Object]] = field(default_factory=dict)

    def all(self, kind: Kind) -> list[Object]:
        return self.found.get(kind.key, [])

    def named(self, kind: Kind, name: str, namespace: str = "") -> Object | None:
        if kind.key not in self.by_name:
            self.by_name[kind.key] = {
                (meta(each, "namespace") or "", meta(each, "name") or ""): each for each in self.all(kind)
            }
        return self.by_name[kind.key].get((namespace, name))


def get(found: object, *path: str) -> Any:
    """What lies at a path of names, None where something on the way is not there."""
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def listed(found: object, *path: str) -> list[Any]:
    value = get(found, *path)
    return value if isinstance(value, list) else []


def table(found: object, *path: str) -> Mapping[str, Any]:
    value = get(found, *path)
    return value if isinstance(value, Mapping) else {}


def meta(found: Object, name: str) -> Any:
    return get(found, "metadata", name)


def labels_of(found: Object | None) -> Mapping[str, str]:
    return table(found, "metadata", "labels")


def group_of(found: Object) -> str:
    """The API group of an object or of a reference to one."""
    group, slash, _ = str(found.get("apiVersion") or "").partition("/")
    return group if slash else ""


CONTAINER = ("name", "resources", "restartPolicy", "image", "command", "args")


def slim(found: Object) -> Object:
    """Without what is long and never read: a large cluster fits in memory."""
    head = {name: value for name, value in table(found, "metadata").items() if name != "managedFields"}
    spec = {name: value for name, value in table(found, "spec").items() if name not in ("volumes", "template")}
    for containers in ("containers", "initContainers"):
        if containers in spec:
            spec[containers] = [
                {name: each[name] for name in CONTAINER if name in each} for each in listed(spec, containers)
            ]
    return {**found, "metadata": head, "spec": spec}


def references(found: Object) -> Iterator[Object]:
    """Owners, the one that controls the object first."""
    told = [each for each in listed(found, "metadata", "ownerReferences") if isinstance(each, Mapping)]
    yield from sorted(told, key=lambda each: not each.get("controller"))
