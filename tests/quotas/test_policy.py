"""What contradicts itself among quotas is refused with its place; the rest is read as it was meant."""

from fractions import Fraction

import pytest

from apportion.errors import PolicyError
from apportion.policy.aloud import read_aloud
from apportion.policy.load import load_policy

HEAD = """policy: p
effective: 2026-10-01
currency: USD
time_zone: UTC
teams:
  vision: {department: research}
  speech: {department: research}
pools:
  gpus: {costs: otherwise, meter: gpu, method: capacity_rate}
quotas:
"""


def text(*lines: str) -> str:
    return HEAD + "".join(f"  - {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "code", "line", "said"),
    [
        (
            ["{team: vision, meter: gpu, hours: 9, per: month, soft: 10}"],
            "policy-value",
            11,
            "above the quota itself, 9",
        ),
        (
            ["{team: vision, meter: gpu, hours: 9, per: month, soft: 8, kind: soft}"],
            "policy-value",
            11,
            "soft as a whole",
        ),
        (["{team: vision, meter: gpu, hours: -9, per: month}"], "policy-value", 11, "not greater than 0"),
        (["{meter: gpu, hours: 9, per: month}"], "policy-missing-key", 11, "team's or a department's"),
        (["{department: research, team: vision, money: 9, per: month}"], "policy-value", 11, "not of one team"),
        (
            ["{department: reserch, money: 9, per: month}"],
            "policy-reference",
            11,
            "no team is of the department 'reserch'",
        ),
        (
            ["{team: vision, meter: gpu, hours: 9, per: week, rollover: {cap: 1}}"],
            "policy-value",
            11,
            "do not go together",
        ),
        (["{team: vision, meter: storage, months: 9, per: day}"], "policy-value", 11, "do not go together"),
        (["{team: vision, meter: network, months: 9, per: month}"], "policy-value", 11, "is given as amount"),
        (
            ["{team: vision, meter: gpu, hours: 9, per: month}", "{team: vision, meter: gpu, hours: 8, per: month}"],
            "policy-overlap",
            12,
            "two quotas of gpu a month on the same days",
        ),
        (
            [
                "{department: research, meter: gpu, hours: 100, per: month, children: fit}",
                "{team: vision, meter: gpu, hours: 60, per: month}",
                "{team: speech, meter: gpu, hours: 41, per: month, from: 2027-01-01}",
            ],
            "policy-value",
            11,
            "the teams of department research add up to 101, and they must fit in 100",
        ),
        (
            [
                "{team: vision, money: 10, per: month, children: fit}",
                "{team: vision, project: seg, money: 6, per: month}",
                "{team: vision, project: ocr, money: 5, per: month}",
            ],
            "policy-value",
            11,
            "the projects of vision add up to 11",
        ),
    ],
)
def test_contradictions_are_refused_with_their_line(lines: list[str], code: str, line: int, said: str) -> None:
    with pytest.raises(PolicyError) as found:
        load_policy(text(*lines))
    assert found.value.code == code
    assert said in found.value.message
    assert f":{line}:" in found.value.where


def test_what_only_looks_alike_is_taken() -> None:
    policy = load_policy(
        text(
            "{department: research, meter: gpu, hours: 100, per: month, children: fit}",
            "{team: vision, meter: gpu, hours: 60, per: month, until: 2026-12-31}",
            "{team: vision, meter: gpu, hours: 70, per: month, from: 2027-01-01}",
            "{team: vision, meter: gpu, hours: 600, per: year, soft: 500, rollover: {cap: 50, expires: 2}}",
            "{team: vision, user: ann, meter: gpu, hours: 5, per: month, kind: soft}",
            "{team: speech, meter: gpu, hours: 30, per: month, until: 2027-06-30}",
        )
    )
    year = policy.quotas[3]
    assert year.rollover is not None
    assert (year.size, year.soft, year.rollover.cap) == (Fraction(600), Fraction(500), Fraction(50))
    said = [one.text for part in read_aloud(policy) if part.text == "Quotas" for one in part.parts]
    assert said[0] == "Department research has 100 hours of gpu a month, and those below it must fit in it."
    assert "what is left is rolled over (at most 50, for 2 windows)" in said[3]
    assert said[4] == "ann of vision has 5 hours of gpu a month, which is told and stops nobody."


def test_a_quota_that_nothing_counts_in_is_doubted() -> None:
    policy = load_policy(text("{team: vision, meter: cpu, hours: 9, per: month}"))
    assert any("no pool counts cpu, so" in one for one in policy.warnings)
