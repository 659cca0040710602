"""Rules are written into a policy's text without touching a byte of the rest."""

import re

import pytest

from apportion.errors import PolicyError
from apportion.policy.diff import diff
from apportion.policy.edit import Edited, NewOwner, with_owner, with_setting
from apportion.policy.load import load_policy

HEAD = "policy: lab\neffective: 2026-01-01\ncurrency: USD\ntime_zone: UTC\nteams: {vision: {}, speech: {}}\n"
POOLS = "# money\npools:\n  gpus: {costs: otherwise, meter: gpu, method: proportional}   # all of it\n"
LISTED = """\
# whose it is
owners:
  # by account
  - {when: {account: "vis-*"}, team: vision}   # theirs

  # whatever is left
  - {when: {tag.team: "*"}, team: "{tag.team}"}
"""
LONG = """\
owners:
- when: {account: "vis-*"}
  team: vision
-
  when:
    account: spk-*   # two words
  team: speech

"""
FLOW = 'owners: [{when: {account: "vis-*"}, team: vision}, {when: {tag.team: "*"}, team: "{tag.team}"}]\n'
RULE = NewOwner("slurm.account", "odd-*", "speech", "{slurm.wckey}")
WRITTEN = '{when: {slurm.account: "odd-*"}, team: speech, project: "{slurm.wckey}"}'


def added(before: str, made: Edited) -> str:
    """What was put in, if the rest is as it was."""
    after = made.text
    start = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    size = len(after) - len(before)
    places = [n for n in range(start, -1, -1) if after[:n] + after[n + size :] == before]
    assert places, "something else changed"
    whole = next(after[n : n + size] for n in places if RULE.text in after[n : n + size])
    return whole.strip().strip(",").strip()


@pytest.mark.parametrize("place", [None, 0, 1, 2, 99])
@pytest.mark.parametrize("owners", [LISTED, LONG, FLOW, "", "owners:   # none yet\n", "owners: []\n"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_rule_goes_in_and_nothing_else_changes(owners: str, place: int | None, ending: str) -> None:
    text = (HEAD + owners + POOLS).replace("\n", ending)
    made = with_owner(text, "policy.yaml", RULE, place)
    assert WRITTEN in added(text, made)
    assert made.text.count("\r\n") in (0, made.text.count("\n"))
    assert WRITTEN in made.text.splitlines()[made.line - 1] + made.text.splitlines()[made.line]
    (change,) = diff(load_policy(text), load_policy(made.text))
    assert change.path[0] == "owners"
    assert change.old is None
    number = len(load_policy(text).owners)
    assert load_policy(made.text).owners[min(place, number) if place is not None else usual(owners)].team == "speech"


def usual(owners: str) -> int:
    return {LISTED: 1, LONG: 2, FLOW: 1}.get(owners, 0)


def test_a_rule_stands_above_the_remark_of_the_one_that_it_precedes() -> None:
    lines = with_owner(HEAD + LISTED + POOLS, "policy.yaml", RULE).text.splitlines()
    at = lines.index(f"  - {WRITTEN}")
    assert lines[at - 1] == ""
    assert lines[at + 1] == "  # whatever is left"


def test_a_text_without_a_last_newline_stays_without_one() -> None:
    text = HEAD + POOLS + LISTED.rstrip("\n")
    made = with_owner(text, "policy.yaml", RULE, 99)
    assert made.text == f"{text}\n  - {WRITTEN}"


@pytest.mark.parametrize(
    "rule",
    [
        NewOwner("k8s.label.trainer.kubeflow.org/framework", "*", "speech"),
        NewOwner("odd label: #1", 'quo"te\\ {x}', "null", "a b"),
        NewOwner("äccount", "true", "0123", "", "{slurm.user}"),
    ],
)
def test_whatever_a_label_or_team_is_called_it_is_read_back(rule: NewOwner) -> None:
    text = HEAD + LISTED + POOLS
    found = load_policy(with_owner(text, "policy.yaml", rule, 0).text).owners[0]
    (condition,) = found.when.conditions
    assert (condition.key, condition.globs[0].text) == (rule.label, rule.pattern)
    assert (found.team, found.project, found.user) == (rule.team, rule.project, rule.user)


def test_a_rule_that_is_none_is_refused_with_its_place() -> None:
    with pytest.raises(PolicyError) as told:
        with_owner(HEAD + LISTED + POOLS, "policy.yaml", NewOwner("account", "x", "speech", "{open"))
    assert re.fullmatch(r"policy\.yaml:11:\d+", told.value.where)


@pytest.mark.parametrize(
    ("path", "value", "was", "now"),
    [
        (("pools", "gpus", "method"), "capacity_rate", "method: proportional}", "method: capacity_rate}"),
        (("pools", "gpus", "driver"), "used", "method: proportional}", "method: proportional, driver: used}"),
        (("owners", 0, "team"), "speech", "team: vision}   # theirs", "team: speech}   # theirs"),
    ],
)
def test_a_setting_is_replaced_or_added_in_its_place(
    path: tuple[str | int, ...], value: str, was: str, now: str
) -> None:
    text = HEAD + LISTED + POOLS
    assert with_setting(text, "policy.yaml", path, value).text == text.replace(was, now)


def test_a_setting_is_added_after_the_last_line_of_its_pool() -> None:
    pools = (
        "pools:\n  gpus:\n    costs: otherwise\n    meter: gpu   # boards\n    idle:\n      unsold: even\n\n  # end\n"
    )
    made = with_setting(HEAD + pools, "policy.yaml", ("pools", "gpus", "driver"), "used")
    assert made.text == HEAD + pools.replace("unsold: even\n", "unsold: even\n    driver: used\n")
    whole = with_setting(HEAD + pools, "policy.yaml", ("pools", "gpus", "idle"), "central")
    assert load_policy(whole.text).pools["gpus"].idle["unsold"] == "central"


@pytest.mark.parametrize("path", [("pools", "tpus", "idle"), ("fx", "rate"), ("owners", 9, "team")])
def test_what_has_no_place_is_refused(path: tuple[str | int, ...]) -> None:
    with pytest.raises(PolicyError, match="there is no place for"):
        with_setting(HEAD + LISTED + POOLS, "policy.yaml", path, "even")
