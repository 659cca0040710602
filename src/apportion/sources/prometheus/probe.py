"""What `apportion check` says of a Prometheus: reachable, on time, complete; and for what is missing the flag or setting that brings it."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from apportion.errors import ApportionError
from apportion.model.accelerators import EXPORTERS, Exporter
from apportion.model.times import DAY_S, Interval, instant_text
from apportion.sources.live import Sign
from apportion.sources.outside.web import Web
from apportion.sources.prometheus.asking import SETTINGS, How, how_of
from apportion.sources.prometheus.nodes import CAPACITY, REPLICAS, STRATEGY
from apportion.sources.prometheus.reading import Outside
from apportion.sources.prometheus.samples import Series, usual_step
from apportion.sources.prometheus.saved import read_saved
from apportion.sources.prometheus.selectors import Matcher, Selector, select
from apportion.sources.prometheus.server import Server
from apportion.sources.prometheus.spelling import Keys, Spelling, workload_of
from apportion.sources.settings import stanza

SKEW_S = 30
SHOWN = 3
KSM = "install kube-state-metrics and let Prometheus scrape it"
NEEDED = ("kube_pod_status_phase", "kube_pod_info", "kube_pod_container_resource_requests", "kube_node_status_capacity")
USEFUL = {
    "container_cpu_usage_seconds_total": ("CPU that was used", "scrape the kubelets' /metrics/cadvisor"),
    "container_memory_working_set_bytes": ("memory that was used", "scrape the kubelets' /metrics/cadvisor"),
    "kube_node_status_condition": ("nodes that were down", KSM),
    "kube_persistentvolumeclaim_resource_requests_storage_bytes": ("volumes", KSM),
    "kubelet_volume_stats_used_bytes": ("what lies in volumes", "scrape the kubelets' /metrics"),
}
POD_LABELS = (
    "kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/cluster-queue-name", "kueue.x-k8s.io/priority-class", "jobset.sigs.k8s.io/jobset-name",
    "jobset.sigs.k8s.io/restart-attempt", "training.kubeflow.org/job-name", "trainer.kubeflow.org/trainjob-ancestor-step", "ray.io/cluster",
    "ray.io/group", "volcano.sh/job-name", "volcano.sh/queue-name", "workflows.argoproj.io/workflow", "batch.kubernetes.io/job-name",
    "team", "project",
)  # fmt: skip
NODE_LABELS = (
    "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "nvidia.com/gpu.product", "nvidia.com/gpu.count", REPLICAS, STRATEGY,
    "nvidia.com/mig.strategy", "nvidia.com/gpu.memory",
)  # fmt: skip
ALLOWLIST = {
    "kube_pod_labels": ("pods", POD_LABELS, "wrong"),
    "kube_node_labels": ("nodes", NODE_LABELS, "note"),
    "kube_namespace_labels": ("namespaces", ("*",), "note"),
}


@dataclass(frozen=True, slots=True)
class Look:
    """What there is to look at: the last day of a server, or all that was saved."""

    outside: Outside
    how: How
    day: Interval
    names: set[str]
    when: str = "in the last day"


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Errors of the connection come as a sign too: the other sources are still to be looked at."""
    try:
        found = stanza(settings, SETTINGS)
        how = how_of(found)
        if "path" in settings:
            saved = read_saved(found.text("path"), base, found.where, how.always)
            yield from signs(Look(saved, how, saved.days(), saved.names(saved.days()), "in the saved answers"))
            return
        with Web.of(found) as web:
            server = Server(web, how.always)
            now = int(server.now())
            yield Sign("ok", f"{web.host} answers")
            yield from clock(now)
            day = Interval(now - DAY_S, now)
            yield from signs(Look(server, how, day, server.names(day)))
    except ApportionError as error:
        yield Sign("wrong", error.message, error.hint)


def clock(now: int) -> Iterator[Sign]:
    skew = int(time.time()) - now
    if abs(skew) > SKEW_S:
        yield Sign(
            "wrong", f"the clock of this machine is {skew:+d} s off the server's", "let both follow a time server"
        )


def signs(look: Look) -> Iterator[Sign]:
    missing = [name for name in NEEDED if name not in look.names]
    if missing:
        yield Sign("wrong", f"{look.when} there is no {', '.join(missing)}: nobody tells what ran", KSM)
    for name, (what, fix) in USEFUL.items():
        if name not in look.names:
            yield Sign("note", f"no {name}: {what} will not be known", fix)
    yield from labels(look)
    yield from devices(look)
    yield from scrapes(look)


def labels(look: Look) -> Iterator[Sign]:
    """kube-state-metrics tells no label of anything unless a flag names it."""
    keys = Keys.of(look.how.label_keys)
    lacking, worst, absent = [], "note", []
    for name, (kind, wanted, status) in ALLOWLIST.items():
        seen: set[str] = set()
        for one in look.outside.series(select(name), look.day) if name in look.names else ():
            seen |= set(keys.labels(one))
        if not seen:
            absent.append(kind)
            lacking.append(f"{kind}=[{','.join(wanted)}]")
            worst = "wrong" if status == "wrong" else worst
        else:
            yield Sign("ok", f"labels of {kind}: {', '.join(sorted(seen)[:8])}" + (" ..." if len(seen) > 8 else ""))
    if absent:
        text = f"kube-state-metrics tells no labels of {', '.join(absent)}: owners and queues cannot be matched by them"
        flag = ",".join(lacking)
        fix = f"start kube-state-metrics with --metric-labels-allowlist={flag}"
        if len(absent) < len(ALLOWLIST):  # the flag is there, and names others
            fix = f"add {flag} to --metric-labels-allowlist of kube-state-metrics"
        yield Sign("wrong" if worst == "wrong" else "note", text, fix)


def devices(look: Look) -> Iterator[Sign]:
    """Whether accelerators are measured where nodes have some, and whether their rows name pods."""
    there = [
        exporter for exporter in EXPORTERS if any(name in look.names for name in (*exporter.used, *exporter.energy))
    ]
    offered = Selector(CAPACITY.name, (Matcher("resource", "=~", ".*gpu.*|.*mig.*|.*tpu.*|.*neuron.*|.*gaudi.*"),))
    if not there and CAPACITY.name in look.names and look.outside.series(offered, look.day):
        yield Sign(
            "note",
            "nodes have accelerators that nobody measures: only what was held is known",
            "install dcgm-exporter, or the exporter of their vendor",
        )
    for exporter in there:
        yield from device(look, exporter)


def device(look: Look, exporter: Exporter) -> Iterator[Sign]:
    metric = next((name for name in (*exporter.used, *exporter.energy) if name in look.names), "")
    found = look.outside.series(select(metric), look.day)
    spelling = Spelling.of(found, look.how.renamed)
    named = [one for one in found if workload_of(spelling.respelled(one))]
    used = next((name for name in exporter.used if name in look.names), "nothing")
    joules = next((name for name in (*exporter.energy, *exporter.power) if name in look.names), "nothing")
    yield Sign("ok", f"{exporter.name}: use by {used}, energy by {joules}, pods by the label {spelling.names['pod']}")
    if found and not named:
        fix = "start dcgm-exporter with DCGM_EXPORTER_KUBERNETES=true" if exporter.meter == "gpu" else ""
        fix = fix or 'name its label by labels = {pod = "..."} of the source'
        yield Sign("note", f"no row of {metric} names a pod: who used the devices will not be known", fix)


def scrapes(look: Look) -> Iterator[Sign]:
    """One series of each kind tells how often its exporter is scraped and when it was not."""
    watched = [CAPACITY.name, "container_cpu_usage_seconds_total", *(name for one in EXPORTERS for name in one.used)]
    for name in watched:
        if name not in look.names:
            continue
        series = look.outside.series(select(name), look.day)
        one = longest(look, name, series)
        if one is not None and len(one.times) > 1:
            yield from gaps(name, one, look)


def longest(look: Look, name: str, series: list[dict[str, str]]) -> Series | None:
    """Of some series the one with most samples: a pod's may be short."""
    some = [
        sample
        for labels in series[:: max(1, len(series) // 5)][:6]
        for sample in look.outside.samples(
            Selector(name, tuple(Matcher(key, "=", value) for key, value in labels.items() if key != "__name__")),
            look.day,
        )
    ]
    return max(some, key=lambda one: len(one.times), default=None)


def gaps(name: str, one: Series, look: Look) -> Iterator[Sign]:
    step = look.how.step_s or usual_step([one.times])
    holes = [(before, after) for before, after in pairwise(one.times.tolist()) if after - before > 2 * step]
    if not holes:
        yield Sign("ok", f"{name} is scraped every {step} s, without gaps {look.when}")
        return
    shown = "; ".join(f"{after - before} s from {instant_text(before)}" for before, after in holes[:SHOWN])
    total = int(np.sum([after - before for before, after in holes]))
    too_long = any(after - before > look.how.pad_s for before, after in holes)
    yield Sign(
        "wrong" if too_long else "note",
        f"{name} is scraped every {step} s, with {len(holes)} gaps of {total} s together {look.when}: {shown}",
        "gaps up to pad_minutes are bridged and listed as estimated; see why the target was not scraped",
    )
