"""The catalogue that `methods` shows."""

import json

import pytest

from apportion.engine.sharing import METHODS, SplitError, solve
from apportion.policy.methods import METHODS as POLICY_METHODS
from apportion.verbs.methods import method, methods
from tests.sharing.test_cases import CASES, SPLITS

POLICY_NOW = {"direct", "even", "fixed", "proportional", "time", "capacity_rate", "rate_card", "by: cost"}


def test_every_method_of_the_cases_is_listed() -> None:
    listed = {row["name"] for row in methods() if row["in_split"]}
    assert {CASES[name]["method"] for name in SPLITS} <= listed


def test_the_list_says_what_a_policy_knows_now() -> None:
    rows = methods()
    assert {row["policy"] for row in rows} >= POLICY_NOW
    assert {row["name"] for row in rows if not row["in_split"]} == {"direct", "time", "by_cost"}
    assert {row["policy"] for row in rows} >= set(POLICY_METHODS) - {"by_cost"}


@pytest.mark.parametrize("name", METHODS)
def test_the_page_of_a_method_is_whole_and_its_example_computed(name: str) -> None:
    sections = method(name)
    assert all(sections.values())
    problem, *lines = sections["Example"].splitlines()
    solution = solve(json.loads(problem))
    assert [line.split()[:2] for line in lines[1:-1]] == [
        [owner, str(amount)] for owner, amount in solution.minor.items()
    ]
    assert lines[-1].split() == ["bill", str(sum(solution.minor.values()))]


@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_breaks_it_does_not_also_hold(name: str) -> None:
    """But for what it holds in general and breaks in a case that it names in brackets."""
    assert not set(METHODS[name].breaks) & set(METHODS[name].holds)


def test_an_unknown_method_names_the_nearest() -> None:
    with pytest.raises(SplitError, match="proportonal") as caught:
        method("proportonal")
    assert "proportional" in caught.value.hint
