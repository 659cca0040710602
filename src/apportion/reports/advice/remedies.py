"""How to act on advice: a command, a line of a job's script or a part of a pod's manifest. Names are quoted, for they are others' text."""

from fractions import Fraction
from math import ceil
from shlex import quote

from apportion.reports.advice.work import HOUR_S, Finding, Work

DAY_H = 10  # of a working day's session
MIG = {"A100", "H100", "H200", "H800", "A800", "H20", "GH200", "B200"}  # boards cut in sevenths
PROFILES = {Fraction(1, 7): "1g.10gb", Fraction(2, 7): "2g.20gb", Fraction(3, 7): "3g.40gb"}  # of boards with 80 GB

FITS = "   # if its memory fits"


def remedy(found: Finding) -> str:
    """For the scheduler that the workload's labels speak of."""
    pod = any(name.startswith("k8s.") for name in found.work.labels)
    if found.kind == "idle":
        return stopped(found.work, pod)
    if found.kind == "slice":
        return sliced(found, pod)
    if found.kind == "retries":
        return (
            "backoffLimit: 1   # in the Job's spec; and write checkpoints"
            if pod
            else "sbatch --no-requeue JOB.sh   # and write checkpoints"
        )
    return limited(DAY_H if found.kind == "overnight" else ceil(found.need) + 1, pod)


def stopped(work: Work, pod: bool) -> str:
    """What still runs is ended, what is over is asked for without boards next time; a service is let scale to none."""
    labels = work.labels
    if work.phase == "inference":
        return "minReplicas: 0   # in the InferenceService's spec: it starts with the next request"
    if work.outcome != "running":
        return without_boards(pod)
    if not pod:
        return f"scancel {quote(work.run)}"
    return f"kubectl delete pod -n {quote(labels.get('k8s.namespace', 'default'))} {quote(labels.get('k8s.pod') or work.workload.rpartition('/')[2])}"


def without_boards(pod: bool) -> str:
    return (
        "resources: {limits: {nvidia.com/gpu: 0}}   # or none"
        if pod
        else "sbatch --gpus=0 JOB.sh   # on a partition without boards"
    )


def limited(hours: int, pod: bool) -> str:
    return (
        f"activeDeadlineSeconds: {hours * HOUR_S}   # in the pod's spec"
        if pod
        else f"sbatch --time={hours}:00:00 JOB.sh"
    )


def sliced(found: Finding, pod: bool) -> str:
    if not any(found.work.model.upper().startswith(model) or f"-{model}" in found.work.model.upper() for model in MIG):
        return (
            f"resources: {{limits: {{nvidia.com/gpu.shared: 1}}}}{FITS}"
            if pod
            else f"sbatch --gres=shard:1 JOB.sh{FITS}"
        )
    profile = PROFILES[found.need]
    return (
        f"resources: {{limits: {{nvidia.com/mig-{profile}: 1}}}}{FITS}"
        if pod
        else f"sbatch --gres=gpu:{profile}:1 JOB.sh{FITS}"
    )
