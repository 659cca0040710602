"""Whatever the text, the answer is a policy or a PolicyError with a place: never a traceback, never a hang."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apportion.errors import PolicyError
from apportion.policy.load import load_policy
from tests.conftest import LONG

TEXT = (Path(__file__).parent / "design.yaml").read_text(encoding="utf-8")
HEAD = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"
PLACE = re.compile(r"g\.yaml:[1-9][0-9]*:[1-9][0-9]*( and g\.yaml:[1-9][0-9]*:[1-9][0-9]*)?")
PIECES = st.sampled_from([
    "{", "}", "[", "]", ":", ": ", "- ", "? ", "*a", "&a ", "!t ", "!!str ", "|\n", ">\n", "'", '"', "#", "\n", "\t", "  ", "---\n", "...\n",
    "%YAML 1.2\n", "<<: ", "~", "null", "\\uD800", "\\x00", "\u2028", "\ufeff", "é", "-1", "1e999", "nan", "0.5", "{blend: 1}", "otherwise",
    "2026-13-01", "_idle", "[]", "{}", "all", "@", "`", ",", "{a", "not: ", "\x85", "\U0001f4a9",
])  # fmt: skip
quick = settings(max_examples=150 if LONG else 60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def read(text: str) -> None:
    refused: PolicyError | None = None
    try:
        assert load_policy(text, "g.yaml").version
    except PolicyError as error:
        refused = error
    if refused is not None:
        assert PLACE.fullmatch(refused.where), refused
        assert refused.code
        assert "\n" not in refused.message


@quick
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    read(text)


@quick
@given(st.lists(PIECES, max_size=25).map("".join))
def test_pieces_of_yaml(text: str) -> None:
    read(text)
    read(HEAD + text)


@quick
@given(st.integers(0, len(TEXT)), st.integers(0, 12), PIECES)
def test_the_example_with_a_piece_exchanged(at: int, length: int, piece: str) -> None:
    read(TEXT[:at] + piece + TEXT[at + length :])


TREES = st.recursive(
    st.one_of(
        st.none(),
        st.text("ab_{}*0.-", max_size=4),
        st.sampled_from(["gpu", "cost", "all", "1", "-1", "even", "2026-10-01"]),
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["owner", "blend", "not", "a", "when", "team"]), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = [
    "costs", "from", "usage", "meter", "driver", "method", "by", "over", "scope", "slot", "idle_slot", "weights", "idle", "credit", "prices",
    "free", "shares", "members", "component", "basis", "on_zero", "k", "weighted", "times",
]  # fmt: skip
SECTIONS = [
    "fx",
    "close",
    "teams",
    "carried_by",
    "owners",
    "facets",
    "nodes",
    "reservations",
    "pools",
    "adjustments",
    "quotas",
    "basis",
    "currency",
    "time_zone",
]


def as_yaml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {as_yaml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_yaml, value)) + "]"
    return "~" if value is None else '"' + str(value) + '"'


@quick
@given(
    st.dictionaries(st.sampled_from(KEYS), TREES, max_size=5),
    st.dictionaries(st.sampled_from(SECTIONS), TREES, max_size=2),
)
def test_right_keys_with_wrong_values(pool: dict[str, object], sections: dict[str, object]) -> None:
    text = HEAD + "".join(
        f"{key}: {as_yaml(value)}\n" for key, value in sections.items() if key not in ("currency", "time_zone")
    )
    read(text if "pools" in sections else text + f"pools: {{p: {as_yaml(pool)}}}\n")


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{step}: &a{step} [{', '.join([f'*a{step - 1}'] * 10)}]\n" for step in range(1, 12)
)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("#" * 1_000_001, "1:1"),
        (BOMB, "6:10"),
        ("[" * 100_000, "1:26"),
        ("{a: " * 100_000, "1:101"),
        ("- " * 100_000, "1:51"),
        (HEAD + "basis: " + "b" * 20_000, "5:8"),
        (HEAD + "basis: !" + "b" * 200_000, "5:8"),
        (HEAD + "owners: [{when: {a: '" + "[" * 200_000 + "'}, team: x}]\n", "5:21"),
    ],
)
def test_bombs_are_refused_before_they_go_off(text: str, place: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(text, "g.yaml")
    assert (caught.value.code, caught.value.where) == ("policy-too-large", f"g.yaml:{place}")


def test_a_glob_of_open_brackets_is_read_at_once() -> None:
    globs = ", ".join(["'" + "[" * 500 + "'"] * 20)
    (rule,) = load_policy(HEAD + f"owners: [{{when: {{a: [{globs}]}}, team: x}}]\n").owners
    assert rule.when.matches({"a": "[" * 500})
    with pytest.raises(PolicyError, match="at most 500 characters"):
        load_policy(HEAD + "owners: [{when: {a: {not: '" + "[" * 501 + "'}}, team: x}]\n")
