"""Whose work it was: workloads met in bulk, each with its owner, its facets and the labels that rules ask about.

Owner rules may begin and end on any day, so there is one reading of the owners per *season*: a stretch in which the same rules hold.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.labels import Combinations, combine, keys_of, label_column, named_in
from apportion.errors import Problem
from apportion.model.owner import Owner, system_owner
from apportion.model.rows import UNALLOCATED
from apportion.model.times import Interval, day_start
from apportion.policy.document import Policy
from apportion.policy.match import fill

OWN_LABELS = ("outcome", "name", "run", "workload")
NOBODY = system_owner(UNALLOCATED)


@dataclass(frozen=True, slots=True)
class Person:
    """One distinct bearer of work: an owner and every label that rules may ask about, derived ones included."""

    owner: Owner
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Season:
    """A stretch of time with one set of owner rules. `person_of[i]` belongs to workload i; the last person is that of unknown workloads."""

    interval: Interval
    persons: tuple[Person, ...]
    person_of: np.ndarray


@dataclass(frozen=True, slots=True)
class Workforce:
    ids: pa.Array
    outcomes: pa.Array
    seasons: tuple[Season, ...]
    problems: tuple[Problem, ...]


def unite(workloads: pa.Table) -> pa.Table:
    """One row per workload id. Where several sources speak of one, labels are united and the first source, by name, decides."""
    workloads = workloads.select(["workload", "source", "run", "name", "outcome", "labels"]).sort_by(
        [("workload", "ascending"), ("source", "ascending")]
    )
    if pc.count_distinct(workloads["workload"]).as_py() == len(workloads):
        return workloads
    merged: dict[str, dict[str, object]] = {}
    for row in workloads.to_pylist():
        seen = merged.setdefault(row["workload"], row | {"labels": {}})
        seen["labels"] = dict(row["labels"] or ()) | dict(seen["labels"])  # type: ignore[call-overload]  # a dict by construction
        for key in ("run", "name", "outcome"):
            seen[key] = seen[key] if seen[key] not in (None, "", row["workload"], "completed") else row[key]
    rows = [row | {"labels": sorted(row["labels"].items())} for row in merged.values()]  # type: ignore[attr-defined]
    return pa.Table.from_pylist(rows, schema=workloads.schema)


def asked_labels(policy: Policy) -> set[str]:
    """Every label that some rule of the policy reads from a workload."""
    keys: set[str] = set(OWN_LABELS[:1])
    for rule in policy.owners:
        keys |= rule.when.keys | named_in([rule.team, rule.project, rule.user])
    for facet in policy.facets:
        keys |= facet.when.keys | named_in(facet.sets.values())
    for pool in policy.pools.values():
        keys |= pool.usage.keys if pool.usage else set()
        keys |= set(pool.weights)
        for price in pool.prices:
            keys |= price.when.keys if price.when else set()
    for adjustment in policy.adjustments:
        keys |= adjustment.when.keys if adjustment.when else set()
    return keys


def combinations(workloads: pa.Table, keys: Iterable[str]) -> Combinations:
    known = keys_of(workloads["labels"])
    columns = {
        key: workloads[key] if key in OWN_LABELS else label_column(workloads["labels"], known, key)
        for key in sorted(keys)
    }
    return combine(len(workloads), columns)


def owner_of(labels: Mapping[str, str], policy: Policy, interval: Interval, problems: list[Problem]) -> Owner:
    """The first rule in force that matches; a label that its template misses is a problem, never a guess."""
    zone = ZoneInfo(policy.time_zone)
    for number, rule in enumerate(policy.owners):
        if not in_force(rule.from_, rule.until, interval, zone) or not rule.when.matches(labels):
            continue
        where = f"{policy.file}:{policy.line('owners', number)}"
        names = {part: fill(getattr(rule, part), labels) for part in ("team", "project", "user")}
        for part, name in names.items():
            if name is None:
                template = getattr(rule, part)
                problems.append(
                    Problem(
                        where,
                        "owner-label-missing",
                        f"{part}: {template} names a label that the workload lacks",
                        str(dict(labels)),
                    )
                )
        if names["team"] is None:
            return NOBODY
        return declared(names["team"], policy, names["project"] or "", names["user"] or "")
    return NOBODY


def declared(team: str, policy: Policy, project: str = "", user: str = "") -> Owner:
    """A team's place in the hierarchy, as the policy declares it."""
    known = policy.teams.get(team)
    return Owner(known.cost_centre if known else "", known.department if known else "", team, project, user)


def in_force(since: date | None, until: date | None, interval: Interval, zone: ZoneInfo) -> bool:
    """Whether a rule holds over a season (seasons are cut at every rule's bounds)."""
    begins = day_start(since, zone) if since else interval.start_s
    ends = day_start(until + timedelta(days=1), zone) if until else interval.end_s
    return begins <= interval.start_s and interval.end_s <= ends


def seasons_of(policy: Policy, window: Interval) -> list[Interval]:
    zone = ZoneInfo(policy.time_zone)
    edges = {window.start_s, window.end_s}
    for rule in policy.owners:
        edges |= {day_start(rule.from_, zone)} if rule.from_ else set()
        edges |= {day_start(rule.until + timedelta(days=1), zone)} if rule.until else set()
    inside = sorted(edge for edge in edges if window.start_s <= edge <= window.end_s)
    return [Interval(start, end) for start, end in pairwise(inside)]


def person(labels: Mapping[str, str], policy: Policy, interval: Interval, problems: list[Problem]) -> Person:
    owner = owner_of(labels, policy, interval, problems)
    known = policy.teams.get(owner.team)
    derived = {"team": owner.team, "project": owner.project, "user": owner.user, "department": owner.department,
               "cost_centre": owner.cost_centre, "class": known.class_ if known else ""}  # fmt: skip
    full = dict(labels) | {key: value for key, value in derived.items() if value}
    return Person(owner, full | facets_of(full, policy))


def facets_of(labels: Mapping[str, str], policy: Policy) -> dict[str, str]:
    """The first rule that sets a facet decides it."""
    found: dict[str, str] = {}
    for rule in policy.facets:
        if rule.when.matches(labels):
            filled = {name: fill(template, labels) for name, template in rule.sets.items()}
            found = {name: value for name, value in filled.items() if value} | found
    return found


def read_workforce(workloads: pa.Table, policy: Policy, window: Interval) -> Workforce:
    united = unite(workloads)
    found = combinations(united, asked_labels(policy))
    problems: list[Problem] = []
    seasons = []
    for interval in seasons_of(policy, window):
        persons = [person(labels, policy, interval, problems) for labels in found.labels]
        seasons.append(Season(interval, (*persons, Person(NOBODY, {})), found.of_row))
    once = tuple(dict.fromkeys(problems))
    return Workforce(united["workload"].combine_chunks(), united["outcome"].combine_chunks(), tuple(seasons), once)
