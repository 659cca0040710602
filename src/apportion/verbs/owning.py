"""Whose work it is by the policy's owner rules, and by which of them: to say why, and for work that nothing is charged for yet."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.label_sets import plain_ids, rows_named
from apportion.engine.labels import named_in
from apportion.engine.workloads import asked_labels, combinations, owner_of, seasons_of, unite
from apportion.model.owner import Owner
from apportion.model.rows import TEXT
from apportion.model.times import Interval, Period
from apportion.policy.document import Policy
from apportion.policy.match import find_label
from apportion.verbs.agreement import policy_for
from apportion.verbs.explaining.owners import NOBODY, first_rule
from apportion.verbs.project import Project
from apportion.verbs.world import UTC_ZONE

TEAMS = pa.schema([("workload", TEXT), ("team", TEXT)])


@dataclass(frozen=True, slots=True)
class Owning:
    """The owner that a rule gives, where the rule stands (`line` 0: no rule matched), and the labels that it read."""

    owner: Owner
    file: str
    line: int
    labels: tuple[tuple[str, str], ...]


def owning(project: Project, period: Period, ids: Collection[str]) -> list[tuple[Owning, int]]:
    """How many of some workloads are whose in a month, by the policy that holds for it; the most first."""
    rows = project.books.scan("workloads", where=pc.field("workload").isin(plain_ids(ids)))
    rows = rows_named(rows, pa.array(sorted(ids), pa.string()))
    counts: Counter[Owning] = Counter()
    for _, of_row, found in seasons(policy_for(project, period), rows, window_of(rows).clip(period.interval(UTC_ZONE))):
        for number, count in zip(*np.unique(of_row, return_counts=True), strict=True):
            counts[found[number]] += int(count)
    return counts.most_common()


def teams_by_rule(policy: Policy, rows: pa.Table) -> pa.Table:
    """Workload and team, once for each team that the rules of some day make it."""
    made = [
        pa.table([ids, pa.array([one.owner.team for one in found], TEXT).take(pa.array(of_row))], schema=TEAMS)
        for ids, of_row, found in seasons(policy, rows, window_of(rows))
    ]
    return pa.concat_tables([TEAMS.empty_table(), *made]).group_by(TEAMS.names).aggregate([])


def seasons(
    policy: Policy, rows: pa.Table, window: Interval
) -> Iterator[tuple[pa.ChunkedArray, np.ndarray, list[Owning]]]:
    """For each stretch with one set of rules: the workloads, the number of each one's reading, and the readings."""
    if not len(rows):
        return
    united = unite(rows)
    found = combinations(united, asked_labels(policy))
    for season in seasons_of(policy, window):
        yield united["workload"], found.of_row, [reading(labels, policy, season) for labels in found.labels]


def window_of(rows: pa.Table) -> Interval:
    """When the workloads ran."""
    start, end = pc.min(rows["start_s"]).as_py() or 0, pc.max(rows["end_s"]).as_py() or 0
    return Interval(start, max(end, start + 1))


def reading(labels: Mapping[str, str], policy: Policy, season: Interval) -> Owning:
    owner, number = owner_of(labels, policy, season, []), first_rule(labels, policy, season)
    if number == NOBODY:
        return Owning(owner, policy.file, 0, ())
    rule = policy.owners[number]
    asked = sorted(rule.when.keys | named_in([rule.team, rule.project, rule.user]))
    read = tuple((key, value) for key in asked if (value := find_label(labels, key)) is not None)
    return Owning(owner, policy.file, policy.line("owners", number), read)
