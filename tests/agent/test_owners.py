"""Whose process it is, by every spelling of a cgroup that schedulers and container engines use."""

from dataclasses import replace
from pathlib import Path

import pytest

from apportion.sources.agent.looks import Clock, Seen
from apportion.sources.agent.notes import noted
from apportion.sources.agent.owners import Group, Place, group_of, owner_of
from apportion.sources.agent.procfs import Processes, started_ticks, uid_of
from apportion.sources.agent.slurm_jobs import SlurmJobs
from tests.agent.worlds import LOGIN, POD, POD_UID, SLURM

HERE = Place("n1", "main")
CONTAINER = "ab" * 32
UNDERSCORED = POD_UID.replace("-", "_")
JOB, POD_GROUP = Group(job="4711"), Group(pod=POD_UID, container=CONTAINER)
SOMEBODY = Seen(11, 100, 1_793_491_140, 1001, "alice")

GROUPS = {
    "slurm v1": ("9:memory:/slurm/uid_1001/job_4711/step_0/task_0\n4:cpu,cpuacct:/\n", JOB),
    "slurm v1 by node": ("4:devices:/slurm_n1/uid_1001/job_4711/step_batch\n", JOB),
    "slurm v1 after an empty hierarchy": ("12:pids:/\n3:devices:/slurm/uid_0/job_4711/step_extern\n", JOB),
    "slurm v2": (SLURM, JOB),
    "slurm v2, the job itself": ("0::/system.slice/slurmstepd.scope/job_4711\n", JOB),
    "slurm v2, several slurmd": ("0::/system.slice/n1_slurmstepd.scope/job_4711/step_0/user/task_special\n", JOB),
    "slurm seen from another namespace": ("0::/../../slurmstepd.scope/job_4711/step_0\n", JOB),
    "slurm v2 of 26.05, by SLUID": (
        "0::/system.slice/slurmstepd.scope/sEKNKTV3WPV500/step_0/user/task_0\n",
        Group(sluid="sEKNKTV3WPV500"),
    ),
    "slurm v2 by SLUID, several slurmd": (
        "0::/system.slice/n1_slurmstepd.scope/s5RHM7EXFPX900\n",
        Group(sluid="s5RHM7EXFPX900"),
    ),
    "the system's own group beside the jobs'": ("0::/system.slice/slurmstepd.scope/system\n", Group()),
    "a SLUID inside a pod is the pod's": (
        f"0::/kubepods/pod{POD_UID}/{CONTAINER}/slurmstepd.scope/s5RHM7EXFPX900\n",
        POD_GROUP,
    ),
    "a SLUID in a group of one's own": ("0::/user.slice/user-1003.slice/slurmstepd.scope/s5RHM7EXFPX900\n", Group()),
    "pod, cgroupfs, burstable": (f"0::/kubepods/burstable/pod{POD_UID}/{CONTAINER}\n", POD_GROUP),
    "pod, cgroupfs, guaranteed, v1": (f"11:devices:/kubepods/pod{POD_UID}/{CONTAINER}\n", POD_GROUP),
    "pod, systemd, containerd": (POD, POD_GROUP),
    "pod, systemd, guaranteed, cri-o": (
        f"0::/kubepods.slice/kubepods-pod{UNDERSCORED}.slice/crio-{CONTAINER}.scope\n",
        POD_GROUP,
    ),
    "pod, systemd, cri-o with a child": (
        f"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UNDERSCORED}.slice/crio-{CONTAINER}.scope/container\n",
        POD_GROUP,
    ),
    "pod, systemd, docker": (
        f"1:name=systemd:/kubepods.slice/kubepods-pod{UNDERSCORED}.slice/docker-{CONTAINER}.scope\n",
        POD_GROUP,
    ),
    "pod of a kubelet in its own slice": (
        f"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{UNDERSCORED}.slice/cri-containerd-{CONTAINER}.scope\n",
        POD_GROUP,
    ),
    "pod seen from another namespace": (
        f"0::/../../../kubepods-burstable-pod{UNDERSCORED}.slice/cri-containerd-{CONTAINER}.scope\n",
        POD_GROUP,
    ),
    "pod, cgroupfs, seen from one of its kind": (f"0::/../../pod{POD_UID}/{CONTAINER}\n", POD_GROUP),
    "pod, cgroupfs, seen from one of another": (f"0::/../../../burstable/pod{POD_UID}/{CONTAINER}\n", POD_GROUP),
    "static pod": (f"0::/kubepods/pod{'0f' * 16}/{CONTAINER}\n", Group(pod="0f" * 16, container=CONTAINER)),
    "docker, cgroupfs": (f"0::/docker/{CONTAINER}\n", Group(container=CONTAINER)),
    "docker, systemd": (f"0::/system.slice/docker-{CONTAINER}.scope\n", Group(container=CONTAINER)),
    "podman, root": (f"0::/machine.slice/libpod-{CONTAINER}.scope/container\n", Group(container=CONTAINER)),
    "login": (LOGIN, Group()),
    "service": ("0::/system.slice/sshd.service\n", Group()),
    "root": ("0::/\n", Group()),
    "nothing": ("", Group()),
    "a name that only looks like a job": ("0::/system.slice/job_4711.service\n", Group()),
    "a job inside a pod is the pod's": (f"0::/kubepods/pod{POD_UID}/{CONTAINER}/slurm/uid_0/job_1\n", POD_GROUP),
    "a pod inside a job is the job's": (f"0::/system.slice/slurmstepd.scope/job_4711/kubepods/pod{POD_UID}\n", JOB),
    "people may name groups of their own, seen from a container": (
        f"0::/../../../../user.slice/user-1003.slice/user@1003.service/kubepods/pod{POD_UID}\n",
        Group(),
    ),
    "people may name groups of their own": ("0::/user.slice/user-1003.slice/user@1003.service/slurm/job_1\n", Group()),
}


@pytest.mark.parametrize(("cgroup", "expected"), GROUPS.values(), ids=GROUPS)
def test_what_a_cgroup_says(cgroup: str, expected: Group) -> None:
    assert group_of(cgroup) == expected


def test_a_job_is_named_by_cluster_and_number_and_carries_what_joins_it() -> None:
    found = owner_of(replace(SOMEBODY, cgroup=SLURM), HERE)
    assert found.workload == "slurm/main/4711"
    assert dict(found.labels) == {
        "agent.by": "cgroup",
        "node": "n1",
        "slurm.cluster": "main",
        "slurm.job": "4711",
        "slurm.user": "alice",
    }


def test_a_pod_is_named_by_its_uid() -> None:
    found = owner_of(replace(SOMEBODY, cgroup=POD), HERE)
    assert found.workload == f"k8s/main/{POD_UID}"
    assert dict(found.labels) == {
        "agent.by": "cgroup",
        "node": "n1",
        "k8s.cluster": "main",
        "k8s.uid": POD_UID,
        "k8s.node": "n1",
    }


def test_the_environment_counts_only_where_no_cgroup_speaks_and_slurm_confirms_it() -> None:
    claims = replace(SOMEBODY, job="99", cluster="east", confirmed=True)
    assert owner_of(replace(claims, cgroup=LOGIN, confirmed=False), HERE).workload == "host/n1/alice"
    assert owner_of(replace(claims, cgroup=LOGIN), Place("n1")).workload == "slurm/east/99"
    assert dict(owner_of(replace(claims, cgroup=LOGIN), HERE).labels)["agent.by"] == "environment"
    assert owner_of(replace(claims, cgroup=SLURM), HERE).workload == "slurm/main/4711"
    assert owner_of(replace(claims, cgroup=LOGIN, job="99; rm"), HERE).workload == "host/n1/alice"


def test_what_the_prolog_noted_counts_before_what_a_process_claims() -> None:
    claims = replace(SOMEBODY, job="99", cluster="lab", noted="4711")
    found = owner_of(replace(claims, cgroup=LOGIN), Place("n1"))
    assert (found.workload, dict(found.labels)["agent.by"]) == ("slurm/lab/4711", "prolog")
    assert owner_of(replace(claims, cgroup=POD), HERE).workload == f"k8s/main/{POD_UID}"


def test_a_user_with_one_job_here_is_that_job(tmp_path: Path) -> None:
    assert noted(tmp_path / "none", 1001) == {}
    (tmp_path / "4711").write_text("1001 lab\n")
    (tmp_path / ".4712").write_text("1001 lab\n")  # being written
    (tmp_path / "17").write_text("0 lab\n")
    assert noted(tmp_path, 1001) == {"noted": "4711", "cluster": "lab"}
    assert noted(tmp_path, 100) == {}
    assert noted(tmp_path, 0) == {}  # the node's own processes are nobody's job
    (tmp_path / "4713").write_text("1001 lab\n")
    assert noted(tmp_path, 1001) == {}


def test_others_are_containers_users_or_unknown() -> None:
    assert owner_of(replace(SOMEBODY, cgroup=f"0::/docker/{CONTAINER}\n"), HERE).workload == "container/n1/abababababab"
    assert owner_of(replace(SOMEBODY, cgroup=LOGIN), HERE).workload == "host/n1/alice"
    assert owner_of(None, HERE).workload == "host/n1/_unknown"


def test_proc_is_read_whatever_a_process_calls_itself() -> None:
    assert started_ticks("17 (a) b (c d) R 1 17 17 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 98765 0 0\n") == 98765
    assert uid_of("Name:\tpython\nUid:\t1001\t0\t0\t0\n") == 1001


def test_a_pid_that_is_used_again_is_another_process(tmp_path: Path) -> None:
    def process(started: int, uid: int, cgroup: str, environ: bytes = b"") -> None:
        folder = tmp_path / "11"
        folder.mkdir(exist_ok=True)
        (folder / "stat").write_text(f"11 (python) R 1 11 11 0 -1 0 1 0 0 0 1 1 0 0 20 0 1 0 {started} 0 0\n")
        (folder / "status").write_text(f"Name:\tpython\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n")
        (folder / "cgroup").write_text(cgroup)
        (folder / "environ").write_bytes(environ)

    known = Processes(tmp_path, slurm=SlurmJobs(lambda _: ""))
    clock = Clock(1_793_491_200_000, 600_000, "boot")
    process(100, 70_001, LOGIN, b"PATH=/bin\0SLURM_JOB_ID=8\0SLURM_CLUSTER_NAME=east\0")
    first = known.of({11}, clock)[11]
    assert (first.user, first.job, first.cluster) == ("uid-70001", "8", "east")
    assert first.started_s == 1_793_491_200 - 600 + 1  # a hundred ticks after boot
    process(100, 70_002, SLURM)
    assert known.of({11}, clock)[11] == first, "the same process is not read again"
    process(101, 70_002, SLURM)
    assert known.of({11}, clock)[11].cgroup == SLURM
    (tmp_path / "11" / "stat").unlink()
    assert known.of({11}, clock)[11].uid == 70_002, "it has just ended: it is still who it was"
    assert known.of(set(), clock) == {}
    assert known.of({11}, clock) == {}, "long gone"
