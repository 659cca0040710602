"""What changes between two policies, and for which days."""

from datetime import date
from pathlib import Path

import pytest

from apportion.policy.diff import Change, diff
from apportion.policy.load import load_policy

TEXT = (Path(__file__).parent / "design.yaml").read_text(encoding="utf-8")
START = date(2026, 10, 1)


def changes(old: str, new: str, **options: date) -> tuple[Change, ...]:
    assert old in TEXT
    return diff(load_policy(TEXT), load_policy(TEXT.replace(old, new)), **options)


def one(old: str, new: str, **options: date) -> Change:
    (change,) = changes(old, new, **options)
    return change


def test_the_same_policy_has_no_changes() -> None:
    policy = load_policy(TEXT)
    assert diff(policy, load_policy("# again\n" + TEXT)) == ()


def test_a_changed_rule_restates() -> None:
    change = one("unsold: central", "unsold: proportional")
    assert change.path == ("pools", "h100", "idle", "unsold")
    assert (change.old, change.new, change.effect, change.since) == ("central", "proportional", "restates", START)
    assert (
        change.sentence
        == "pools.h100.idle.unsold changes from central to proportional; restates figures since 2026-10-01"
    )


def test_a_later_policy_goes_forward() -> None:
    old = load_policy(TEXT)
    new = load_policy(
        TEXT.replace("effective: 2026-10-01", "effective: 2026-11-01").replace("unsold: central", "unsold: even")
    )
    effective, idle = diff(old, new)
    assert (effective.path, effective.effect, effective.since) == (("effective",), "forward", date(2026, 11, 1))
    assert (idle.effect, idle.since) == ("forward", date(2026, 11, 1))
    assert idle.sentence == "pools.h100.idle.unsold changes from central to even; from 2026-11-01 on"
    assert {change.effect for change in diff(new, old)} == {"restates"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("policy: research-cluster", "policy: cluster"),
        ("protein folding push", "push"),
        ("hours: 20000", "hours: 30000"),
        ("tuning: 0.8", "tuning: 0.80"),
        ("meter: gpu                     #", "meter: {gpu: 1} #"),
        ("driver: allocated              #", "#"),
        ("by: cost, over: all}     #", "method: by_cost} #"),
    ],
)
def test_no_effect(old: str, new: str) -> None:
    found = changes(old, new)
    assert found
    assert {change.effect for change in found} == {"no effect"}
    assert {change.since for change in found} == {None}
    assert all(change.sentence.endswith("; no figure changes") for change in found)


def test_text_that_looks_like_a_number_is_text() -> None:
    assert one('cost_centre: "4711"', 'cost_centre: "04711"').effect == "restates"


def test_costs_that_become_the_rest() -> None:
    old = load_policy(TEXT.replace("rest: {costs: otherwise, by", "rest: {from: {owner: x}, by"))
    effects = {change.path[-1]: change.effect for change in diff(old, load_policy(TEXT))}
    assert effects == {"costs": "restates", "from": "restates"}


def test_a_rule_added_with_a_later_day_goes_forward() -> None:
    rule = "  - {when: {slurm.account: bio}, team: bio, from: 2026-12-05}\nfacets:"
    change = one("facets:", rule)
    assert (change.path, change.old, change.effect, change.since) == (("owners", 2), None, "forward", date(2026, 12, 5))
    assert (
        change.sentence
        == "owners[3] is added: {when: {slurm.account: bio}, team: bio, from: 2026-12-05}; from 2026-12-05 on"
    )
    assert one("facets:", rule, posted_until=date(2026, 12, 31)).effect == "restates"
    assert one("facets:", rule, posted_until=date(2026, 12, 4)).effect == "forward"


def test_a_rule_put_first_is_one_addition() -> None:
    change = one("  - when: {slurm.account:", "  - {when: {a: b}, team: x}\n  - when: {slurm.account:")
    assert (change.path, change.effect) == (("owners", 0), "restates")


def test_a_removed_rule() -> None:
    line = next(line for line in TEXT.splitlines(keepends=True) if "preemptible" in line)
    change = one(line, "")
    assert (change.path, change.new, change.effect, change.since) == (("adjustments", 1), None, "restates", START)
    assert change.sentence.startswith("adjustments[2] is removed: {when: {qos: preemptible}")


def test_an_end_that_moves_changes_only_the_days_after_it() -> None:
    change = one("until: 2026-12-31", "until: 2026-11-15")
    assert (change.effect, change.since) == ("forward", date(2026, 11, 16))
    assert one("until: 2026-12-31, ", "").since == date(2027, 1, 1)


def test_a_rule_that_ended_before_has_no_effect() -> None:
    ended = "  - {team: ads, percent: 1, sponsor: x, until: 2026-09-30, why: y}\nquotas:"
    assert one("quotas:", ended).effect == "no effect"


def test_order_of_pools() -> None:
    lines = TEXT.splitlines(keepends=True)
    at = next(step for step, line in enumerate(lines) if line.startswith("  storage:"))
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    (change,) = diff(load_policy(TEXT), load_policy("".join(lines)))
    assert (change.path, change.effect) == (("pools",), "restates")
    assert change.new[2:4] == ["licences", "storage"]


def test_teams_by_name_alone_and_empty_sections() -> None:
    change = one("carried_by:", "  bio:\ncarried_by:")
    assert (change.path, change.old, change.new) == (("teams", "bio"), None, {})
    head = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"
    assert diff(load_policy(head), load_policy(head + "owners:\n")) == ()
    (added,) = diff(load_policy(head), load_policy(head + "pools: {p: {costs: otherwise, by: cost}}\n"))
    assert added.effect == "restates"


def test_prices_have_their_own_days() -> None:
    change = one('price: "2.10"}]', 'price: "2.10"}, {per: hour, price: 3, from: 2027-01-01}]')
    assert (change.path, change.since) == (("pools", "cards", "prices", 1), date(2027, 1, 1))
