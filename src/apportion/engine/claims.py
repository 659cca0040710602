"""Which usage shares which pool: the pool's `usage` selector, or the resources that its cost lines name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import attrgetter
from typing import Any

import ibis
import pyarrow as pa

from apportion.engine.bearers import asked_by, bearer_number, known_labels
from apportion.engine.calendar import HOUR_S
from apportion.engine.encode import METER_NUMBER, Encoded
from apportion.engine.resources import Resources
from apportion.engine.setting import Setting
from apportion.engine.workloads import Person, Season
from apportion.errors import PolicyError
from apportion.model.meters import METERS
from apportion.policy.document import Policy
from apportion.policy.pool_parts import Credit
from apportion.policy.pools import Pool

WHOLE_POOL = 0  # the curve of money that names no resource; a resource's curve is its number + 1


@dataclass(frozen=True, slots=True)
class Reach:
    """The resources and persons whose usage counts in a pool (`pairs` where the two depend on each other), and the resources whose capacity does."""

    resources: tuple[int, ...]
    persons: tuple[int, ...]
    supplied: tuple[int, ...]
    pairs: frozenset[tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A season's usage rows of one pool, each with its curve, bearer and rate (weight by resource). They may reach beyond the season."""

    rows: Any
    rates: tuple[Fraction, ...]
    season: Season


def reach_of(pool: Pool, named: set[str], resources: Resources, persons: tuple[Person, ...]) -> Reach:
    names = list(resources.labels)
    if pool.usage is None:
        nodes = [resources.places[name].node if name in resources.places else name for name in names]
        found = tuple(n for n, name in enumerate(names) if name in named or nodes[n] in named)
        return Reach(found, tuple(range(len(persons))), found)
    keys = pool.usage.keys
    of_resource = {key for key in keys if resources.carries(key)}
    left = alike(known_labels(labels, of_resource) for labels in resources.labels.values())
    right = alike(known_labels(person.labels, keys - of_resource) for person in persons)
    cases = [(mine, theirs) for mine in left for theirs in right if pool.usage.matches(dict(mine) | dict(theirs))]
    rows, columns = {mine for mine, _ in cases}, {theirs for _, theirs in cases}
    found = tuple(sorted(n for mine in rows for n in left[mine]))
    people = tuple(sorted(m for theirs in columns for m in right[theirs]))
    supplied = tuple(n for n, labels in enumerate(resources.labels.values()) if pool.usage.matches(labels))
    if len(cases) == len(rows) * len(columns):
        return Reach(found, people, supplied)
    return Reach(
        found, people, supplied, frozenset((n, m) for mine, theirs in cases for n in left[mine] for m in right[theirs])
    )


def reach_over(pool: Pool, named: set[str], resources: Resources, seasons: Iterable[Season]) -> Reach:
    """All that counts in any season; `claim` reads each season's own."""
    found = [reach_of(pool, named, resources, season.persons) for season in seasons]
    if len(found) == 1:
        return found[0]
    nodes, people = (
        {n for reach in found for n in part(reach)} for part in (attrgetter("resources"), attrgetter("persons"))
    )
    return Reach(tuple(sorted(nodes)), tuple(sorted(people)), found[0].supplied)


def alike(labels: Iterable[Mapping[str, str]]) -> dict[tuple[tuple[str, str], ...], list[int]]:
    """Numbers that carry the same labels, together: a selector is asked once per kind."""
    out: dict[tuple[tuple[str, str], ...], list[int]] = {}
    for number, mine in enumerate(labels):
        out.setdefault(tuple(sorted(mine.items())), []).append(number)
    return out


def rates_of(pool: Pool, resources: Resources) -> tuple[list[int], tuple[Fraction, ...]]:
    """The weight that each resource's labels give, as a number into the list of distinct ones."""
    keys = [key for key in pool.weights if resources.carries(key)]
    weights = [pool.weight(known_labels(labels, keys)) for labels in resources.labels.values()]
    distinct = sorted(set(weights)) or [Fraction(1)]
    return [distinct.index(weight) for weight in weights], tuple(distinct)


def claim(name: str, reach: Reach, season: Season, setting: Setting, usage: Any = None) -> Claim:
    """The rows of a pool, numbered for summing; of all usage, unless told."""
    pool = setting.policy.pools[name]
    if pool.usage is not None and len(setting.workforce.seasons) > 1:
        reach = reach_of(pool, set(), setting.resources, season.persons)
    keys = asked_by(name, pool, setting.policy)
    rows = setting.encoded.rows if usage is None else usage
    rows = rows.filter(
        rows.meter.isin([METER_NUMBER[meter] for meter in pool.meter]),
        rows.start_s < season.interval.end_s,
        rows.end_s > season.interval.start_s,
    )
    rate_of, rates = rates_of(pool, setting.resources)
    rows = placed(rows, pool, reach, rate_of, setting)
    people = setting.backend.lend(pa.table({
        "person": pa.array(reach.persons, pa.int32()),
        "bearer": pa.array([bearer_number(season.persons[m], keys, setting.bearers) for m in reach.persons], pa.int32()),
    }), often=True)  # fmt: skip
    rows = rows.join(people, "person")
    if reach.pairs is not None:
        pairs = sorted(reach.pairs)
        allowed = setting.backend.lend(pa.table({
            "resource": pa.array([n for n, _ in pairs], pa.int32()),
            "person": pa.array([m for _, m in pairs], pa.int32()),
        }))  # fmt: skip
        rows = rows.semi_join(allowed, ["resource", "person"])
    return Claim(rows, rates, season)


def placed(rows: Any, pool: Pool, reach: Reach, rate_of: list[int], setting: Setting) -> Any:
    """Usage of the pool's resources, each with its curve and rate; nothing is looked up where all have the same."""
    same = pool.scope == "pool" and len(set(rate_of)) <= 1
    if same and len(reach.resources) == len(rate_of):
        return rows.mutate(curve=ibis.literal(WHOLE_POOL, "int32"), rate=ibis.literal(0, "int32"))
    nodes = setting.backend.lend(pa.table({
        "resource": pa.array(reach.resources, pa.int32()),
        "curve": pa.array([n + 1 if pool.scope == "resource" else WHOLE_POOL for n in reach.resources], pa.int32()),
        "rate": pa.array([rate_of[n] for n in reach.resources], pa.int32()),
    }), often=True)  # fmt: skip
    return rows.join(nodes, "resource")


def reads_once(pool: Pool, setting: Setting) -> bool:
    """Whether nothing else of a plan reads the usage: then it need not be kept."""
    pools = [each for each in setting.policy.pools.values() if each.meter]
    return len(pools) == len(setting.workforce.seasons) == 1 and not pool.credit and pool.method != "time"


def clip(rows: Any, season: Season) -> Any:
    """Only what lies inside the season."""
    inside = season.interval
    return rows.mutate(
        start_s=ibis.greatest(rows.start_s, inside.start_s), end_s=ibis.least(rows.end_s, inside.end_s)
    ).filter(lambda clipped: clipped.end_s > clipped.start_s)


def given_back(claimed: Claim, rule: Credit, setting: Setting) -> Any | None:
    """The usage of workloads with an outcome (their own, or what a facet rule makes of it), at most the last so many hours of each interval."""
    persons = [n for n, person in enumerate(claimed.season.persons) if person.labels.get("outcome") == rule.outcome]
    if not persons:
        return None
    lent = setting.backend.lend(pa.table({"person": pa.array(persons, pa.int32())}))
    rows = claimed.rows.semi_join(lent, "person")
    if rule.max_hours is None:
        return rows
    longest = int(rule.max_hours * HOUR_S)
    rows = rows.mutate(start_s=ibis.greatest(rows.start_s, rows.end_s - longest))
    return rows.filter(
        rows.start_s < setting.calendar.window.end_s
    )  # the last hours of a job may all lie in a later month


def component_of(pool: Pool) -> str:
    """Two pools may share one usage row if they are of different components."""
    if pool.method == "energy_two_part" and not pool.component:
        return "energy"
    return pool.component or next((METERS[name].component for name in pool.meter), "")


def refuse_overlaps(policy: Policy, reaches: Mapping[str, Reach], encoded: Encoded, season: Season) -> None:
    """A usage row counts in one pool per meter and component; `reaches` are those of the season."""
    names = list(reaches)
    for n, first in enumerate(names):
        for second in names[n + 1 :]:
            one, two = policy.pools[first], policy.pools[second]
            meters = set(one.meter) & set(two.meter)
            if not meters or component_of(one) != component_of(two):
                continue
            node = occurs(encoded, (reaches[first], reaches[second]), meters, season)
            if node is not None:
                raise PolicyError(
                    "usage-overlap",
                    f"pools '{first}' and '{second}' both count {', '.join(sorted(meters))} usage on {encoded.resources[node]}",
                    where=f"{policy.file}:{policy.line('pools', first)} and {policy.file}:{policy.line('pools', second)}",
                    hint="give one of them a narrower `usage`, or another `component` if both costs are driven by the same usage",
                )


def occurs(encoded: Encoded, reaches: tuple[Reach, Reach], meters: set[str], season: Season) -> int | None:
    """The first resource with a usage row that both pools count."""
    one, two = reaches
    resources, people = set(one.resources) & set(two.resources), set(one.persons) & set(two.persons)
    if not resources or not people:
        return None
    rows = encoded.rows.filter(
        encoded.rows.resource.isin(sorted(resources)),
        encoded.rows.meter.isin([METER_NUMBER[m] for m in meters]),
        encoded.rows.start_s < season.interval.end_s,
        encoded.rows.end_s > season.interval.start_s,
    )
    if len(people) < len(season.persons):
        rows = rows.filter(rows.person.isin(sorted(people)))
    found = rows.select("resource", "person").distinct().to_pyarrow()
    pairs = zip(found["resource"].to_pylist(), found["person"].to_pylist(), strict=True)
    both = {pair for pair in pairs if all(reach.pairs is None or pair in reach.pairs for reach in reaches)}
    return min((resource for resource, _ in both), default=None)
