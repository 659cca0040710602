"""Closed forms against definitions, on random games with ties, zeros and unequal sizes."""

import json
import random
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from apportion.engine.sharing import ELSEWHERE, METHODS, solve
from tests.sharing.definitions import DEFINITIONS
from tests.sharing.definitions.rounding import drop_zero_system, largest_remainder
from tests.sharing.games import MAKERS, OWNERS, problem

GAMES = 300
CASES = json.loads((Path(__file__).parents[1] / "cases" / "methods.json").read_text(encoding="utf-8"))["cases"]


def test_every_method_and_post_step_has_a_definition_and_games() -> None:
    shared = {name for name, method in METHODS.items() if method.share}
    assert set(DEFINITIONS) == set(MAKERS) == shared
    assert {case["method"] for case in CASES} - set(ELSEWHERE) <= shared


@pytest.mark.parametrize("name", MAKERS)
def test_closed_form_agrees_with_the_definition(name: str) -> None:
    chance = random.Random(f"{name} 1")
    sizes: Counter[int] = Counter()
    charged = 0
    for _ in range(GAMES):
        owners = list(OWNERS[: chance.randint(2, 6)])
        game = problem(chance, name, owners)
        bill = game["bill_minor"]
        solution = solve(game)
        expected = drop_zero_system(DEFINITIONS[name](bill, {**game["inputs"], **game["params"]}))
        assert drop_zero_system(solution.exact) == expected, game
        assert solution.minor == largest_remainder(sum(solution.minor.values()), solution.exact)
        assert name == "fx" or sum(solution.minor.values()) == bill
        sizes[len(owners)] += 1
        charged += any(share for owner, share in expected.items() if not owner.startswith("_"))
    assert set(sizes) == {2, 3, 4, 5, 6}
    assert charged > GAMES // 2


@pytest.mark.parametrize("bill", [0, 7, -7, 10**30])
def test_rounding_of_mixed_signs_keeps_to_the_bill_and_within_one_unit(bill: int) -> None:
    chance = random.Random(bill)
    for _ in range(GAMES):
        quantity = {owner: f"{chance.randint(0, 99)}/7" for owner in ("a", "b", "c")}
        solution = solve(
            {"method": "rate_card", "bill_minor": bill, "inputs": {"price_minor": "1/3", "quantity": quantity}}
        )
        assert sum(solution.minor.values()) == bill
        assert all(abs(solution.minor[owner] - share) < 1 for owner, share in solution.exact.items())
        assert solution.minor == largest_remainder(bill, solution.exact)


def test_rounding_breaks_ties_by_bytes_of_the_composed_name() -> None:
    decomposed = "e\u0301"  # its bytes begin with those of e, its composed form sorts after z
    solution = solve({"method": "proportional", "bill_minor": 1, "inputs": {"drivers": {decomposed: 1, "z": 1}}})
    assert solution.minor == {decomposed: 0, "z": 1}


def test_exact_peak_shapley_of_fourteen_owners() -> None:
    rows = {f"t{n:02d}": [int(slot == n) * (n + 1) for slot in range(14)] for n in range(14)}
    airport = solve(
        {
            "method": "airport_shapley",
            "bill_minor": 10**6,
            "inputs": {"peaks": {o: max(row) for o, row in rows.items()}},
        }
    )
    assert solve({"method": "peak_shapley", "bill_minor": 10**6, "inputs": {"series": rows}}).exact == airport.exact


def test_shares_do_not_depend_on_the_order_of_input() -> None:
    drivers = {"a": 3, "b": 1, "c": 2, "d": 1}
    forth = solve({"method": "proportional", "bill_minor": 101, "inputs": {"drivers": drivers}})
    back = solve({"method": "proportional", "bill_minor": 101, "inputs": {"drivers": dict(reversed(drivers.items()))}})
    assert list(forth.minor.items()) == list(back.minor.items())
    assert forth.exact["a"] == Fraction(303, 7)
