"""Whose work it was: workloads met in bulk, each with its owner, its facets and the labels that rules ask about.

Owner rules may begin and end on any day, so there is one reading of the owners per *season*: a stretch in which the same rules hold.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from unicodedata import normalize
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.labels import Combinations, combine, keys_of, label_column, labelled, named_in
from apportion.errors import Problem
from apportion.model.owner import Owner, system_owner
from apportion.model.rows import UNALLOCATED
from apportion.model.times import Interval, day_start
from apportion.policy.document import Policy
from apportion.policy.match import fill
from apportion.policy.rules import FacetRule

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
    seasons: tuple[Season, ...]
    problems: tuple[Problem, ...]


def unite(workloads: pa.Table) -> pa.Table:
    """One row per workload id. Where several sources speak of one, labels are united and the first source, by name, decides.

    A source that only counts (energy, network) describes nobody: its rows give way to those that carry labels.
    """
    workloads = latest_first(workloads)
    has_labels = labelled(workloads["labels"])
    if not pc.all(has_labels).as_py():
        described = workloads.filter(has_labels)
        only_counted = pc.invert(pc.is_in(workloads["workload"], value_set=described["workload"].combine_chunks()))
        workloads = pa.concat_tables([described, workloads.filter(only_counted)])
    workloads = workloads.sort_by([("workload", "ascending"), ("source", "ascending")])
    ids = workloads["workload"].combine_chunks()
    twice = ids[1:].filter(pc.equal(ids[1:], ids[:-1]))
    if not len(twice):
        return workloads
    several = pc.is_in(workloads["workload"], value_set=twice)
    merged = merge_rows(workloads.filter(several).to_pylist(), workloads.schema)
    return pa.concat_tables([workloads.filter(pc.invert(several)), merged]).sort_by("workload")


def latest_first(workloads: pa.Table) -> pa.Table:
    """Where one source gives an id several sets of labels, the latest speaks first for what has no labels of its own."""
    columns = ["workload", "source", "run", "name", "outcome", "labels"]
    if workloads["label_set"].null_count < len(workloads):
        keys = [(name, "descending") for name in ("end_s", "start_s", "label_set")]
        workloads = workloads.take(
            pc.sort_indices(workloads, [("workload", "ascending"), ("source", "ascending"), *keys])
        )
    return workloads.select(columns)


def merge_rows(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows sorted by workload and source, one left of each workload."""
    merged: dict[str, dict[str, Any]] = {}
    for row in rows:
        seen = merged.setdefault(row["workload"], row | {"labels": {}})
        seen["labels"] = dict(row["labels"] or ()) | seen["labels"]
        for key in ("run", "name", "outcome"):
            seen[key] = seen[key] if seen[key] not in (None, "", row["workload"], "completed") else row[key]
    return pa.Table.from_pylist(
        [row | {"labels": sorted(row["labels"].items())} for row in merged.values()], schema=schema
    )


def asked_labels(policy: Policy) -> set[str]:
    """Every label that money depends on, of those that a workload has."""
    return owner_labels(policy) | facet_labels(priced_facets(policy)) | pricing_labels(policy)


def told_labels(policy: Policy) -> set[str]:
    """Those and what is only told of a workload."""
    return asked_labels(policy) | facet_labels(policy.facets)


def priced_facets(policy: Policy) -> tuple[FacetRule, ...]:
    """The rules of facets that something asks about, as others do of theirs. The rest only tells what work was, and costs a plan nothing."""
    asked = pricing_labels(policy)
    while more := facet_labels(rule for rule in policy.facets if asked & rule.sets.keys()) - asked:
        asked |= more
    return tuple(rule for rule in policy.facets if asked & rule.sets.keys())


def pricing_labels(policy: Policy) -> set[str]:
    keys = {*OWN_LABELS[:1]}
    for pool in policy.pools.values():
        keys |= pool.usage.keys if pool.usage else set()
        keys |= set(pool.weights)
        for price in pool.prices:
            keys |= price.when.keys if price.when else set()
    for adjustment in policy.adjustments:
        keys |= adjustment.when.keys if adjustment.when else set()
    return keys


def owner_labels(policy: Policy) -> set[str]:
    rules = policy.owners
    return {key for rule in rules for key in rule.when.keys | named_in([rule.team, rule.project, rule.user])}


def facet_labels(rules: Iterable[FacetRule]) -> set[str]:
    return {key for rule in rules for key in rule.when.keys | named_in(rule.sets.values())}


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
        names = {}
        for part in ("team", "project", "user"):
            template = getattr(rule, part)
            names[part] = filled(template, labels)
            if template and not names[part]:
                where = f"{policy.file}:{policy.line('owners', number)}"
                problems.append(owner_problem(where, part, template, labels))
        return declared(names["team"], policy, names["project"], names["user"]) if names["team"] else NOBODY
    return NOBODY


def filled(template: str, labels: Mapping[str, str]) -> str:
    """A name, composed alike however it was typed; empty where a label is missing or would pass for one of the system's owners."""
    name = normalize("NFC", fill(template, labels) or "") if template else ""
    return "" if name.startswith("_") else name


def owner_problem(where: str, part: str, template: str, labels: Mapping[str, str]) -> Problem:
    if fill(template, labels) is None:
        return Problem(
            where, "owner-label-missing", f"{part}: {template} names a label that the workload lacks", str(dict(labels))
        )
    message = f"{part}: {template} gives a name that begins with '_', as only the system's own do"
    return Problem(where, "owner-name-reserved", message, str(dict(labels)))


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


class Census:
    """Who everybody is by the rules of one season. Most rules read few labels: what they say is worked out once for all who look alike to them.

    `kinds` are the facet rules that count: all of them unless given.
    """

    def __init__(
        self, policy: Policy, interval: Interval, problems: list[Problem], kinds: Sequence[FacetRule] | None = None
    ) -> None:
        self.policy, self.interval, self.problems = policy, interval, problems
        self.kinds = policy.facets if kinds is None else kinds
        self._owners: dict[Hashable, Owner] = {}
        self._facets: dict[Hashable, dict[str, str]] = {}
        self._rules: dict[Hashable, list[FacetRule]] = {}
        self._for_owners, self._for_facets = seen_by(owner_labels(policy)), seen_by(facet_labels(self.kinds))
        self._for_rules = seen_by({key for rule in self.kinds for key in rule.when.keys})

    def person(self, labels: Mapping[str, str]) -> Person:
        owner = self.owner(labels)
        known = self.policy.teams.get(owner.team)
        derived = {"team": owner.team, "project": owner.project, "user": owner.user, "department": owner.department,
                   "cost_centre": owner.cost_centre, "class": known.class_ if known else ""}  # fmt: skip
        full = dict(labels) | {key: value for key, value in derived.items() if value}
        return Person(owner, full | self.facets(full))

    def owner(self, labels: Mapping[str, str]) -> Owner:
        """A problem names all labels of whoever has it, so it is told of each."""
        seen = self._for_owners(labels)
        if seen not in self._owners:
            before = len(self.problems)
            owner = owner_of(labels, self.policy, self.interval, self.problems)
            if len(self.problems) > before:
                return owner
            self._owners[seen] = owner
        return self._owners[seen]

    def facets(self, labels: Mapping[str, str]) -> dict[str, str]:
        seen = self._for_facets(labels)
        if seen not in self._facets:
            self._facets[seen] = facets_by(self.rules(labels), labels)
        return self._facets[seen]

    def rules(self, labels: Mapping[str, str]) -> list[FacetRule]:
        """The facet rules that match. What they put into a facet may be another of each workload; what they ask seldom is."""
        seen = self._for_rules(labels)
        if seen not in self._rules:
            self._rules[seen] = [rule for rule in self.kinds if rule.when.matches(labels)]
        return self._rules[seen]


def seen_by(keys: set[str]) -> Callable[[Mapping[str, str]], Hashable]:
    """What rules that ask for some labels can see of others' labels, as `find_label` finds them."""
    endings = tuple(f".{key}" for key in keys)

    @cache
    def is_seen(name: str) -> bool:
        return name in keys or name.endswith(endings)

    return lambda labels: tuple([item for item in labels.items() if is_seen(item[0])])


def facets_of(labels: Mapping[str, str], policy: Policy) -> dict[str, str]:
    return facets_by((rule for rule in policy.facets if rule.when.matches(labels)), labels)


def facets_by(rules: Iterable[FacetRule], labels: Mapping[str, str]) -> dict[str, str]:
    """Of rules that match: the first that sets a facet decides it."""
    found: dict[str, str] = {}
    for rule in rules:
        filled = {name: fill(template, labels) for name, template in rule.sets.items()}
        found = {name: value for name, value in filled.items() if value} | found
    return found


def read_workforce(workloads: pa.Table, policy: Policy, window: Interval) -> Workforce:
    united = unite(workloads)
    found = combinations(united, asked_labels(policy))
    problems: list[Problem] = []
    seasons = []
    kinds = priced_facets(policy)
    for interval in seasons_of(policy, window):
        persons = map(Census(policy, interval, problems, kinds).person, found.labels)
        seasons.append(Season(interval, (*persons, Person(NOBODY, {})), found.of_row))
    once = tuple(dict.fromkeys(problems))
    return Workforce(united["workload"].combine_chunks(), tuple(seasons), once)
