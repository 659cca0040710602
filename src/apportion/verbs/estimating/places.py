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
from apportion.verbs.plan import Computed
from apportion.verbs.settings import nearest

MODEL_LABELS = ("gpu.model", "gpu.product", "gke-accelerator", "gpu_model")  # as sources name it, or node labels do
GPU = "gpu"


def models_of(computed: Computed) -> dict[str, set[str]]:
    """GPU models as the books write them, each with its nodes."""
    found: dict[str, set[str]] = defaultdict(set)
    for node, labels in computed.plan.own.trace.setting.resources.labels.items():
        model = next((value for key in MODEL_LABELS if (value := find_label(labels, key))), "")
        if model:
            found[model].add(node)
    return dict(found)


def model_named(computed: Computed, wanted: str) -> str:
    """`h100` is `H100` or `NVIDIA-H100-80GB-HBM3`; what is neither is told the nearest names."""
    known = sorted(models_of(computed))
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


def placed(computed: Computed, job: Job) -> tuple[Job, tuple[str, ...]]:
    """The job with its model as the books write it, and the pools that charge it: one for each component of cost."""
    policy = computed.world.policy
    if job.pool and job.pool not in policy.pools:
        raise ProjectError(
            "unknown-figure",
            f"{job.pool!r} is no pool of {computed.plan.period}",
            hint=nearest(job.pool, list(policy.pools), "pools"),
        )
    job = replace(job, model=model_named(computed, job.model)) if job.model else job
    counting = {name: pool for name, pool in policy.pools.items() if counts(pool, job)}
    nodes = {name: nodes_of(computed, name, job) for name in counting}
    wanted = wanted_nodes(computed, job, nodes)
    found = [name for name in counting if nodes[name] & wanted]
    if job.pool in found:
        own = component_of(counting[job.pool])
        found = [name for name in found if name == job.pool or component_of(counting[name]) != own]
    elif job.pool:
        found = []
    refuse_none(job, found, computed)
    refuse_several(job, found, computed)
    return job, tuple(found)


def counts(pool: Pool, job: Job) -> bool:
    return pool.method in METERED and any(pool.meter.get(meter) for meter in job.amounts)


def nodes_of(computed: Computed, name: str, job: Job) -> set[str]:
    """Those of a pool whose use by such a job counts in it."""
    result, setting = computed.plan.own.trace.pools.get(name), computed.plan.own.trace.setting
    if result is None or result.reach is None:
        return set()
    names = list(setting.resources.labels)
    found = {names[n] for n in (*result.reach.resources, *result.reach.supplied)}
    usage = setting.policy.pools[name].usage
    if usage is None:
        return found
    own = {key: value for key, value in job.labels.items() if not setting.resources.carries(key)}
    return {node for node in found if usage.matches({**setting.resources.labels[node], **own})}


def wanted_nodes(computed: Computed, job: Job, nodes: Mapping[str, set[str]]) -> set[str]:
    """By the model, by the pool, else all; work without GPUs goes where there are none, if there is such a place."""
    models, every = models_of(computed), set[str]().union(*nodes.values())
    if job.model:
        return models[job.model]
    if job.pool:
        return nodes.get(job.pool, set())
    if GPU in job.amounts:
        return every
    return every - set[str]().union(*models.values()) or every


def refuse_none(job: Job, found: Iterable[str], computed: Computed) -> None:
    if list(found):
        return
    what = " and ".join(job.amounts)
    where = f" on {job.model}" if job.model else f" in {job.pool}" if job.pool else ""
    pools = [name for name, pool in computed.world.policy.pools.items() if counts(pool, job)]
    raise ProjectError(
        "no-pool",
        f"no pool of {computed.plan.period} counts {what} of such a job{where}",
        hint=f"pools that count it: {', '.join(pools) or 'none'}; labels that they ask for are given as --label KEY=VALUE",
    )


def refuse_several(job: Job, found: Iterable[str], computed: Computed) -> None:
    """A node's use counts in one pool for each component: of several the job has to name one."""
    by_component: dict[str, list[str]] = defaultdict(list)
    for name in found:
        by_component[component_of(computed.world.policy.pools[name])].append(name)
    several = next((names for names in by_component.values() if len(names) > 1), None)
    if several:
        models = sorted(models_of(computed))
        asks = (
            f"--model ({', '.join(models)}) or --pool" if GPU in job.amounts and models and not job.model else "--pool"
        )
        raise ProjectError(
            "several-pools",
            f"such a job may fall to {counted(len(several), 'pool')}: {', '.join(several)}",
            hint=f"say which with {asks}",
        )
