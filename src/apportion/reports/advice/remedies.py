"""How to act on advice: a command, a line of a job's script or a part of a pod's manifest. Names are quoted, for they are others' text."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil
from shlex import quote

from apportion.reports.advice.requests import sizes
from apportion.reports.advice.work import HOUR_S, Saving, Work

DAY_H = 10  # of a working day's session
MIG = {"A100", "H100", "H200", "H800", "A800", "H20", "GH200", "B200"}  # boards cut in sevenths
PROFILES = {Fraction(1, 7): "1g.10gb", Fraction(2, 7): "2g.20gb", Fraction(3, 7): "3g.40gb"}  # of boards with 80 GB

FITS = "   # if its memory fits"


def remedy(found: Saving) -> str:
    """For the scheduler that the workload's labels speak of."""
    pod = any(name.startswith("k8s.") for name in found.work.labels)
    if found.kind == "idle":
        return stopped(found.work, pod)
    if found.kind == "slice":
        return sliced(found, pod)
    if found.kind in WAYS:
        return WAYS[found.kind](found, pod)
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
        stop = f"scancel {quote(work.run)}"
        return stop if of_slurm(work) else f"{looked_at(work)}   # it still runs: end it where it was started"
    return f"kubectl delete pod -n {quote(labels.get('k8s.namespace', 'default'))} {quote(labels.get('k8s.pod') or work.workload.rpartition('/')[2])}"


def without_boards(pod: bool) -> str:
    return (
        "resources: {limits: {nvidia.com/gpu: 0}}   # or none"
        if pod
        else "sbatch --gpus=0 JOB.sh   # on a partition without boards"
    )


def asked(finding: Saving, pod: bool) -> str:
    found = sizes(finding.work)
    if pod:
        words = {"cpu": "cpu: {}", "memory": "memory: {}Gi"}
        parts = ", ".join(words[meter].format(size) for meter, size in found.items())
        return f"resources: {{requests: {{{parts}}}}}"
    words = {"cpu": "--cpus-per-task={}", "memory": "--mem={}G"}
    return f"sbatch {' '.join(words[meter].format(size) for meter, size in found.items())} JOB.sh   # on all nodes together"


def kept(found: Saving, pod: bool) -> str:
    del found
    how = "save every half hour, load the newest at the start"
    return (
        f"restartPolicy: OnFailure   # in the pod's spec; {how}"
        if pod
        else f"sbatch --requeue --signal=B:USR1@300 JOB.sh   # {how}"
    )


def looked_up(found: Saving, pod: bool) -> str:
    """Before it is submitted again."""
    key = next((name for name in found.work.labels if name.endswith("config")), "config")
    if pod:
        word = key.removeprefix("k8s.label.")
        return f"kubectl get pods -l {quote(f'{word}={found.work.told.config}')}   # before it is submitted again"
    if not of_slurm(found.work):
        return f"{looked_at(found.work)}   # before it is submitted again: it ran with {quote(found.work.told.config)}"
    given = {"user": found.work.user, "name": found.work.name}
    words = " ".join(f"--{key}={quote(value)}" for key, value in given.items() if value)
    asked = f"sacct {words} --format=JobID,State,Comment".replace("  ", " ")
    return f"{asked}   # before it is submitted again: look for {quote(found.work.told.config)}"


def of_slurm(work: Work) -> bool:
    """What a log or an agent saw, Slurm's own commands may not know."""
    return any(name.startswith("slurm.") for name in work.labels)


def looked_at(work: Work) -> str:
    """What every source's runs are known by."""
    return f"apportion cost {quote(work.run)}"


def let_go(found: Saving, pod: bool) -> str:
    offer = found.work.told.offer
    words = " ".join(
        f"--{key.rpartition('.')[2]}={quote(value)}" for key, value in (offer.labels if offer else {}).items()
    )
    parts = ", ".join(f"{key}: {value}" for key, value in (offer.labels if offer else {}).items())
    return f"labels: {{{parts}}}   # in the pod's metadata" if pod else f"sbatch {words} --requeue JOB.sh"


def on_another(found: Saving, pod: bool) -> str:
    boards = max(one.held for one in found.work.stretches) // found.work.base
    return (
        f"nodeSelector: {{nvidia.com/gpu.product: {found.instead}}}   # as your nodes are labelled"
        if pod
        else f"sbatch --gpus={found.instead.lower()}:{boards} JOB.sh   # or the partition that has them"
    )


def fuller(found: Saving, pod: bool) -> str:
    del pod
    times = 2 if found.need > Fraction(1, 2) else 3
    return f"BATCH_SIZE=$(({times} * BATCH_SIZE))   # and the learning rate with it; watch the memory"


def delayed(found: Saving, pod: bool) -> str:
    hours = int(found.need)
    return (
        f"schedule: ...   # in a CronJob's spec, {hours} hours later"
        if pod
        else f"sbatch --begin=now+{hours}hours JOB.sh   # its deadline is later"
    )


def put_away(found: Saving, pod: bool) -> str:
    del pod
    name = quote(found.work.name or found.work.workload)
    return f"tar --zstd -cf ARCHIVE/{name}.tar.zst {name} && rm -r {name}   # or label it keep_until"


def limited(hours: int, pod: bool) -> str:
    return (
        f"activeDeadlineSeconds: {hours * HOUR_S}   # in the pod's spec"
        if pod
        else f"sbatch --time={hours}:00:00 JOB.sh"
    )


def sliced(found: Saving, pod: bool) -> str:
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


WAYS: Mapping[str, Callable[[Saving, bool], str]] = {
    "requests": asked,
    "checkpoint": kept,
    "duplicate": looked_up,
    "preemptible": let_go,
    "model": on_another,
    "batch": fuller,
    "abandoned": put_away,
    "night": delayed,
}
