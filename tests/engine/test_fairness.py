"""Which pools can be laid beside peak Shapley. What comes of it is checked by hand in tests/cli."""

from apportion.engine.fairness import why_not
from apportion.policy.load import load_policy

POLICY = """\
policy: every-kind
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}}
pools:
  gpus: {costs: {ServiceName: a}, meter: gpu}
  power: {costs: {ServiceName: b}, meter: energy, method: proportional}
  seats: {costs: {ServiceName: c}, method: even}
  cards: {usage: {node: dgx}, meter: gpu, method: rate_card, prices: [{per: hour, price: "1"}]}
  nodes: {costs: {ServiceName: d}, meter: {gpu: 9, cpu: 1}, method: resource_weighted}
  platform: {costs: {ServiceName: e}, method: step_down, serves: {gpus: 1}}
  rest: {costs: otherwise, by: cost}
"""


def test_a_pool_without_money_or_a_peak_of_its_own_is_not_compared() -> None:
    pools = load_policy(POLICY, "policy.yaml").pools
    assert {name: why_not(pool, None) for name, pool in pools.items()} == {
        "gpus": "no money",
        "power": "energy is a flow, which has no peak",
        "seats": "shared by even, not by metered usage",
        "cards": "charged by a price list",
        "nodes": "several resources side by side have no common peak",
        "platform": "its money goes to other pools",
        "rest": "shared by cost, not by metered usage",
    }
