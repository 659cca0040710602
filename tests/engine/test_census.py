"""A census says of everybody what the rules say, though it asks them once for all who look alike to them."""

from itertools import product
from typing import TYPE_CHECKING

from apportion.engine.workloads import Census, facets_of, owner_of
from apportion.model.times import parse_period
from apportion.policy.load import load_policy
from apportion.verbs.world import UTC_ZONE

if TYPE_CHECKING:
    from apportion.errors import Problem

POLICY = """\
policy: census
effective: 2026-01-01
currency: USD
time_zone: UTC
pools: {}
teams:
  vision: {department: research, class: gold}
owners:
  - {when: {slurm.account: "v*"}, team: vision, project: "{wckey}", user: "{slurm.user}"}
  - {when: {namespace: {not: "kube-*"}}, team: "{namespace}"}
facets:
  - {when: {class: gold, name: "train*"}, phase: training}
  - {when: {phase: training}, framework: "{qos}"}
  - {when: {name: "*"}, phase: other}
"""
ASKED = {
    "slurm.account": ("v1", "v2", "x"),
    "slurm.wckey": ("detect", None),
    "slurm.user": ("ada", "_idle"),
    "k8s.namespace": ("speech", "kube-system", None),
    "name": ("train-1", "eval", None),
    "slurm.qos": ("high", None),
    "resource": ("n1", "n2"),  # no rule reads it
}


def test_the_same_persons_and_problems_as_asked_one_by_one() -> None:
    policy, month = load_policy(POLICY), parse_period("2026-10").interval(UTC_ZONE)
    everybody = [
        {key: value for key, value in zip(ASKED, values, strict=True) if value is not None}
        for values in product(*ASKED.values())
    ]
    problems: list[Problem] = []
    census = Census(policy, month, problems)
    met = [census.person(labels) for labels in everybody]
    alone: list[Problem] = []
    owners = [owner_of(labels, policy, month, alone) for labels in everybody]
    assert [one.owner for one in met] == owners
    assert problems == alone
    assert len({problem.row for problem in problems}) > 1
    for one in met:
        given = {key: value for key, value in one.labels.items() if key not in ("phase", "framework")}
        assert one.labels == given | facets_of(given, policy)
        assert census.facets(one.labels) == facets_of(one.labels, policy)
    assert {one.labels.get("phase") for one in met} == {"training", "other", None}
    assert {one.owner.team for one in met} == {"vision", "speech", "_unallocated"}
