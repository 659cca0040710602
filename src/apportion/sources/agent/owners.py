r"""Whose process is it? A Slurm job, a pod or a container by its cgroup, else the job that the prolog noted or its environment names, else its user.

The cgroup is set by root and counts first. Its outermost name wins: below a pod or a job, and below `user.slice`, people may
make groups of any name. Root's prolog comes next. The environment is the process' own, so it counts only where Slurm confirms that the process' user runs
that job (`slurm_jobs`). A SLUID that Slurm cannot be asked about names the workload itself, and never gives way to the environment.

    /slurm/uid_1000/job_123/step_0/task_0                                     Slurm, cgroup v1
    /system.slice/slurmstepd.scope/job_123/step_0/user/task_0                 Slurm, cgroup v2
    /system.slice/slurmstepd.scope/s5RHM7EXFPX900/step_0/user/task_0          Slurm 26.05, by SLUID
    /kubepods/burstable/pod1f6e...-...-...-.../CONTAINER                      kubelet's cgroupfs driver
    /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f6e..._..._....slice/cri-containerd-CONTAINER.scope
    /docker/CONTAINER   /system.slice/docker-CONTAINER.scope   /machine.slice/libpod-CONTAINER.scope
"""

import re
from dataclasses import dataclass

from apportion.sources.agent.looks import Seen

IDLE, UNMEASURED, UNKNOWN = "_idle", "_unmeasured", "_unknown"
SLURM = re.compile(r"/(?:slurm(?:_[^/]+)?(?:/uid_\d+)?|(?:[^/]+_)?slurmstepd\.scope)/job_(\d+)(?=/|$)", re.ASCII)
SLUID = re.compile(
    r"/(?:[^/]+_)?slurmstepd\.scope/(s[0-9A-HJKMNP-TV-Z]{13})(?=/|$)", re.ASCII
)  # base 32 without I, L, O, U
NO_CLUSTER = "default"  # in the ids of workloads whose cluster nobody names
POD = re.compile(
    r"kubepods(?:[^\s]*?)[/-]pod"
    r"([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?=/|$)",
    re.ASCII,
)
CONTAINER = re.compile(r"/(?:(?:docker|cri-containerd|crio|libpod)[-/])?([0-9a-f]{64})(?:\.scope)?(?=/|$)", re.ASCII)
OWN_GROUPS = "/user.slice/"  # people may name what lies below it
JOB = re.compile(r"\d{1,18}", re.ASCII)
UP = re.compile(r"(?:/\.\.)+(?=/)")  # as an agent in a container sees others: upwards from its own group
BESIDE = re.compile(r"/(?:burstable/|besteffort/)?pod")


@dataclass(frozen=True, slots=True)
class Place:
    """Names that a node cannot read off a process."""

    node: str
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Owner:
    """A workload by its id, with the labels that tie it to what other sources say of it."""

    workload: str
    labels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """What a cgroup says: one of the four."""

    job: str = ""
    sluid: str = ""
    pod: str = ""
    container: str = ""


def group_of(cgroup: str) -> Group:
    """Of the text of /proc/PID/cgroup: a line for each hierarchy (v1), or one (v2)."""
    for line in cgroup.splitlines():
        path = seen_from_host(line.split(":", 2)[-1])
        job, pod = SLURM.search(path) or SLUID.search(path), POD.search(path)
        if path.startswith(OWN_GROUPS) or not path.startswith("/"):
            continue
        if job and (not pod or job.start() < pod.start()):
            return Group(job=job[1]) if job[1].isdecimal() else Group(sluid=job[1])
        container = CONTAINER.search(path, pod.end() if pod else 0)
        if pod or container:
            return Group(pod=uid_of(pod[1]) if pod else "", container=container[1] if container else "")
    return Group()


def seen_from_host(path: str) -> str:
    """What lies above the agent and another pod alike is left out of the path, and that is `kubepods`."""
    above = UP.match(path)
    if not above:
        return path
    rest = path[above.end() :]
    return f"/kubepods{rest}" if BESIDE.match(rest) else rest


def uid_of(text: str) -> str:
    """As the API server spells it; a static pod's has no dashes there either."""
    return text.replace("_", "-")


def owner_of(seen: Seen | None, place: Place) -> Owner:
    if seen is None:
        return own(UNKNOWN, place)
    group = group_of(seen.cgroup)
    job = group.job or (seen.sluid_job if group.sluid and JOB.fullmatch(seen.sluid_job) else "")
    if job or group.sluid:
        return job_owner(job, seen, place, "cgroup") if job else sluid_owner(group.sluid, seen, place)
    if group.pod:
        return pod_owner(group, place)
    if group.container:
        return Owner(
            f"container/{place.node}/{group.container[:12]}",
            labels(by="cgroup", node=place.node, user=seen.user, **{"container.id": group.container}),
        )
    for job, by in ((seen.noted, "prolog"), (seen.job if seen.confirmed else "", "environment")):
        if JOB.fullmatch(job):
            return job_owner(job, seen, place, by)
    return Owner(f"host/{place.node}/{seen.user}", labels(by="user", node=place.node, user=seen.user))


def job_owner(job: str, seen: Seen, place: Place, by: str) -> Owner:
    """The submit time, which an attempt's id ends in, is not to be had on the node: `slurm.job` and the time join the two."""
    cluster = place.cluster or seen.cluster or NO_CLUSTER
    own = {"slurm.job": job, "slurm.cluster": cluster, "slurm.user": seen.user}
    return Owner(f"slurm/{cluster}/{job}", labels(by=by, node=place.node, **own))


def sluid_owner(sluid: str, seen: Seen, place: Place) -> Owner:
    """A job whose number is not known: of that user and of nobody else."""
    cluster = place.cluster or seen.cluster or NO_CLUSTER
    own = {"slurm.sluid": sluid, "slurm.cluster": cluster, "slurm.user": seen.user}
    return Owner(f"slurm/{cluster}/{sluid}", labels(by="cgroup", node=place.node, **own))


def pod_owner(group: Group, place: Place) -> Owner:
    cluster = place.cluster or NO_CLUSTER
    own = {"k8s.cluster": cluster, "k8s.uid": group.pod, "k8s.node": place.node}
    return Owner(f"k8s/{cluster}/{group.pod}", labels(by="cgroup", node=place.node, **own))


def own(name: str, place: Place) -> Owner:
    """What no process stands for: `_idle`, `_unmeasured`, `_unknown`."""
    return Owner(f"host/{place.node}/{name}", labels(by="nobody", node=place.node, **{"agent.state": name}))


def labels(*, by: str, **given: str) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({**given, "agent.by": by}.items()))
