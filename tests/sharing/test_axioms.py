"""Each axiom that a method claims is never violated; each one that it admits to break is broken by its own example; nothing is left unsaid."""

import random
from fractions import Fraction
from typing import Any

import pytest

from apportion.engine.sharing import METHODS, method
from apportion.engine.sharing.alterations import ASKED, USED, rebuilt, scaled
from apportion.engine.sharing.axioms import AXIOMS, axiom_named, violation
from tests.sharing.games import problem

GAMES = 60  # and a thousand in a long run
TRIALS = 50  # so many at least, or a claim was hardly tried
EVERY = [name for name, value in vars(method).items() if name.isupper() and isinstance(value, str)]
GENERAL = list(AXIOMS)[:10]
CLAIMS = [(name, axiom) for name, found in METHODS.items() for axiom in found.holds]
ADMITTED = [(name, axiom) for name, found in METHODS.items() for axiom in found.breaks]

# Choices of a problem that change what its method promises; the page says so in brackets.
OPTIONS = {
    "idle",
    "unused_reservation",
    "on_zero",
    "lend_credit",
    "burst_rate",
    "burst_price_minor",
    "class_weights",
    "classes",
}

PER_OWNER = {*USED, *ASKED, "costs"}

# A policy shares by these; as small problems they are proportional, by what a line costs, was occupied or was charged.
AS_PROPORTIONAL = {"direct", "time", "by_cost"}

POOLS = {"reciprocal", "step_down", "direct_method"}
STEPS = {"cap_and_sponsor", "percent_subsidy", "floor", "smooth"}
TABLES = {"shapley_table", "incremental", "scrb"}
NO_SLOTS = (
    POOLS
    | STEPS
    | TABLES
    | {"max_request_usage", "blend", "two_part", "serial", "average_cost", "resource_weighted", "dominant_share"}
    | {"aumann_shapley_binding", "energy_two_part", "fx", "direct", "time", "by_cost"}
)
# Reason to axioms to methods of which an axiom has nothing to say.
NOTHING_TO_SAY = {
    "it sees amounts of the whole period, no slots": ((method.TIME_SPLIT, method.TIME_SHIFT), NO_SLOTS),
    "a table does not say how it would change with demand": ((method.MONOTONE,), {"shapley_table", "incremental"}),
    "the problem does not say what fewer would cost": ((method.STAND_ALONE, method.CORE), POOLS | {"energy_two_part"}),
    "a step after a method: that is for the method before it": ((method.STAND_ALONE, method.CORE), STEPS),
    "a conversion: what others would cost is in another currency": ((method.STAND_ALONE, method.CORE), {"fx"}),
    "a line has one owner: nothing is shared": ((method.STAND_ALONE, method.CORE), {"direct"}),
}


def demand_over_time(chance: random.Random, owners: list[str]) -> dict[str, list[int]]:
    slots = chance.randint(1, 3)
    return {owner: [chance.choice([0, 1, chance.randint(0, 5)]) for _ in range(slots)] for owner in owners}


def with_remarks(chance: random.Random, game: dict[str, Any], owners: list[str]) -> dict[str, Any]:
    """The same kind of problem with what led to it: demand over time behind sums, peaks behind a table, usage beside members."""
    inputs, series = game["inputs"], demand_over_time(chance, owners)
    slots = list(zip(*series.values(), strict=True))
    if "coalition_cost" in inputs:
        remarks: dict[str, Any] = {"peaks": {owner: chance.randint(0, 4) for owner in owners}}
    elif game["method"] == "capacity_rate":
        enough = max(1, *(sum(slot) for slot in slots)) + chance.randint(0, 3)
        remarks = {"series": series, "capacity": len(slots) * enough}
    elif game["method"] in {"proportional", "even", "fixed_weights", "rate_card"}:
        remarks = {"series": series}
    else:
        remarks = {}
    return {**game, "inputs": rebuilt({**inputs, **remarks})}


def with_a_twin(chance: random.Random, game: dict[str, Any]) -> dict[str, Any]:
    """The second owner is as the first one, or uses nothing: what symmetry and null players are about is rare by chance."""
    keep = chance.choice([1, 0])
    inputs: dict[str, Any] = {
        key: alike(value, keep) if key in PER_OWNER else value for key, value in game["inputs"].items()
    }
    if "shares" in inputs:
        inputs["shares"] = {pool: alike(row, keep) for pool, row in inputs["shares"].items()}
    if "reserved" in inputs:
        inputs["capacity"] = max(inputs["capacity"], int(sum(inputs["reserved"].values())))
    if "costs" in inputs:
        game = {**game, "bill_minor": int(sum(inputs["costs"].values()))}
    return {**game, "inputs": rebuilt(inputs)}


def alike(table: dict[str, Any], keep: int) -> dict[str, Any]:
    return {**table, "b": scaled(table["a"], Fraction(keep))} if {"a", "b"} <= table.keys() else table


def plain_game(chance: random.Random, name: str) -> dict[str, Any]:
    """Without options, at a bill above 0, and with nothing that the method does not read; half of them with remarks."""
    owners = ["a", "b", "c", "d"][: chance.randint(2, 4)]
    game = problem(chance, name, owners)
    for section in ("params", "inputs"):
        game[section] = {k: v for k, v in game[section].items() if k in METHODS[name].reads and k not in OPTIONS}
    if not {"costs", "allocation"} & game["inputs"].keys():
        game["bill_minor"] = chance.choice([60, 100, 1200])
    if name == "coincident_peak":
        game["params"]["k"] = 1
    if chance.random() < 0.5:
        game["params"].pop("step", None)
        game = with_remarks(chance, game, owners)
    return with_a_twin(chance, game) if chance.random() < 0.5 else game


def direct_game(chance: random.Random) -> dict[str, Any]:
    """Lines by owner, and the bill that they add up to."""
    game = plain_game(chance, "proportional")
    game["inputs"].pop("series", None)
    return {**game, "bill_minor": int(sum(game["inputs"]["drivers"].values()))}


def game_of(chance: random.Random, name: str) -> dict[str, Any]:
    if name == "direct":
        return direct_game(chance)
    return plain_game(chance, "proportional" if name in AS_PROPORTIONAL else name)


@pytest.mark.parametrize(("name", "axiom"), CLAIMS, ids=[f"{n} {a.partition(':')[0]}" for n, a in CLAIMS])
def test_what_a_method_claims_is_never_violated(name: str, axiom: str, long_run: bool) -> None:
    chance = random.Random(f"{name} {axiom}")
    trials, games = 0, 1000 if long_run else GAMES
    for played in range(10 * games):
        if played >= games and trials >= TRIALS:
            break
        game = game_of(chance, name)
        for outcome in axiom_named(axiom)(game):
            assert outcome is None, (game, outcome)
            trials += 1
    assert trials >= TRIALS


@pytest.mark.parametrize(("name", "axiom"), ADMITTED, ids=[f"{n} {a.partition(':')[0]}" for n, a in ADMITTED])
def test_what_a_method_admits_to_break_its_example_breaks(name: str, axiom: str) -> None:
    example = METHODS[name].breaks[axiom]
    assert violation(axiom, {"method": "proportional" if name in AS_PROPORTIONAL else name, **example})
    assert len(str(example)) < 250, "an example is read, not run only"


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("axiom", GENERAL, ids=[axiom.partition(":")[0] for axiom in GENERAL])
def test_nothing_is_left_unsaid(name: str, axiom: str) -> None:
    found = METHODS[name]
    reasons = [why for why, (axioms, names) in NOTHING_TO_SAY.items() if axiom in axioms and name in names]
    said = axiom in found.holds, any(label.startswith(axiom) for label in found.breaks)
    assert bool(reasons) != any(said), f"say whether {name} holds {axiom!r}, breaks it, or why neither"
    if all(said):
        assert axiom not in found.breaks, "held in general and broken in a case: brackets name the case"


def test_every_axiom_is_claimed_by_one_method_and_broken_by_another() -> None:
    """So that no test of an axiom is one that cannot fail."""
    words = {getattr(method, name) for name in EVERY}
    assert words <= set(AXIOMS)
    for axiom in words - {method.CAUSATION, method.RESPONSIVE, method.FORESIGHT}:
        assert any(axiom in found.holds for found in METHODS.values()), axiom
    for axiom in words - {method.FORESIGHT}:
        assert any(label.startswith(axiom) for found in METHODS.values() for label in found.breaks), axiom


def test_foresight_is_not_for_those_who_share_a_bill() -> None:
    assert violation(
        method.FORESIGHT, {"method": "proportional", "bill_minor": 60, "inputs": {"drivers": {"a": 1, "b": 1}}}
    )
