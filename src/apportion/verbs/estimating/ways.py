"""Other ways to run a job that the policy or the books have a price for: another class of work, another GPU model."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from apportion.policy.match import Selector
from apportion.policy.rules import Adjustment
from apportion.reports.estimate import Job
from apportion.verbs.estimating.places import GPU, models_of
from apportion.verbs.estimating.rates import Settled

GLOB = set("*?[")
WHOSE = frozenset({"team", "project", "user", "department", "cost_centre"})  # no choice of a job


def other_ways(settled: Settled, job: Job, pools: tuple[str, ...]) -> Iterator[tuple[str, Job]]:
    """Each as it is told, and the job that it makes."""
    seen = set()
    for labels in wishes(settled, job, pools):
        if not labels or any(settled.last.plan.own.trace.setting.resources.carries(key) for key in labels):
            continue
        what = "with " + ", ".join(f"{key}={value}" for key, value in labels.items())
        if what not in seen:
            seen.add(what)
            yield what, replace(job, labels={**job.labels, **labels})
    if GPU in job.amounts:
        for model in sorted(set(models_of(settled)) - {job.model}):
            yield f"on {model}", replace(job, model=model, pool="")


def wishes(settled: Settled, job: Job, pools: tuple[str, ...]) -> Iterator[dict[str, str]]:
    """Labels that rules about money ask for and the job does not have."""
    for rule in percentages(settled, job, pools):
        if rule.when is not None and rule.percent is not None and rule.percent < 0:
            yield wish(rule.when, job.labels)
    for name in pools:
        for price in settled.policy.pools[name].prices:
            if price.when is not None and price.holds_on(settled.day):
                yield wish(price.when, job.labels)
        weights = settled.policy.pools[name].weights
        known = ((key, value) for key, by_value in weights.items() for value in by_value if not GLOB & set(value))
        yield from ({key: value} for key, value in known if job.labels.get(key) != value)


def wish(selector: Selector, labels: Mapping[str, str]) -> dict[str, str]:
    """What makes a selector match that does not; nothing where that is not plain to see."""
    if selector.matches(labels) or WHOSE & {condition.key for condition in selector.conditions}:
        return {}
    wanted = {
        condition.key: condition.globs[0].text
        for condition in selector.conditions
        if condition.globs and not condition.holds(labels) and not GLOB & set(condition.globs[0].text)
    }
    return wanted if selector.matches({**labels, **wanted}) else {}


def percentages(settled: Settled, job: Job, pools: tuple[str, ...]) -> list[Adjustment]:
    """Those of the policy that a job of the team may meet, in their order."""
    return [
        rule
        for rule in settled.policy.adjustments
        if rule.percent is not None
        and rule.holds_on(settled.day)
        and rule.team in (None, job.team)
        and (rule.pool is None or rule.pool in pools)
    ]
