"""The policy's own rules: refused with their place, doubted with the nearest word, and part of the schema."""

import pytest

from apportion.errors import PolicyError
from apportion.policy.diff import diff
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from apportion.policy.schema import json_schema

HEAD = "policy: p\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"
RULE = 'nodes:\n  - {when: {ServiceName: "EC2*"}, node: "h100-{tag.slot}"}\n'


def load(text: str) -> Policy:
    return load_policy(HEAD + text, "policy.yaml")


@pytest.mark.parametrize(
    ("text", "where", "code", "hint"),
    [
        ("nodes:\n  - {wen: {}, node: a}\n", "6:6", "policy-unknown-key", "did you mean 'when'?"),
        ("nodes:\n  - {when: {}}\n", "6:5", "policy-missing-key", "node"),
        ('nodes:\n  - {when: {}, node: "{tag.slot"}\n', "6:22", "policy-template", "braces"),
        ("nodes:\n  - {when: {}, node: _idle}\n", "6:22", "policy-value", "another name"),
        ("node: []\n", "5:1", "policy-unknown-key", "did you mean 'nodes'?"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, where: str, code: str, hint: str) -> None:
    with pytest.raises(PolicyError) as refused:
        load(text)
    assert (refused.value.code, refused.value.where) == (code, f"policy.yaml:{where}")
    assert hint in str(refused.value)


def test_a_column_that_no_bill_has_is_doubted() -> None:
    warnings = "\n".join(load(RULE.replace("ServiceName", "Servicename")).warnings)
    assert "did you mean 'ServiceName'?" in warnings
    assert "did you mean 'ResourceId'?" in "\n".join(load(RULE.replace("tag.slot", "resourceId")).warnings)
    assert "column of a bill" not in "\n".join(load(RULE).warnings)


def test_the_order_of_rules_is_part_of_the_version_and_editors_know_the_key() -> None:
    other = '  - {when: {}, node: "{tag.Name}"}\n'
    first, second = load(RULE + other), load("nodes:\n" + other + RULE.removeprefix("nodes:\n"))
    assert first.version != second.version
    assert load("nodes:\n").nodes == ()
    assert json_schema()["$defs"]["NodeRule"]["required"] == ["when", "node"]
    (change, *_) = diff(load(""), first)
    assert (change.path[0], change.effect) == ("nodes", "restates")
