"""Every refusal, with its code, its exact place (marked § in the text) and the word that was probably meant."""

import pytest

from apportion.errors import PolicyError
from apportion.policy.load import load_policy

HEAD = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"
POOL = "pools:\n  h100: {costs: {ServiceName: EC2}, meter: gpu}\n"


def refusal(marked: str) -> tuple[PolicyError, str]:
    """The error for the text without its mark, and the place of the mark."""
    before, _, after = marked.partition("§")
    lines = before.split("\n")
    with pytest.raises(PolicyError) as caught:
        load_policy(before + after, "lab.yaml")
    return caught.value, f"lab.yaml:{len(lines)}:{len(lines[-1]) + 1}"


def pool(inside: str) -> str:
    return f"{HEAD}pools:\n  h100: {{costs: {{ServiceName: EC2}}, {inside}}}\n"


HEADS = [
    ("policy-missing-key", "§effective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n", "add policy"),
    ("policy-missing-key", "§policy: lab\ncurrency: USD\ntime_zone: UTC\n", "add effective"),
    ("policy-missing-key", "§policy: lab\neffective: 2026-10-01\ntime_zone: UTC\n", "add currency"),
    ("policy-missing-key", "§policy: lab\neffective: 2026-10-01\ncurrency: USD\n", "add time_zone"),
    ("policy-type", "§policy:\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n", "leave the key out"),
    ("policy-type", "policy: §[a]\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n", ""),
    ("policy-value", "policy: §_lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n", "another name"),
    ("policy-value", 'policy: §" lab"\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n', ""),
    ("policy-type", "policy: lab\neffective: §October\ncurrency: USD\ntime_zone: UTC\n", "2026-10-01"),
    ("policy-value", "policy: lab\neffective: §2026-02-30\ncurrency: USD\ntime_zone: UTC\n", "day of the month"),
    ("policy-value", "policy: lab\neffective: §0001-01-01\ncurrency: USD\ntime_zone: UTC\n", ""),
    ("policy-value", "policy: lab\neffective: 2026-10-01\ncurrency: §USDD\ntime_zone: UTC\n", "did you mean 'USD'?"),
    ("policy-value", "policy: lab\neffective: 2026-10-01\ncurrency: §usd\ntime_zone: UTC\n", "did you mean 'USD'?"),
    (
        "policy-value",
        "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: §Europe/Berln\n",
        "did you mean 'Europe/Berlin'?",
    ),
    ("policy-value", "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: §localtime\n", "IANA"),
    ("policy-value", "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: §{}\n", "IANA"),
    ("policy-unknown-key", HEAD + "§poools: {}\n", "did you mean 'pools'?"),
    ("policy-unknown-key", HEAD + "§text: x\n", "known: "),
    ("policy-value", HEAD + "basis: §billd\n", "did you mean 'billed'?"),
    ("policy-value", HEAD + "fx: {table: fx.csv, rate: §month_avrage}\n", "did you mean 'month_average'?"),
    ("policy-missing-key", HEAD + "fx: §{rate: month_end}\n", "add table"),
]

FINANCE = [
    ("policy-value", pool("meter: gpu, mode: §chargebak"), "did you mean 'chargeback'?"),
    ("policy-template", HEAD + 'statements: {number: §"INV-{nummer}"}\n', "did you mean 'number'?"),
    ("policy-template", HEAD + 'statements: {number: §"INV-{year}"}\n', "known: {number}, {period}, {year}"),
    ("policy-template", HEAD + 'statements: {number: §"{number"}\n', "known: {number}"),
    ("policy-type", HEAD + "statements: {number: §[a]}\n", ""),
    ("policy-unknown-key", HEAD + "statements: {§isuer: us}\n", "did you mean 'issuer'?"),
    ("policy-type", HEAD + "journal: §2400\n", "clearing"),
    ("policy-type", HEAD + "journal: {clearing: {AWS: §[a]}}\n", ""),
    ("policy-value", HEAD + "journal: {clearing: {§" + "a" * 501 + ": '1'}}\n", ""),
    ("policy-unknown-key", HEAD + "journal: {central: {§acount: '1'}}\n", "did you mean 'account'?"),
    ("policy-value", HEAD + "journal: {reasons: {§idel: '1'}}\n", "did you mean 'idle'?"),
    ("policy-value", HEAD + "journal: {negative: §flipped}\n", "known: kept, turned"),
    ("policy-value", HEAD + "journal: {accounts: {compute: §_x}}\n", "another name"),
]

RULES = [
    ("policy-type", HEAD + "teams: §[vision]\n", ""),
    ("policy-type", HEAD + "teams: {vision: §research}\n", "cost_centre"),
    ("policy-unknown-key", HEAD + "teams: {vision: {§departmnt: research}}\n", "did you mean 'department'?"),
    ("policy-value", HEAD + "teams: {vision: {mode: §chargebak}}\n", "did you mean 'chargeback'?"),
    ("policy-value", HEAD + "teams: {§_vision: {}}\n", "another name"),
    ("policy-unknown-key", HEAD + "carried_by: {§_idel: finance}\n", "did you mean '_idle'?"),
    ("policy-value", HEAD + "carried_by: {_idle: §_unallocated}\n", "another name"),
    ("policy-type", HEAD + "owners: §{team: vision}\n", ""),
    ("policy-missing-key", HEAD + "owners:\n  - §team: vision\n", "add when"),
    ("policy-missing-key", HEAD + "owners:\n  - §when: {account: v}\n", "add team"),
    (
        "policy-unknown-key",
        HEAD + "owners:\n  - {when: {account: v}, team: v, §projct: x}\n",
        "did you mean 'project'?",
    ),
    ("policy-template", HEAD + 'owners:\n  - {when: {account: v}, team: §"{account"}\n', "{{"),
    ("policy-template", HEAD + 'owners:\n  - {when: {account: v}, team: §"{}"}\n', "{{"),
    ("policy-template", HEAD + 'owners:\n  - {when: {account: v}, team: v, project: §"a}b"}\n', "{{"),
    ("policy-template", HEAD + 'owners:\n  - {when: {account: v}, team: v, user: §"{ account}"}\n', "{{"),
    ("policy-value", HEAD + "owners:\n  - {when: {account: v}, team: §_idle}\n", "another name"),
    ("policy-value", HEAD + 'owners:\n  - {when: {account: v}, team: §"_{account}"}\n', "another name"),
    (
        "policy-value",
        HEAD + "owners:\n  - {when: {account: v}, team: v, from: 2026-11-02, until: §2026-11-01}\n",
        "last day",
    ),
    ("policy-type", HEAD + "owners:\n  - {when: §vision, team: v}\n", ""),
    ("policy-type", HEAD + "owners:\n  - {when: {account: §{no: v}}, team: v}\n", ""),
    ("policy-type", HEAD + "owners:\n  - {when: {account: [a, §[b]]}, team: v}\n", ""),
    ("policy-type", HEAD + "owners:\n  - {when: {account: §[]}, team: v}\n", ""),
    ("policy-type", HEAD + "owners:\n  - {when: {§account: }, team: v}\n", ""),
    ("policy-type", HEAD + "owners:\n  - {when: {account: {not: §{a: b}}}, team: v}\n", ""),
    ("policy-type", HEAD + "owners:\n  - {when: {not: §vision}, team: v}\n", ""),
    ("policy-type", HEAD + "owners:\n  - {when: {not: {account: §{}}}, team: v}\n", ""),
    (
        "policy-unknown-key",
        HEAD + "facets:\n  - {when: {account: v}, §phse: training}\n",
        "did you mean 'phase'?",
    ),
    ("policy-missing-key", HEAD + "facets:\n  - §{when: {account: v}}\n", "outcome"),
    ("policy-template", HEAD + 'facets:\n  - {when: {account: v}, model: §"{x"}\n', ""),
    (
        "policy-reference",
        HEAD + POOL + "reservations:\n  - {team: bio, pool: §h10, meter: gpu, amount: 1}\n",
        "did you mean 'h100'?",
    ),
    (
        "policy-reference",
        HEAD + POOL + "reservations:\n  - {team: bio, pool: h100, meter: §gpus, amount: 1}\n",
        "did you mean 'gpu'?",
    ),
    ("policy-type", HEAD + POOL + "reservations:\n  - {team: bio, pool: h100, meter: gpu, amount: §many}\n", ""),
    ("policy-value", HEAD + POOL + "reservations:\n  - {team: bio, pool: h100, meter: gpu, amount: §-1}\n", ""),
    ("policy-value", HEAD + POOL + "reservations:\n  - {team: bio, pool: h100, meter: gpu, amount: §0}\n", ""),
    ("policy-value", HEAD + POOL + "reservations:\n  - {team: bio, pool: h100, meter: node, amount: §0.5}\n", ""),
    ("policy-value", HEAD + POOL + "reservations:\n  - {team: b, pool: h100, meter: energy, amount: §1}\n", "a level"),
    ("policy-value", HEAD + "adjustments:\n  - {percent: §-101, sponsor: x, why: y}\n", "the least is -100"),
    ("policy-type", HEAD + "adjustments:\n  - {percent: §-10%, sponsor: x, why: y}\n", "digits"),
    ("policy-missing-key", HEAD + "adjustments:\n  - §{percent: -10, why: y}\n", "add sponsor"),
    ("policy-missing-key", HEAD + "adjustments:\n  - §{percent: -10, sponsor: x}\n", "add why"),
    ("policy-missing-key", HEAD + "adjustments:\n  - §{sponsor: x, why: y}\n", "percent"),
    ("policy-value", HEAD + "adjustments:\n  - {percent: -10, sponsor: §_idle, why: y}\n", ""),
    ("policy-value", HEAD + "adjustments:\n  - {team: a, percent: 1, smooth: §2, sponsor: x, why: y}\n", "write two"),
    ("policy-value", HEAD + "adjustments:\n  - {team: a, cap: 10, floor: §20, sponsor: x, why: y}\n", ""),
    ("policy-value", HEAD + "adjustments:\n  - {team: a, smooth: §-1, sponsor: x, why: y}\n", ""),
    ("policy-missing-key", HEAD + "adjustments:\n  - §{cap: 10, sponsor: x, why: y}\n", "add team"),
    ("policy-missing-key", HEAD + "adjustments:\n  - §{grant: 10, sponsor: x, why: y}\n", "add team"),
    ("policy-value", HEAD + "adjustments:\n  - {team: a, grant: §0, sponsor: x, why: y}\n", ""),
    ("policy-value", HEAD + "adjustments:\n  - {team: a, cap: 10, grant: §5, sponsor: x, why: y}\n", "write two"),
    (
        "policy-value",
        HEAD + "adjustments:\n  - {team: a, grant: 5, when: §{qos: x}, sponsor: x, why: y}\n",
        "remove when",
    ),
    ("policy-type", HEAD + "adjustments:\n  - {percent: -10, sponsor: x, why: y, approver: §[a]}\n", ""),
    ("policy-value", HEAD + "close: {disputes: §alow}\n", "did you mean 'allow'?"),
    (
        "policy-value",
        HEAD + POOL + "adjustments:\n  - {team: a, pool: §h100, cap: 10, sponsor: x, why: y}\n",
        "remove pool",
    ),
    (
        "policy-reference",
        HEAD + POOL + "adjustments:\n  - {pool: §h1000, percent: 1, sponsor: x, why: y}\n",
        "did you mean 'h100'?",
    ),
    ("policy-value", HEAD + "quotas:\n  - {team: a, meter: gpu, hours: 1, per: §mnth}\n", "did you mean 'month'?"),
    ("policy-value", HEAD + "quotas:\n  - {team: a, meter: gpu, §amount: 1, per: month}\n", "hours"),
    ("policy-missing-key", HEAD + "quotas:\n  - §{team: a, hours: 1, per: month}\n", "add meter"),
    ("policy-missing-key", HEAD + "quotas:\n  - §{team: a, meter: gpu, per: month}\n", ""),
    ("policy-value", HEAD + "quotas:\n  - {team: a, meter: gpu, hours: 1, money: §2, per: month}\n", ""),
    ("policy-value", HEAD + "quotas:\n  - {team: a, meter: gpu, hours: 1, per: day, warn: [95, §80]}\n", "[80, 95]"),
    (
        "policy-value",
        HEAD + "quotas:\n  - {team: a, meter: gpu, hours: 1, per: day, enforce: §slrum}\n",
        "did you mean 'slurm'?",
    ),
    ("policy-reference", HEAD + "quotas:\n  - {team: a, pool: §h100, money: 1, per: day}\n", "none is declared"),
]

POOLS = [
    ("policy-unknown-key", pool("meter: gpu, §metre: gpu"), "did you mean 'meter'?"),
    ("policy-unknown-key", pool("meter: gpu, §otherwise: true"), ""),
    ("policy-reference", pool("meter: §gpuu"), "did you mean 'gpu'?"),
    ("policy-reference", pool("meter: {gpu: 1, §cpuu: 2}"), "did you mean 'cpu'?"),
    ("policy-type", pool("meter: {gpu: §much}"), ""),
    ("policy-type", pool("meter: §[gpu]"), ""),
    ("policy-value", pool("meter: {gpu: §-1}"), "the least is 0"),
    ("policy-value", pool("meter: §{gpu: 0}"), ""),
    ("policy-value", pool("meter: §{gpu: 1, energy: 1}"), "two pools"),
    ("policy-value", pool("meter: §gpu, method: energy_two_part, static_share: 0.3"), "{gpu: 1, energy: 1}"),
    (
        "policy-missing-key",
        HEAD + "pools:\n  h100: §{costs: {a: b}, meter: {gpu: 1, energy: 1}, method: energy_two_part}\n",
        "static_share",
    ),
    ("policy-value", pool("meter: {gpu: 1, energy: 1}, method: energy_two_part, static_share: §2"), "the most is 1"),
    ("policy-value", pool("meter: gpu, §static_share: 1"), "energy_two_part"),
    ("policy-value", pool("meter: §{gpu: 1, energy: 1}, method: resource_weighted"), "two pools"),
    ("policy-value", pool("meter: {gpu: 1, cpu: §-1}, method: dominant_share"), "the least is 0"),
    ("policy-reference", pool("method: reciprocal, serves: {§h10: 1}"), "did you mean 'h100'?"),
    ("policy-loop", pool("method: reciprocal, serves: §{h100: 1}"), "shared by use"),
    ("policy-value", pool("method: reciprocal, serves: §{h100: 0}"), "greater than 0"),
    ("policy-value", pool("method: step_down, serves: {h100: §-1}"), "the least is 0"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{costs: {a: b}, method: step_down}\n", "serves"),
    ("policy-value", pool("meter: gpu, §serves: {a: 1}"), "reciprocal"),
    (
        "policy-loop",
        HEAD
        + "pools:\n  a: {costs: {x: y}, method: step_down, serves: §{b: 1}}\n  b: {costs: {x: z}, method: step_down, serves: {a: 1}}\n",
        "shared by use",
    ),
    (
        "policy-value",
        HEAD
        + "pools:\n  a: {costs: {x: y}, method: step_down, serves: {c: 1}}\n  b: {costs: {x: z}, method: §reciprocal, serves: {c: 1}}\n"
        "  c: {costs: otherwise, method: even}\n",
        "one of the two",
    ),
    (
        "policy-value",
        HEAD
        + "pools:\n  a: {costs: {x: y}, method: step_down, serves: {§c: 1}}\n  c: {costs: otherwise, method: direct}\n",
        "that is shared",
    ),
    ("policy-value", pool("meter: gpu, driver: §alocated"), "did you mean 'allocated'?"),
    ("policy-type", pool("meter: gpu, driver: §blend"), "{blend: 0.5}"),
    ("policy-value", pool("meter: gpu, driver: {blend: §1.5}"), "the most is 1"),
    ("policy-unknown-key", pool("meter: gpu, driver: {§kind: used}"), "blend"),
    ("policy-type", pool("meter: gpu, driver: §[used]"), ""),
    ("policy-value", pool("meter: gpu, method: §proportionl"), "did you mean 'proportional'?"),
    ("policy-value", pool("meter: gpu, method: §[even]"), ""),
    ("policy-value", pool("by: §costs"), "did you mean 'cost'?"),
    ("policy-value", pool("method: even, §by: cost"), "remove one"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{costs: {a: b}}\n", "by: cost"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{from: {owner: x}}\n", "add `by: cost`"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{meter: gpu}\n", "costs"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{costs: {a: b}, method: proportional}\n", "add meter"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{costs: {a: b}, method: time}\n", "add meter"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{costs: {a: b}, method: capacity_rate}\n", "add meter"),
    (
        "policy-missing-key",
        HEAD + "pools:\n  h100: §{costs: {a: b}, method: rate_card, prices: [{price: 1}]}\n",
        "add meter",
    ),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{meter: gpu, method: rate_card}\n", "add prices"),
    ("policy-missing-key", HEAD + "pools:\n  h100: §{costs: {a: b}, method: fixed}\n", "add shares"),
    ("policy-value", pool("method: even, §shares: {a: 50}"), "method fixed"),
    ("policy-value", pool("meter: gpu, §members: [a]"), "method even"),
    ("policy-value", pool("meter: gpu, §prices: [{price: 1}]"), "method rate_card"),
    ("policy-value", pool("meter: gpu, §over: all"), "`by: cost`"),
    ("policy-value", pool("meter: gpu, §from: {owner: x}"), "`by: cost`"),
    ("policy-unknown-key", pool("by: cost, from: {§team: x}"), "owner"),
    ("policy-type", pool("by: cost, over: §everyone"), "over: all"),
    ("policy-type", pool("by: cost, over: §[]"), "over: all"),
    ("policy-value", pool("by: cost, over: [a, §_idle]"), ""),
    ("policy-value", pool("by: cost, over: [a, §a]"), "keep one"),
    ("policy-value", pool("method: even, members: §[]"), ""),
    ("policy-value", pool("method: even, members: [a, §a]"), ""),
    ("policy-value", pool("method: fixed, shares: {a: 60, b: §41}"), "percents"),
    ("policy-value", pool("method: fixed, shares: {a: §-1}"), ""),
    ("policy-value", pool("method: fixed, shares: §{a: 0}"), ""),
    ("policy-value", pool("meter: gpu, scope: §nodes"), "pool, resource"),
    ("policy-value", pool("meter: gpu, slot: §hours"), "did you mean 'hour'?"),
    ("policy-value", pool("meter: gpu, idle_slot: §week"), ""),
    ("policy-value", pool("meter: gpu, weights: {phase: {tuning: §-0.1}}"), "the least is 0"),
    ("policy-type", pool("meter: gpu, weights: {phase: §0.8}"), ""),
    ("policy-value", pool("meter: gpu, idle: §centrl"), "did you mean 'central'?"),
    ("policy-value", pool("meter: gpu, idle: §holder"), "reserved: holder"),
    ("policy-unknown-key", pool("meter: gpu, idle: {§unsld: central}"), "did you mean 'unsold'?"),
    ("policy-value", pool("meter: gpu, idle: {unsold: §holder}"), "reserved and held"),
    ("policy-value", pool("meter: gpu, idle: {held: central, down: §holder}"), "reserved and held"),
    ("policy-value", pool("meter: gpu, idle: {held: §holdr}"), "did you mean 'holder'?"),
    ("policy-type", pool("meter: gpu, idle: §[central]"), ""),
    ("policy-value", pool("meter: gpu, credit: [{outcome: failed, percent: §101, paid_by: x}]"), "the most is 100"),
    ("policy-value", pool("meter: gpu, credit: [{outcome: failed, percent: §-1, paid_by: x}]"), "the least is 0"),
    ("policy-value", pool("meter: gpu, credit: [{outcome: §node_fial, percent: 1, paid_by: x}]"), "'node_fail'"),
    ("policy-value", pool("meter: gpu, credit: [{outcome: failed, percent: 1, paid_by: §_idle}]"), ""),
    ("policy-value", pool("meter: gpu, credit: [{outcome: failed, percent: 1, paid_by: x, max_hours: §0}]"), ""),
    ("policy-value", pool("meter: gpu, method: rate_card, prices: [{price: §-1}]"), ""),
    ("policy-type", pool("meter: gpu, method: rate_card, prices: [{price: §$2}]"), ""),
    ("policy-value", pool("meter: gpu, method: rate_card, prices: [{price: 1, per: §unit}]"), "per: hour"),
    ("policy-value", pool("meter: energy, method: rate_card, prices: [§{price: 1}]"), "per: unit"),
    ("policy-value", pool("meter: gpu, method: rate_card, prices: [{price: 1, per: §minute}]"), "hour, unit"),
    (
        "policy-value",
        pool("meter: gpu, method: rate_card, prices: [{price: 1, from: 2027-01-01, until: §2026-01-01}]"),
        "",
    ),
    (
        "policy-type",
        pool("meter: gpu, method: rate_card, prices: [{price: 1}], free: {per: user, amount: §100d, paid_by: x}"),
        "",
    ),
    (
        "policy-value",
        pool("meter: gpu, method: rate_card, prices: [{price: 1}], free: {per: §users, amount: 1h, paid_by: x}"),
        "'user'",
    ),
    ("policy-value", pool("meter: gpu, basis: §gross"), ""),
    ("policy-value", pool("meter: gpu, on_zero: §eror"), "did you mean 'error'?"),
    ("policy-value", pool("meter: gpu, method: coincident_peak, k: §0"), "the least is 1"),
    ("policy-value", pool("meter: gpu, method: coincident_peak, k: §1.5"), ""),
    ("policy-value", pool("meter: gpu, §k: 2"), "method coincident_peak"),
    ("policy-value", pool("meter: gpu, §burst_price: 2"), "method two_part"),
    ("policy-value", pool("meter: gpu, method: two_part, burst_price: §-2"), "the least is 0"),
    ("policy-value", pool("meter: gpu, method: two_part, scope: §resource"), "one pool per kind"),
    ("policy-value", pool("meter: §energy, method: two_part"), "name levels"),
    ("policy-value", pool("meter: gpu, method: temporal_shapley, slot: §period"), "slot: hour"),
    ("policy-value", pool("meter: gpu, method: peak_shapley, slot: §period"), "slot: hour"),
    ("policy-type", pool("meter: gpu, method: temporal_shapley, weighted: §maybe"), ""),
    ("policy-value", pool("meter: gpu, §weighted: true"), "method temporal_shapley"),
    (
        "policy-missing-key",
        HEAD + "pools:\n  h100: §{costs: {ServiceName: x}, meter: gpu, method: time_of_use}\n",
        "times",
    ),
    ("policy-type", pool('meter: gpu, method: time_of_use, times: [{from: §"24:00", weight: 2}]'), "23:59"),
    (
        "policy-value",
        pool('meter: gpu, method: time_of_use, times: [{from: "18:00", until: §"08:00", weight: 2}]'),
        "midnight",
    ),
    ("policy-value", pool("meter: gpu, method: time_of_use, times: [{weight: §-1}]"), "the least is 0"),
    ("policy-value", pool("meter: gpu, method: time_of_use, times: [{days: §mondays, weight: 1}]"), ""),
    ("policy-value", HEAD + "pools:\n  h100: {costs: §otherwize, by: cost}\n", "did you mean 'otherwise'?"),
    ("policy-value", HEAD + "pools:\n  §_h100: {costs: otherwise, by: cost}\n", "another name"),
    ("policy-type", HEAD + "pools:\n  §h100:\n  h200: {costs: otherwise, by: cost}\n", ""),
]

YAMLS = [
    ("policy-type", "§", "policy: NAME"),
    ("policy-type", "§# nothing but a comment\n", "policy: NAME"),
    ("policy-type", "§just words\n", "policy"),
    ("policy-type", "§- a\n- b\n", "policy"),
    ("policy-yaml", "policy: lab§: x\n", "quote"),
    ("policy-yaml", "policy: [a, b\neffective§: x\n", "brackets"),
    ("policy-yaml", "policy: lab\n§\tcurrency: USD\n", ""),
    ("policy-yaml", '§policy: "\\UFFFFFFFF"\n', ""),
    ("policy-yaml", 'policy: §"\\uD800"\n', "remove it"),
    ("policy-yaml", 'policy: §"a\\0b"\n', "remove it"),
    ("policy-yaml", "§policy: \x07\n", ""),
    ("policy-yaml", "policy: §!!python/name:os.system x\n", "remove the tag"),
    ("policy-yaml", "policy: §*lab\n", ""),
    ("policy-yaml", "policy: &lab [§*lab]\n", ""),
    ("policy-yaml", HEAD + "§<<: {basis: list}\n", "alias the whole value"),
    ("policy-yaml", HEAD + "§---\npolicy: other\n", "second"),
    ("policy-type", HEAD + "§[a, b]: c\n", "quote"),
    ("policy-duplicate-key", HEAD + "§currency: EUR\n", "keep one"),
    ("policy-duplicate-key", HEAD + "teams: {vision: {}, §vision: {}}\n", "keep one"),
    ("policy-duplicate-key", HEAD + "teams: {caf\u00e9: {}, §cafe\u0301: {}}\n", "keep one"),
]


@pytest.mark.parametrize(("code", "marked", "hint"), [*HEADS, *RULES, *FINANCE, *POOLS, *YAMLS])
def test_refused_with_code_place_and_remedy(code: str, marked: str, hint: str) -> None:
    error, place = refusal(marked)
    assert (error.code, error.where) == (code, place), error
    assert hint in error.hint, error
    assert len(error.message) > 10
    assert str(error).startswith(f"error[{code}]: ")


def test_two_pools_that_claim_the_same_lines_are_both_named() -> None:
    text = HEAD + "pools:\n  a: {costs: {x: y}, by: cost}\n  b: {costs: {x: y}, method: even}\n"
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "lab.yaml")
    assert caught.value.code == "policy-overlap"
    assert caught.value.where == "lab.yaml:6:14 and lab.yaml:7:14"
    assert "'a' and 'b'" in caught.value.message


def test_only_one_pool_takes_the_rest() -> None:
    text = HEAD + "pools:\n  a: {costs: otherwise, by: cost}\n  b: {costs: otherwise, method: even}\n"
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "lab.yaml")
    # `otherwise` is no key of the typed pool, yet its place is that of the word
    assert (caught.value.code, caught.value.where) == ("policy-overlap", "lab.yaml:6:14 and lab.yaml:7:14")


def test_the_first_of_several_mistakes_in_the_text_is_told() -> None:
    error, place = refusal(HEAD + "quotas: §x\nadjustments: y\nbasis: z\n")
    assert (error.code, error.where) == ("policy-type", place)


def test_an_alias_is_refused_where_it_is_used() -> None:
    error, place = refusal(
        HEAD + "teams: {a: {department: &d [x]}, b: {}}\n".replace("&d [x]", "&d x") + "owners: §*d\n"
    )
    assert (error.code, error.where) == ("policy-type", place)


def test_numbers_are_bounded() -> None:
    for number in ("9" * 5000, "1e999999", "nan", ".inf", "0x10", "1_000", "1/0", "\u0663"):
        error, place = refusal(pool(f"meter: {{gpu: §{number}}}"))
        assert (error.code, error.where) == ("policy-type", place)
