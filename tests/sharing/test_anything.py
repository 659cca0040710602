"""Whatever is asked: shares that add up to the bill, or a refusal with a code; never another exception."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from apportion.engine.sharing import METHODS, SplitError, solve
from apportion.verbs.split import split

CASES = json.loads((Path(__file__).parents[1] / "cases" / "methods.json").read_text(encoding="utf-8"))["cases"]
NAMES = st.one_of(
    st.sampled_from(["a", "b", "c", "_idle", "_residual", "é", "e\u0301", "a+b", "gpu", ""]), st.text(max_size=3)
)
NUMBERS = st.one_of(
    st.integers(-3, 9),
    st.integers(),
    st.sampled_from(
        ["0.5", "1/3", "-2", "1e3", "NaN", "1e999", "", "q^2", "even", "central", "reservation", "error", "EUR"]
    ),
)
LEAVES = st.one_of(NUMBERS, st.none(), st.booleans(), st.floats(), st.text(max_size=4))
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=4)),
    max_leaves=12,
)
AMOUNTS = st.dictionaries(NAMES, NUMBERS, max_size=4)
ROWS = st.one_of(
    AMOUNTS,
    st.dictionaries(NAMES, st.lists(NUMBERS, min_size=2, max_size=2), max_size=3),
    st.dictionaries(NAMES, AMOUNTS, max_size=3),
)


@st.composite
def problems(draw: st.DrawFn) -> dict[str, Any]:
    """Mostly of the right shape: the keys that the method reads, with values that may or may not suit."""
    name = draw(st.sampled_from([*METHODS, "hierarchy", "nonsense"]))
    keys = METHODS[name].reads if name in METHODS else ()
    values = st.one_of(ROWS, NUMBERS, VALUES)
    sections = {
        section: draw(st.fixed_dictionaries({}, optional=dict.fromkeys(keys, values)))
        for section in ("params", "inputs")
    }
    return {"method": name, "bill_minor": draw(st.one_of(st.integers(-999, 999), LEAVES)), **sections}


@st.composite
def damaged_cases(draw: st.DrawFn) -> dict[str, Any]:
    """A worked case with one value, somewhere inside, replaced."""
    case = json.loads(json.dumps(draw(st.sampled_from(CASES))))
    place = case
    for _ in range(draw(st.integers(0, 4))):
        inner = [
            value
            for value in (place.values() if isinstance(place, dict) else place)
            if isinstance(value, dict | list) and value
        ]
        place = draw(st.sampled_from(inner)) if inner else place
    keys = list(place) if isinstance(place, dict) else range(len(place))
    place[draw(st.sampled_from(keys))] = draw(VALUES)
    assert isinstance(case, dict)
    return case


@given(st.one_of(problems(), damaged_cases()))
@example({"method": "reciprocal", "bill_minor": 0, "inputs": {"costs": {}, "shares": {"a": {"a": 0}}}})
@example({"method": "two_part", "bill_minor": -5, "inputs": {"capacity": 0, "reserved": {}, "usage": {}}})
@example({"method": "proportional", "bill_minor": 10**5000, "inputs": {"drivers": {"a": 10**5000}}})
def test_shares_add_up_or_the_problem_is_refused(problem: dict[str, Any]) -> None:
    try:
        solution = solve(problem)
    except SplitError:
        return
    assert sum(solution.minor.values()) == sum(solution.exact.values())
    assert all(abs(solution.minor[owner] - share) < 1 for owner, share in solution.exact.items())
    if problem["method"] != "fx" and isinstance(problem["bill_minor"], int):
        assert sum(solution.minor.values()) == problem["bill_minor"]


@given(st.one_of(st.text(), VALUES.map(json.dumps), problems().map(json.dumps)))
def test_split_always_prints_one_of_two_objects(text: str) -> None:
    code, printed = split(text)
    assert (code, set(printed)) in [(0, {"shares"}), (1, {"error", "message"})]
    json.dumps(printed, ensure_ascii=False).encode()


SPLIT_METHODS = [name for name, method in METHODS.items() if method.share]
SUITABLE = st.one_of(st.integers(0, 9), st.integers(0, 10**6), st.sampled_from([0, 1, "0.5", "1/3", "2.25"]))


@st.composite
def varied_examples(draw: st.DrawFn) -> dict[str, Any]:
    """An example of the catalogue with other amounts: mostly problems that have an answer."""
    name = draw(st.sampled_from(SPLIT_METHODS))
    problem = {
        "method": name,
        "bill_minor": draw(st.integers(-(10**6), 10**6)),
        **json.loads(json.dumps(METHODS[name].example)),
    }
    inputs = problem["inputs"]
    for amounts in (value for value in inputs.values() if isinstance(value, dict)):
        for owner, amount in amounts.items():
            if isinstance(amount, list):
                amounts[owner] = [draw(SUITABLE) for _ in amount]
            elif isinstance(amount, int):
                amounts[owner] = draw(st.integers(0, 99) if {"costs", "allocation"} & inputs.keys() else SUITABLE)
    if money := inputs.get("costs") or inputs.get("allocation"):
        problem["bill_minor"] = sum(money.values())
    return problem


def test_every_method_answers_varied_problems() -> None:
    solved: Counter[str] = Counter()

    @settings(max_examples=600)
    @given(varied_examples())
    def search(problem: dict[str, Any]) -> None:
        try:
            solution = solve(problem)
        except SplitError:
            return
        solved[problem["method"]] += 1
        if problem["method"] != "fx":
            assert sum(solution.minor.values()) == sum(solution.exact.values()) == problem["bill_minor"]

    search()
    assert set(solved) == set(SPLIT_METHODS)
    assert solved.total() > 300
