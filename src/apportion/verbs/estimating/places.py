"""Which pools a job that nobody has run would fall to: those that count what it holds, on nodes such as it asks for."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from apportion.engine.claims import component_of
from apportion.errors import ProjectError
from apportion.policy.clause import nearest as alike_names
from apportion.policy.match import find_label
from apportion.policy.methods import METERED
from apportion.policy.pools import Pool
from apportion.reports.estimate import Job
from apportion.reports.words import counted
from apportion.verbs.estimating.rates import Settled
from apportion.verbs.plan import Computed
from apportion.verbs.settings import nearest

MODEL_LABELS = ("gpu.model", "gpu.product", "gke-accelerator", "gpu_model")  # as sources name it, or node labels do
GPU = "gpu"


def models_of(settled: Settled) -> dict[str, set[str]]:
    """GPU models as the books write them, each with its nodes in pools that may be spoken of."""
    found: dict[str, set[str]] = defaultdict(set)
    labels = settled.last.plan.own.trace.setting.resources.labels
    for node in sorted(set[str]().union(*(reached(settled.last, name) for name in settled.seen))):
        model = next((value for key in MODEL_LABELS if (value := find_label(labels[node], key))), "")
        if model:
            found[model].add(node)
    return dict(found)


def model_named(settled: Settled, wanted: str) -> str:
    """`h100` is `H100` or `NVIDIA-H100-80GB-HBM3`; what is neither is told the nearest names."""
    known = sorted(models_of(settled))
    alike = [model for model in known if folded(model) == folded(wanted)]
    alike = alike or [model for model in known if folded(wanted) and folded(wanted) in folded(model)]
    if len(alike) == 1:
        return alike[0]
    if alike:
        raise ProjectError(
            "ambiguous-model", f"{wanted!r} may be {' or '.join(alike)}", hint="name one of them with --model"
        )
    raise ProjectError("unknown-model", f"no node has GPUs of the model {wanted!r}", hint=alike_names(wanted, known))


def folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def placed(settled: Settled, job: Job) -> tuple[Job, tuple[str, ...]]:
    """The job with its model as the books write it, and the pools that charge it: one for each component of cost."""
    if job.pool and job.pool not in settled.seen:
        raise ProjectError(
            "unknown-figure",
            f"{job.pool!r} is no pool of {settled.month}",
            hint=nearest(job.pool, list(settled.seen), "pools"),
        )
    job = replace(job, model=model_named(settled, job.model)) if job.model else job
    counting = {name: pool for name, pool in settled.seen.items() if counts(pool, job)}
    nodes = {name: nodes_of(settled.last, name, job) for name in counting}
    wanted = wanted_nodes(settled, job, nodes)
    found = [name for name in counting if nodes[name] & wanted]
    if job.pool in found:
        own = component_of(counting[job.pool])
        found = [name for name in found if name == job.pool or component_of(counting[name]) != own]
    elif job.pool:
        found = []
    refuse_none(job, found, settled)
    refuse_several(job, found, settled)
    return job, tuple(found)


def counts(pool: Pool, job: Job) -> bool:
    return pool.method in METERED and any(pool.meter.get(meter) for meter in job.amounts)


def reached(computed: Computed, name: str) -> set[str]:
    """The nodes of a pool."""
    result = computed.plan.own.trace.pools.get(name)
    if result is None or result.reach is None:
        return set()
    names = list(computed.plan.own.trace.setting.resources.labels)
    return {names[n] for n in (*result.reach.resources, *result.reach.supplied)}


def nodes_of(computed: Computed, name: str, job: Job) -> set[str]:
    """Those of a pool whose use by such a job counts in it."""
    setting, found = computed.plan.own.trace.setting, reached(computed, name)
    usage = setting.policy.pools[name].usage
    if usage is None:
        return found
    own = {key: value for key, value in job.labels.items() if not setting.resources.carries(key)}
    return {node for node in found if usage.matches({**setting.resources.labels[node], **own})}


def wanted_nodes(settled: Settled, job: Job, nodes: Mapping[str, set[str]]) -> set[str]:
    """By the model, by the pool, else all; work without GPUs goes where there are none, if there is such a place."""
    models, every = models_of(settled), set[str]().union(*nodes.values())
    if job.model:
        return models[job.model]
    if job.pool:
        return nodes.get(job.pool, set())
    if GPU in job.amounts:
        return every
    return every - set[str]().union(*models.values()) or every


def refuse_none(job: Job, found: Iterable[str], settled: Settled) -> None:
    if list(found):
        return
    what = " and ".join(job.amounts)
    where = f" on {job.model}" if job.model else f" in {job.pool}" if job.pool else ""
    pools = [name for name, pool in settled.seen.items() if counts(pool, job)]
    raise ProjectError(
        "no-pool",
        f"no pool of {settled.month} counts {what} of such a job{where}",
        hint=f"pools that count it: {', '.join(pools) or 'none'}; labels that they ask for are given as --label KEY=VALUE",
    )


def refuse_several(job: Job, found: Iterable[str], settled: Settled) -> None:
    """A node's use counts in one pool for each component: of several the job has to name one."""
    by_component: dict[str, list[str]] = defaultdict(list)
    for name in found:
        by_component[component_of(settled.seen[name])].append(name)
    several = next((names for names in by_component.values() if len(names) > 1), None)
    if several:
        models = sorted(models_of(settled))
        asks = (
            f"--model ({', '.join(models)}) or --pool" if GPU in job.amounts and models and not job.model else "--pool"
        )
        raise ProjectError(
            "several-pools",
            f"such a job may fall to {counted(len(several), 'pool')}: {', '.join(several)}",
            hint=f"say which with {asks}",
        )
