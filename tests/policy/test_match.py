import string
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.policy.match import Glob, Selector, fill, find_label, literal, parse_selector


@pytest.mark.parametrize(
    ("selector", "labels", "expected"),
    [
        ({"a": "x*"}, {"a": "xyz"}, True),
        ({"a": "x*"}, {"a": "Xyz"}, False),
        ({"a": "x"}, {"a": "xyz"}, False),
        ({"a": "x?z"}, {"a": "xyz"}, True),
        ({"a": "[xy]1"}, {"a": "y1"}, True),
        ({"a": "[!xy]1"}, {"a": "y1"}, False),
        ({"a": ["1*", "77*"]}, {"a": "778"}, True),
        ({"a": ["1*", "77*"]}, {"a": "787"}, False),
        ({"a": "1", "b": "2"}, {"a": "1"}, False),
        ({"a": "1", "b": "2"}, {"a": "1", "b": "2"}, True),
        ({"a": "*"}, {}, False),
        ({"a": "*"}, {"a": ""}, True),
        ({"a": ""}, {"a": ""}, True),
        ({"a": {"not": "x*"}}, {"a": "xyz"}, False),
        ({"a": {"not": "x*"}}, {"a": "abc"}, True),
        ({"a": {"not": "x*"}}, {}, True),
        ({"a": {"not": ["x*", "y*"]}}, {"a": "y"}, False),
        ({"a": ["xx", {"not": "x*"}]}, {"a": "xx"}, True),
        ({"a": ["xx", {"not": "x*"}]}, {"a": "xy"}, False),
        ({"not": {"a": "x"}}, {"a": "x"}, False),
        ({"not": {"a": "x"}}, {}, True),
        ({"not": {"a": "x", "b": "y"}}, {"a": "x", "b": "z"}, True),
        ({"not": [{"a": "x"}, {"b": "y"}]}, {"a": "z", "b": "y"}, False),
        ({"b": "1", "not": {"a": {"not": "x"}}}, {"a": "x", "b": "1"}, True),
        ({"qos": "low"}, {"slurm.qos": "low"}, True),
        ({"qos": "low"}, {"slurmqos": "low"}, False),
        ({"a": "x\ny"}, {"a": "x\ny"}, True),
        ({"a": "x*"}, {"a": "x\ny"}, True),
        ({}, {}, True),
    ],
)
def test_selectors(selector: object, labels: dict[str, str], expected: bool) -> None:
    assert parse_selector(selector).matches(labels) is expected


def test_keys_are_all_that_are_looked_at() -> None:
    selector = parse_selector({"a": "1", "not": {"b": "2", "not": {"c": {"not": "3"}}}})
    assert selector.keys == {"a", "b", "c"}
    assert Selector().keys == frozenset()


def test_equal_selectors_are_equal() -> None:
    assert parse_selector({"a": "x*"}) == parse_selector({"a": "x*"})
    assert parse_selector({"a": "x*"}) != parse_selector({"a": "x?"})
    assert len({parse_selector({"a": "x*"}), parse_selector({"a": "x*"})}) == 1


def test_find_label() -> None:
    labels = {"z.user": "z", "k8s.user": "k", "user": "u", "empty": ""}
    assert find_label(labels, "user") == "u"
    assert find_label({"z.user": "z", "k8s.user": "k"}, "user") == "k"
    assert find_label(labels, "empty") == ""
    assert find_label(labels, "ser") is None
    assert find_label({}, "user") is None


def test_fill() -> None:
    labels = {"slurm.wckey": "w1", "team": "v", "empty": "", "tag.Cost Center": "42", "odd": "{team}"}
    assert fill("{slurm.wckey}", labels) == "w1"
    assert fill("{wckey}-{team}!", labels) == "w1-v!"
    assert fill("plain", labels) == "plain"
    assert fill("{{{team}}}", labels) == "{v}"
    assert fill("{tag.Cost Center}", labels) == "42"
    assert fill("x{missing}", labels) is None
    assert fill("x{empty}", labels) is None
    assert fill("{odd}", labels) == "{team}"
    assert literal("a{{b}}") == "a{b}"
    assert literal("{a}") is None


@pytest.mark.parametrize("template", ["{", "}", "{}", "{a", "a}", "{a{b}}", "{ a}", "{a }", "{{}"])
def test_broken_templates(template: str) -> None:
    with pytest.raises(ValueError, match="not a label in braces"):
        fill(template, {"a": "b", "b": "c"})


@given(st.text(alphabet="ab[]!-*?\\&|~.", max_size=12), st.text(alphabet="ab[]!-.", max_size=6))
def test_globs_are_those_of_the_shell(pattern: str, value: str) -> None:
    assert Glob(pattern).matches(value) == fnmatchcase(value, pattern)


@given(st.dictionaries(st.text(string.ascii_letters, min_size=1), st.text(min_size=1), min_size=1))
def test_a_template_of_labels_gives_their_values(labels: dict[str, str]) -> None:
    assert fill("|".join(f"{{{key}}}" for key in labels), labels) == "|".join(labels.values())
