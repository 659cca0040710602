"""Runs of trackers to labels of workloads: by the job or the pod that a run names.

A run may have had several jobs (resumed), and a job several runs (a sweep). Where the runs of a job disagree, all that they say is joined by commas
and told as a problem: how much of the job each of them took is nothing that a tracker knows.

What a run says of the tokens and samples that it has seen are labels, too: numbers in the order of the runs in `ml.run`, empty where a run says none.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from apportion.errors import Problem
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.rows import WORKLOADS
from apportion.model.times import Interval
from apportion.sources.settings import Stanza

NAMING = ("cluster", "tags", "models", "tokens", "samples")  # settings
MODELS = ("model", "model_name", "model_name_or_path", "_name_or_path", "ml.model")
MEASURES: Mapping[str, tuple[str, ...]] = {  # where each stands, in small letters
    "tokens": (
        "tokens", "num_tokens", "total_tokens", "tokens_seen", "train_tokens", "consumed_tokens", "num_input_tokens_seen", "train/tokens",
        "train/num_input_tokens_seen",
    ),
    "samples": (
        "samples_seen", "consumed_samples", "num_samples_seen", "samples", "num_samples", "examples_seen", "examples", "num_examples", "train/samples",
    ),
}  # fmt: skip
JOB, JOB_CLUSTER = ("slurm.job_id", "slurm_job_id"), ("slurm.cluster", "slurm.cluster_name", "slurm_cluster_name")
UID, POD, NAMESPACE, POD_CLUSTER = (
    ("k8s.pod_uid", "pod_uid", "k8s.uid"),
    ("k8s.pod", "k8s.pod_name", "pod_name"),
    ("k8s.namespace", "pod_namespace"),
    ("k8s.cluster", "k8s.cluster_name"),
)
SEVERAL = re.compile(r"[,; ]+")
DIFFER = ("ml.experiment", "ml.model")
LONGEST = 1000
MOST = Decimal(10) ** 18


@dataclass(frozen=True, slots=True)
class Run:
    """`tags` are all words that may say where it ran, by lower-case key; `labels` what is known of it."""

    id: str
    life: Interval
    labels: Mapping[str, str]
    tags: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Naming:
    """How the stanza wants runs read: the cluster of runs that name none, tags to keep, where the model and each measure stand."""

    source: str
    cluster: str
    tags: tuple[str, ...]
    models: tuple[str, ...]
    measures: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MEASURES)

    @classmethod
    def of(cls, found: Stanza) -> "Naming":
        measures = {name: found.names(name, None, known) for name, known in MEASURES.items()}
        return cls(
            found.text("name"),
            found.text("cluster", ""),
            found.names("tags"),
            found.names("models", None, MODELS),
            measures,
        )


def first(words: Mapping[str, str], keys: Iterable[str]) -> str:
    return next((words[key] for key in keys if words.get(key)), "")


def model_of(words: Mapping[str, str], naming: Naming) -> str:
    return first(words, [key.lower() for key in naming.models])


def measures_of(said: Sequence[Mapping[str, Any]], naming: Naming) -> dict[str, str]:
    """The first number under one of the names, of what is looked at first: whole, more than 0, by lower-case key."""
    found = {}
    for name, keys in naming.measures.items():
        numbers = (whole(words.get(key.lower())) for words in said for key in keys)
        found[name] = next(filter(None, numbers), "")
    return {name: number for name, number in found.items() if number}


def whole(said: Any) -> str:
    """Trackers keep counts as binary numbers; what is no count at all is left out."""
    if isinstance(said, bool) or not isinstance(said, str | int | float | Decimal):
        return ""
    try:
        number = Decimal(str(said))
    except InvalidOperation:
        return ""
    return f"{number:.0f}" if number.is_finite() and 1 <= number < MOST else ""


def workloads_of(run: Run, naming: Naming) -> list[str]:
    """Ids as schedulers' sources write them; a Slurm job without its time of submission means every job of that number."""
    found = []
    if jobs := first(run.tags, JOB):
        cluster = first(run.tags, JOB_CLUSTER) or naming.cluster
        found += [f"slurm/{cluster}/{job}" for job in SEVERAL.split(jobs) if job]
    cluster = first(run.tags, POD_CLUSTER) or naming.cluster
    if uids := first(run.tags, UID):
        found += [f"k8s/{cluster}/{uid}" for uid in SEVERAL.split(uids) if uid]
    elif pods := first(run.tags, POD):
        namespace = first(run.tags, NAMESPACE)
        found += [f"k8s/{cluster}/{namespace}/{pod}" for pod in SEVERAL.split(pods) if pod and namespace]
    return list(dict.fromkeys(found))


def delivery(runs: Sequence[Run], naming: Naming, window: Interval, files: Sequence[FileDigest] = ()) -> Delivery:
    """Workloads alone. Their life is that of the runs; neither name, outcome nor anything else is the tracker's to say."""
    of: dict[str, list[Run]] = defaultdict(list)
    lost = []
    for run in sorted(runs, key=lambda run: (run.life, run.id)):
        named = workloads_of(run, naming)
        for workload in named:
            of[workload].append(run)
        if not named:
            lost.append(run.id)
    rows = [
        {
            "source": naming.source,
            "workload": workload,
            "run": workload,
            "name": None,
            "start_s": min(run.life.start_s for run in own),
            "end_s": max(run.life.end_s for run in own),
            "outcome": "completed",
            "labels": sorted(united(own, naming).items()),
        }
        for workload, own in sorted(of.items())
    ]
    problems = (*disagreements(of, naming), *unplaced(lost, len(runs), naming))
    return Delivery(naming.source, window, {"workloads": pa.Table.from_pylist(rows, WORKLOADS)}, problems, tuple(files))


def united(runs: Sequence[Run], naming: Naming) -> dict[str, str]:
    keys = sorted({key for run in runs for key in run.labels})
    found = {key: ",".join(said(runs, key))[:LONGEST] for key in keys}
    found |= {
        f"ml.tag.{key}": ",".join(dict.fromkeys(run.tags[key.lower()] for run in runs if run.tags.get(key.lower())))[
            :LONGEST
        ]
        for key in naming.tags
    }
    return {key: text for key, text in found.items() if text} | measured(runs)


def measured(runs: Sequence[Run]) -> dict[str, str]:
    """`ml.tokens: 500,,700` beside `ml.run: a,b,c`. A list too long to keep is not begun."""
    names = said(runs, "ml.run")
    found = {}
    for measure in sorted({name for run in runs for name in run.measures}):
        of = {run.labels["ml.run"]: run.measures.get(measure, "") for run in runs if run.labels.get("ml.run")}
        text = ",".join(of[name] for name in names)
        if max(len(text), len(",".join(names))) <= LONGEST:
            found[f"ml.{measure}"] = text
    return found


def said(runs: Sequence[Run], key: str) -> list[str]:
    return sorted({run.labels[key] for run in runs if run.labels.get(key)})


def disagreements(of: Mapping[str, Sequence[Run]], naming: Naming) -> Iterator[Problem]:
    for workload, runs in sorted(of.items()):
        for key in DIFFER:
            if len(values := said(runs, key)) > 1:
                text = f"{len(runs)} runs name {workload}, of {len(values)} values of {key}; it carries all of them"
                yield Problem(naming.source, "several-runs", text, workload)


def unplaced(lost: Sequence[str], runs: int, naming: Naming) -> Iterator[Problem]:
    if lost:
        text = f"{len(lost)} of {runs} runs name neither a job nor a pod, such as {lost[0]}; tag them where they start"
        yield Problem(naming.source, "run-without-job", text, f"+{len(lost)}")
