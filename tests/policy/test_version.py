"""One letter of a rule is another version; comments, blanks, quotes and the order of unordered keys are not."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apportion.errors import PolicyError
from apportion.policy.load import load_policy

TEXT = (Path(__file__).parent / "design.yaml").read_text(encoding="utf-8")
VERSION = load_policy(TEXT).version
HEAD = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"


def version(text: str) -> str:
    return load_policy(text).version


def replaced(old: str, new: str) -> str:
    assert TEXT.count(old) >= 1
    return TEXT.replace(old, new, 1)


def test_it_is_a_sha256_and_never_drifts() -> None:
    assert VERSION == "1550a83b6a5928186394361f5b6c5900fe95fb749bdb7d9385c5e80019f3b488"


def test_the_file_does_not_matter() -> None:
    assert load_policy(TEXT, "elsewhere.yaml").version == VERSION


@pytest.mark.parametrize(
    "text",
    [
        "# a comment\n\n" + TEXT,
        TEXT.replace("currency: USD", "currency:    'USD'   # dollars"),
        replaced("team: vision\n    project", 'team: "vision"\n    project'),
        replaced("{department: research, cost_centre:", "{class: internal, department: research, cost_centre:").replace(
            '"4711", class: internal,', '"4711",'
        ),
        TEXT.replace("currency: USD\n", "").replace("policy: research", "currency: USD\npolicy: research"),
        replaced(
            "{phase: {tuning: 0.8, interactive: 1.2}}", "\n      phase:\n        tuning: 0.8\n        interactive: 1.2"
        ),
        replaced("shares: {vision: 60, speech: 40}", "shares: {speech: 40, vision: 60}"),
        TEXT.replace("\n", "\r\n"),
    ],
)
def test_same(text: str) -> None:
    assert text != TEXT
    assert version(text) == VERSION


@pytest.mark.parametrize(
    "text",
    [
        replaced("research-cluster", "research-clustes"),
        replaced("protein folding push", "protein folding Push"),
        replaced("EC2*", "EC3*"),
        replaced("0.8", "0.81"),
        replaced("until: 2026-12-31", "until: 2026-12-30"),
        replaced("team: speech", "team: speeck"),
        replaced("max_hours: 4, ", ""),
        replaced('["1234*", "77*"]', '["77*", "1234*"]'),
        replaced("{tuning: 0.8, interactive: 1.2}", "{interactive: 1.2, tuning: 0.8}"),
        replaced("[80, 95]", "[80, 96]"),
        replaced("tag.node-group", "tag.node-grouq"),
    ],
)
def test_another(text: str) -> None:
    assert version(text) != VERSION


def test_order_of_rules_matters() -> None:
    pools = ["a: {costs: {x: a}, by: cost}", "b: {costs: {x: b}, by: cost}"]
    owners = ["{when: {x: a}, team: a}", "{when: {x: b}, team: b}"]
    base = HEAD + f"pools: {{{', '.join(pools)}}}\nowners: [{', '.join(owners)}]\n"
    assert version(base) != version(HEAD + f"pools: {{{', '.join(pools[::-1])}}}\nowners: [{', '.join(owners)}]\n")
    assert version(base) != version(HEAD + f"pools: {{{', '.join(pools)}}}\nowners: [{', '.join(owners[::-1])}]\n")


def test_a_list_and_a_mapping_of_the_same_words_differ() -> None:
    as_map = HEAD + "owners: [{when: {a: {not: b}}, team: x}]\n"
    as_list = HEAD + "owners: [{when: {a: [not, b]}, team: x}]\n"
    assert version(as_map) != version(as_list)


LETTERS = [
    at for at, letter in enumerate(TEXT) if letter.isalnum() and "#" not in TEXT[TEXT.rfind("\n", 0, at) + 1 : at]
]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(LETTERS), st.sampled_from("abkxz0189"))
def test_any_letter_outside_comments_is_another_version_or_refused(at: int, letter: str) -> None:
    assume(TEXT[at] != letter)
    with contextlib.suppress(PolicyError):
        assert version(TEXT[:at] + letter + TEXT[at + 1 :]) != VERSION
