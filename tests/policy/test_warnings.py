"""What is allowed but told: a sentence with its place for each doubt, and none where there is nothing to doubt."""

import pytest

from apportion.policy.load import load_policy

HEAD = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"
POOL = "pools:\n  p: {costs: {ServiceName: EC2}, meter: gpu}\n"


def pool(inside: str) -> str:
    return f"{HEAD}pools:\n  p: {{costs: {{ServiceName: EC2}}, {inside}}}\n"


@pytest.mark.parametrize(
    ("marked", "words"),
    [
        (HEAD.replace("2026-10-01", "§2026-10-02") + POOL, "start of a month"),
        ("§" + HEAD, "every cost line stays unallocated"),
        (
            HEAD + POOL + "teams: {vision: {}}\nadjustments: [{team: §vison, percent: 1, sponsor: x, why: y}]\n",
            "'vision'?",
        ),
        (HEAD + POOL + "teams: {vision: {}}\nquotas: [{team: §vison, money: 1, per: day}]\n", "did you mean 'vision'?"),
        (HEAD + POOL + "reservations: [{team: §bio, pool: p, meter: gpu, amount: 1}]\n", "none is declared"),
        ("teams: {a: {}}\n" + pool("method: fixed, shares: {a: 1, §b: 2}"), "team 'b'"),
        ("teams: {a: {}}\n" + pool("method: even, members: [a, §b]"), "team 'b'"),
        ("teams: {a: {}}\n" + pool("by: cost, over: [§b, a]"), "team 'b'"),
        (
            HEAD + POOL + "owners:\n- {when: {a: b}, team: x}\n- §{when: {a: b}, team: y}\n",
            "rule 2 is never reached: rule 1",
        ),
        (HEAD + POOL + "owners:\n- {when: {}, team: x}\n- §{when: {a: b}, team: y}\n", "never reached"),
        (
            "teams: {a: {}}\n" + HEAD + POOL + "reservations: [{team: a, pool: p, meter: §cpu, amount: 1}]\n",
            "pool 'p' counts gpu",
        ),
        (HEAD + POOL + "facets: [{when: {a: b}, phase: §trainning}]\n", "did you mean 'training'?"),
        (pool("meter: gpu, weights: {phase: {§tunning: 2}}"), "did you mean 'tuning'?"),
        (pool("meter: gpu, component: §computing"), "did you mean 'compute'?"),
        (pool("method: even, §idle: central"), "idle has no effect with the method even"),
        (pool("meter: gpu, method: proportional, §idle: central"), "idle has no effect"),
        (pool("method: even, §meter: gpu"), "meter has no effect"),
        (pool("meter: gpu, method: time, §driver: used"), "driver has no effect"),
        (HEAD + "pools:\n  p: {costs: {§ServiceNam: EC2}, meter: gpu}\n", "did you mean 'ServiceName'?"),
        (HEAD + "pools:\n  p: {costs: {§servicename: EC2}, meter: gpu}\n", "did you mean 'ServiceName'?"),
    ],
)
def test_told_with_its_place(marked: str, words: str) -> None:
    before, _, after = marked.partition("§")
    lines = before.split("\n")
    (warning,) = load_policy(before + after, "lab.yaml").warnings
    assert warning.startswith(f"lab.yaml:{len(lines)}:{len(lines[-1]) + 1}: ")
    assert words in warning


@pytest.mark.parametrize(
    "text",
    [
        HEAD + POOL,
        HEAD
        + POOL
        + "owners: [{when: {a: b}, team: bio}]\nreservations: [{team: bio, pool: p, meter: gpu, amount: 1}]\n",
        HEAD + POOL + "owners:\n- {when: {a: b}, team: x, until: 2026-10-09}\n- {when: {a: b}, team: y}\n",
        HEAD + POOL + 'facets: [{when: {a: b}, phase: "{step}"}]\n',
        pool("meter: gpu, weights: {phase: {t*: 2}}"),
        pool("meter: gpu, component: energy"),
        HEAD + "pools:\n  p: {costs: {tag.team: EC2, team: x}, meter: gpu}\n",
        pool("by: cost, from: {owner: whoever}"),
    ],
)
def test_nothing_to_tell(text: str) -> None:
    assert load_policy(text).warnings == ()
