"""The policy in sentences: all of it with its lines, or what is about some teams and nothing of the rest."""

from apportion.policy.aloud import Ears, Said, read_aloud
from apportion.policy.load import load_policy
from tests.web import world


def flat(said: tuple[Said, ...]) -> list[Said]:
    return [one for each in said for one in (each, *flat(each.parts))]


def test_every_rule_is_told_with_its_line() -> None:
    policy = load_policy(world.POLICY)
    told = {one.text: one.line for one in flat(read_aloud(policy))}
    assert told["gpus is shared by capacity_rate"] == policy.line("pools", "gpus")
    assert told["Work with slurm.account vis-* is vision's, project {slurm.wckey}, user {slurm.user}."] == 12
    assert told["-10 % for speech in gpus, paid by platform: moved to nights."] == policy.line("adjustments", 0)
    assert told["vision has 400 hours of gpu a month, told at 80 and 95 percent."] == policy.line("quotas", 0)
    assert told["What stands idle ends with platform."] == policy.line("carried_by")
    mentioned = {line for one in flat(read_aloud(policy)) for line in [one.line]}
    rules = [policy.line("owners", n) for n in range(4)] + [policy.line("teams", name) for name in policy.teams]
    assert set(rules) <= mentioned


def test_a_team_hears_its_own_clauses_and_pools_and_no_place() -> None:
    told = flat(read_aloud(load_policy(world.POLICY), Ears(frozenset({"speech"}), frozenset({"gpus"}))))
    texts = [one.text for one in told]
    assert "-10 % for speech in gpus: moved to nights." in texts
    assert "speech is promised 2 gpu of gpus from 2026-10-10 until 2026-10-12." in texts
    assert not [
        text for text in texts for word in (*world.SECRET, "vision", "platform", "disks", "vis-") if word in text
    ]
    assert not [one for one in told if one.line]


def test_a_pool_tells_a_team_its_share_and_not_whom_it_serves() -> None:
    pools = """\
  seats: {costs: {tag.team: zebra}, method: fixed, shares: {vision: 60, zebra: 40}}
  rest: {costs: otherwise, by: cost, over: [vision, zebra]}
  card:
    meter: gpu
    method: rate_card
    prices: [{when: {account: "zbr-*"}, price: 9}, {price: 2}]
    weights: {account: {zbr-one: 2}}
    credit: [{outcome: node_fail, percent: 100, paid_by: zebra}]
    free: {per: team, amount: 5h, paid_by: zebra}
"""
    text = world.POLICY[: world.POLICY.index("reservations:")] + "pools:\n" + pools
    told = flat(read_aloud(load_policy(text), Ears(frozenset({"vision"}), frozenset({"seats", "rest", "card"}))))
    texts = [one.text for one in told]
    assert "The shares are vision 60 percent." in texts
    assert "A price: price 2." in texts
    assert "A credit: outcome node_fail, percent 100." in texts
    assert not [text for text in texts for word in world.SECRET if word in text]
