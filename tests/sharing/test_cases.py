"""Every worked case, exactly: what `split` answers through its text, the other three families against the model."""

import json
from fractions import Fraction
from math import lcm
from pathlib import Path

import pytest

from apportion.engine.sharing import ELSEWHERE, solve
from apportion.model.money import round_children, share
from apportion.model.times import Interval, days, parse_instant, zone_named
from apportion.verbs.split import read_problem, split

FILE = Path(__file__).parents[1] / "cases" / "methods.json"
CASES = {case["id"]: case for case in json.loads(FILE.read_text(encoding="utf-8"))["cases"]}
SPLITS = [name for name, case in CASES.items() if case["method"] not in ELSEWHERE]


def family(letter: str) -> list[str]:
    return [name for name in CASES if name.startswith(letter)]


def problem_text(name: str) -> str:
    return json.dumps({key: value for key, value in CASES[name].items() if key != "expected"})


def test_the_collection_is_whole() -> None:
    assert len(CASES) == 72
    assert len(SPLITS) == 66


def test_the_copy_is_that_of_the_reference() -> None:
    reference = FILE.parents[3] / "shared" / "cases" / "methods.json"
    if not reference.exists():
        pytest.skip("no ../shared beside this checkout")
    assert FILE.read_bytes() == reference.read_bytes()


@pytest.mark.parametrize("name", SPLITS)
def test_split_posts_what_the_case_expects(name: str) -> None:
    expected = CASES[name]["expected"]
    code, printed = split(problem_text(name))
    if "error" in expected:
        assert (code, printed["error"]) == (1, expected["error"])
        assert set(printed) == {"error", "message"}
        return
    assert (code, printed["shares"]) == (0, expected["minor"])
    assert set(printed) == ({"shares", "findings"} if "above capacity" in CASES[name]["what"] else {"shares"})
    exact = solve(read_problem(problem_text(name))).exact
    if "exact_minor" in expected:
        assert {owner: str(amount) for owner, amount in exact.items()} == expected["exact_minor"]
    else:
        assert sum(exact.values()) == expected["report_bill_minor"]


@pytest.mark.parametrize("name", [name for name in CASES if name not in SPLITS])
def test_split_refuses_what_other_verbs_do(name: str) -> None:
    code, printed = split(problem_text(name))
    assert (code, printed["error"]) == (1, "not_a_split")
    assert "`" in printed["message"]


def by_drivers(bill: int, drivers: dict[str, int]) -> dict[str, int]:
    return dict(zip(drivers, share(bill, list(drivers.values()), list(drivers)), strict=True))


@pytest.mark.parametrize("name", family("X"))
def test_a_restatement_is_the_difference_of_two_roundings(name: str) -> None:
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    old, new = (by_drivers(inputs[when]["bill_minor"], inputs[when]["drivers"]) for when in ("old", "new"))
    assert (old, new) == (expected["old_minor"], expected["new_minor"])
    delta = {owner: new[owner] - old[owner] for owner in old}
    assert delta == expected["delta_minor"]
    assert sum(delta.values()) == expected["delta_sum"]


@pytest.mark.parametrize("name", family("H"))
def test_children_are_rounded_inside_their_parent(name: str) -> None:
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    units = sum(sum(jobs.values()) for jobs in inputs["tree"].values())
    exact = {
        team: {job: Fraction(inputs["bill_minor"] * n, units) for job, n in jobs.items()}
        for team, jobs in inputs["tree"].items()
    }
    teams = rounded(inputs["bill_minor"], {team: sum(jobs.values(), Fraction(0)) for team, jobs in exact.items()})
    assert teams == expected["teams"]
    assert {team: rounded(teams[team], jobs) for team, jobs in exact.items()} == expected["jobs"]
    flat = {job: amount for jobs in exact.values() for job, amount in jobs.items()}
    assert rounded(inputs["bill_minor"], flat) == expected["flat_for_contrast"]


def rounded(total: int, exact: dict[str, Fraction]) -> dict[str, int]:
    unit = lcm(*(amount.denominator for amount in exact.values()))
    return dict(
        zip(
            exact,
            round_children(total, [int(amount * unit) for amount in exact.values()], unit, list(exact)),
            strict=True,
        )
    )


@pytest.mark.parametrize("name", family("Z"))
def test_days_of_a_zone_have_the_seconds_that_they_have(name: str) -> None:
    inputs, expected = CASES[name]["inputs"], CASES[name]["expected"]
    interval = Interval(parse_instant(inputs["start"]), parse_instant(inputs["end"]))
    found = {str(day): part.seconds for day, part in days(interval, zone_named(inputs["tz"]))}
    assert found == expected["seconds"]
    assert sum(found.values()) == interval.seconds == expected["total_seconds"]


MIRRORED = [
    name
    for name in SPLITS
    if "minor" in CASES[name]["expected"] and CASES[name]["method"] not in ("rate_card", "cap_and_sponsor")
]


@pytest.mark.parametrize("name", MIRRORED)
def test_a_mirrored_bill_mirrors_the_shares(name: str) -> None:
    case = CASES[name]
    inputs = {**case["inputs"]}
    if "costs" in inputs:
        inputs["costs"] = {owner: -amount for owner, amount in inputs["costs"].items()}
    mirrored = {**case, "inputs": inputs, "bill_minor": -(case.get("bill_minor") or inputs["bill_minor"])}
    assert solve(mirrored).minor == {owner: -amount for owner, amount in solve(case).minor.items()}
