"""Siblings of the worked cases, each small enough to check by hand, and one refusal for every code."""

import json
from typing import Any

import pytest

from apportion.verbs.split import LARGEST_TEXT, split

SERIES = {"a": [10, 8, 1, 0], "b": [0, 1, 7, 6]}
LOOP: dict[str, Any] = {"costs": {"Y": 600, "X": 0}, "shares": {"Y": {"Y": 50, "X": 50}}}

Answer = tuple[str, str, int, dict[str, Any], dict[str, Any], dict[str, int]]
ANSWERS: list[Answer] = [
    (
        "nobody used anything",
        "proportional",
        70,
        {},
        {"drivers": {"a": 0, "b": 0}},
        {"_unallocated": 70, "a": 0, "b": 0},
    ),
    ("no participants", "proportional", 70, {"on_zero": "even"}, {"drivers": {}}, {"_unallocated": 70}),
    ("no bill", "proportional", 0, {}, {"drivers": {"a": 2, "b": 1}}, {"a": 0, "b": 0}),
    (
        "classes",
        "proportional",
        140,
        {"class_weights": {"spot": "0.4"}},
        {"drivers": {"p": 10, "s": 10}, "classes": {"s": "spot"}},
        {"p": 100, "s": 40},
    ),
    ("members", "even", 100, {}, {"members": ["c", "a", "b"]}, {"a": 34, "b": 33, "c": 33}),
    ("no members", "even", 100, {}, {"members": []}, {"_unallocated": 100}),
    (
        "weights below 100",
        "fixed_weights",
        9999,
        {},
        {"weights_pct": {"a": 60, "b": 30}},
        {"_unallocated": 1000, "a": 5999, "b": 3000},
    ),
    (
        "idle over users",
        "capacity_rate",
        10000,
        {"idle": "proportional"},
        {"capacity": 100, "usage": {"n": 30, "v": 20}},
        {"n": 6000, "v": 4000},
    ),
    (
        "nothing used, even",
        "capacity_rate",
        100,
        {"idle": "even"},
        {"capacity": 9, "usage": {"n": 0, "v": 0}},
        {"_idle": 100, "n": 0, "v": 0},
    ),
    (
        "idle evenly over who used it",
        "capacity_rate",
        9000,
        {"idle": "even"},
        {"capacity": 12, "usage": {"n": 4, "v": 2, "never": 0}},
        {"n": 5250, "v": 3750, "never": 0},
    ),
    (
        "nothing used",
        "capacity_rate",
        100,
        {"idle": "proportional"},
        {"capacity": 9, "usage": {"n": 0}},
        {"_idle": 100, "n": 0},
    ),
    ("no capacity and no demand", "capacity_rate", 100, {}, {"capacity": 0, "usage": {"n": 0}}, {"_idle": 100, "n": 0}),
    (
        "four quarters make one GPU",
        "capacity_rate",
        1000,
        {},
        {"capacity": 1, "usage": dict.fromkeys("abcd", "0.25")},
        {"_idle": 0, **dict.fromkeys("abcd", 250)},
    ),
    (
        "others ran on the reservation: holders pay for what was idle",
        "capacity_rate",
        1000,
        {"idle": "reservation"},
        {"capacity": 10, "usage": {"n": 8}, "unused_reservation": {"v": 3, "w": 1}},
        {"_idle": 0, "n": 800, "v": 150, "w": 50},
    ),
    ("only usage", "blend", 1000, {"alpha": 0}, {"request": {"n": 9}, "usage": {"n": 1, "v": 4}}, {"n": 200, "v": 800}),
    (
        "blend with idle",
        "blend",
        1000,
        {"alpha": "0.5"},
        {"request": {"n": 8}, "usage": {"n": 4}, "capacity": 10},
        {"_idle": 400, "n": 600},
    ),
    (
        "lenders are credited",
        "two_part",
        10000,
        {},
        {"capacity": 100, "reserved": {"a": 60, "b": 40}, "usage": {"a": 20, "b": 40, "c": 30}},
        {"_idle": 0, "a": 3000, "b": 4000, "c": 3000},
    ),
    (
        "lenders share the credit by what they left unused",
        "two_part",
        1000,
        {},
        {"capacity": 10, "reserved": {"a": 6, "b": 4}, "usage": {"a": 3, "b": 3, "c": 2}},
        {"_idle": 0, "a": 450, "b": 350, "c": 200},
    ),
    (
        "no credit: paid twice, and shown",
        "two_part",
        1000,
        {"lend_credit": False},
        {"capacity": 10, "reserved": {"a": 10}, "usage": {"c": 4}},
        {"_idle": 0, "_residual": -400, "a": 1000, "c": 400},
    ),
    (
        "burst at a price",
        "two_part",
        1000,
        {"burst_rate": "price"},
        {"capacity": 10, "reserved": {"a": 4}, "usage": {"a": 4, "c": 2}, "burst_price_minor": 150},
        {"_idle": 400, "_residual": -100, "a": 400, "c": 300},
    ),
    (
        "use above capacity lowers the rate",
        "two_part",
        1000,
        {},
        {"capacity": 4, "reserved": {"a": 2}, "usage": {"a": 2, "b": 6}},
        {"_idle": 0, "a": 250, "b": 750},
    ),
    (
        "over-recovery",
        "rate_card",
        1000,
        {},
        {"price_minor": 250, "quantity": {"a": 4, "b": 2}},
        {"_residual": -500, "a": 1000, "b": 500},
    ),
    (
        "ties at the last peak share it",
        "coincident_peak",
        1000,
        {"k": 1},
        {"series": {"a": [4, 0], "b": [0, 4]}},
        {"a": 500, "b": 500},
    ),
    (
        "one place above, two tied",
        "coincident_peak",
        900,
        {"k": 2},
        {"series": {"a": [5, 4, 0], "b": [0, 0, 4]}},
        {"a": 700, "b": 200},
    ),
    (
        "head-room is idle",
        "coincident_peak",
        1000,
        {},
        {"series": {"a": [4], "b": [1]}, "capacity": 10},
        {"_idle": 500, "a": 400, "b": 100},
    ),
    (
        "no demand below a capacity",
        "peak_shapley",
        1000,
        {},
        {"series": {"a": [0]}, "capacity": 10},
        {"_idle": 1000, "a": 0},
    ),
    (
        "weighted slots",
        "temporal_shapley",
        1200,
        {"weighted": True},
        {"series": {"a": [2, 0], "b": [0, 1]}},
        {"a": 1029, "b": 171},
    ),
    ("zero peaks", "airport_shapley", 9, {}, {"peaks": {"a": 0, "b": 0}}, {"_unallocated": 9, "a": 0, "b": 0}),
    (
        "one of them needs nothing",
        "airport_shapley",
        90,
        {},
        {"peaks": {"a": 0, "b": 1, "c": 2}},
        {"a": 0, "b": 23, "c": 67},
    ),
    (
        "a fixed part",
        "serial",
        16,
        {},
        {"cost": "q", "fixed": 10, "demand": {"a": 1, "b": 5, "z": 0}},
        {"a": 6, "b": 10, "z": 0},
    ),
    ("a polynomial", "serial", 16, {}, {"cost": "2*q + 1/2*q^2", "demand": {"a": 2, "b": 2}}, {"a": 8, "b": 8}),
    (
        "one resource binds",
        "aumann_shapley_binding",
        300,
        {},
        {"demand": {"t": {"gpu": 2}, "p": {"gpu": 1, "cpu": 2}}, "node": {"gpu": 1, "cpu": 8}},
        {"p": 100, "t": 200},
    ),
    ("own use is stripped", "reciprocal", 600, {}, LOOP, {"X": 600}),
    ("nobody serves anybody", "reciprocal", 5, {}, {"costs": {"X": 5}, "shares": {}}, {"X": 5}),
    (
        "a receiver with no shares keeps what arrives",
        "reciprocal",
        6,
        {},
        {"costs": {"Y": 6}, "shares": {"Y": {"X": 1}, "X": {}}},
        {"X": 6},
    ),
    (
        "only joules",
        "energy_two_part",
        100,
        {},
        {"static_share": 0, "alloc_hours": {}, "dynamic_joules": {"a": 1}},
        {"_unallocated": 0, "a": 100},
    ),
    (
        "all of it",
        "percent_subsidy",
        10,
        {},
        {"drivers": {"a": 1, "b": 1}, "subsidy_pct": {"a": 100}},
        {"_sponsor": 5, "a": 0, "b": 5},
    ),
    (
        "a floor",
        "floor",
        100,
        {},
        {"allocation": {"a": 90, "b": 10}, "floors": {"b": 30}},
        {"_residual": -20, "a": 90, "b": 30},
    ),
    (
        "at most a fifth more",
        "smooth",
        100,
        {},
        {"allocation": {"a": 90, "b": 10}, "previous": {"a": 50}, "max_change_pct": 20},
        {"_sponsor": 30, "a": 60, "b": 10},
    ),
    (  # 123.45 USD at 150.5 are 18579.225 JPY
        "yen have no cents",
        "fx",
        12345,
        {},
        {"bill_currency": "USD", "report_currency": "JPY", "rate": "150.5", "drivers": {"a": 1, "b": 1}},
        {"a": 9290, "b": 9289},
    ),
]

P = {"drivers": {"a": 1}}
REFUSALS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("unknown_method", "proportionl", {}, P),
    ("not_a_split", "time", {}, P),
    ("missing_input", "proportional", {}, {}),
    ("missing_input", "blend", {}, {"request": {}, "usage": {}}),
    ("missing_input", "shapley_table", {}, {"coalition_cost": {"a": 1, "b": 2}}),
    ("missing_input", "capacity_rate", {"idle": "reservation"}, {"capacity": 1, "usage": {}}),
    ("unknown_key", "capacity_rate", {"idel": "even"}, {"capacity": 1, "usage": {}}),
    ("invalid_choice", "capacity_rate", {"idle": "everyone"}, {"capacity": 1, "usage": {}}),
    ("invalid_input", "proportional", {}, {"drivers": [1]}),
    ("invalid_input", "coincident_peak", {}, {"series": {"a": 1}}),
    ("invalid_owner", "proportional", {}, {"drivers": {"": 1}}),
    ("invalid_owner", "proportional", {}, {"drivers": {"\ud800": 1}}),
    ("duplicate_owner", "proportional", {}, {"drivers": {"\u00e9": 1, "e\u0301": 1}}),
    ("duplicate_owner", "two_part", {}, {"capacity": 9, "reserved": {"\u00e9": 1}, "usage": {"e\u0301": 1}}),
    ("duplicate_owner", "even", {}, {"members": ["a", "a"]}),
    ("duplicate_key", "shapley_table", {}, {"coalition_cost": {"a": 1, "b": 1, "a+b": 1, "b+a": 1}}),
    ("negative_driver", "peak_shapley", {}, {"series": {"a": [-1]}}),
    ("negative_weight", "fixed_weights", {}, {"weights_pct": {"a": -1}}),
    ("negative_weight", "time_of_use", {}, {"series": {"a": [1]}, "slot_weights": [-1]}),
    ("negative_weight", "reciprocal", {}, {"costs": {"X": 100}, "shares": {"X": {"Y": -1}}}),
    ("negative_amount", "capacity_rate", {}, {"capacity": -1, "usage": {}}),
    ("negative_amount", "cap_and_sponsor", {}, {"drivers": {"a": 1}, "caps": {"a": -1}}),
    ("out_of_range", "coincident_peak", {"k": 0}, {"series": SERIES}),
    ("out_of_range", "blend", {"alpha": "1.1"}, {"request": {}, "usage": {}}),
    ("out_of_range", "airport_shapley", {"step": 0}, {"peaks": {"a": 1}}),
    ("out_of_range", "resource_weighted", {}, {"capacity": {"g": 1}, "usage": {}, "weights": {"g": 0}}),
    ("unequal_series", "peak_shapley", {}, {"series": {"a": [1], "b": [1, 2]}}),
    ("unequal_series", "time_of_use", {}, {"series": {"a": [1]}, "slot_weights": [1, 1]}),
    ("unknown_resource", "dominant_share", {}, {"capacity": {"cpu": 1}, "usage": {"a": {"gpu": 1}}}),
    ("zero_capacity", "dominant_share", {}, {"capacity": {"cpu": 0}, "usage": {"a": {"cpu": 1}}}),
    ("invalid_cost", "serial", {}, {"cost": "__import__('os')", "demand": {"a": 1}}),
    ("invalid_cost", "serial", {}, {"cost": "q^99", "demand": {"a": 1}}),
    ("invalid_tiers", "serial", {}, {"tiers": [[5, 1], [5, 2]], "demand": {"a": 1}}),
    ("invalid_tiers", "serial", {}, {"tiers": [[5, 1]], "demand": {"a": 6}}),
    ("invalid_tiers", "serial", {}, {"tiers": [[None, 1], [5, 1]], "demand": {"a": 6}}),
    ("invalid_order", "step_down", {}, {**LOOP, "costs": {"Y": 100}, "order": ["X"]}),
    ("invalid_order", "incremental", {}, {"coalition_cost": {"a": 1}, "order": ["a", "b"]}),
    ("bill_mismatch", "reciprocal", {}, LOOP),
    ("bill_mismatch", "cap_and_sponsor", {}, {"allocation": {"a": 99}, "caps": {}}),
    ("singular_service_loop", "reciprocal", {}, {"costs": {"A": 100}, "shares": {"A": {"A": 1}}}),
    ("singular_service_loop", "step_down", {}, {"costs": {"A": 100}, "shares": {"A": {"B": 1}, "B": {"A": 1}}, "order": ["A", "B"]}),
    ("singular_service_loop", "direct_method", {}, {"costs": {"A": 100}, "shares": {"A": {"B": 1}, "B": {"A": 1}}}),
    ("subsidy_exceeds_100", "percent_subsidy", {}, {**P, "subsidy_pct": {"a": 101}}),
    ("invalid_rate", "fx", {}, {**P, "bill_currency": "EUR", "report_currency": "USD", "rate": 0}),
    ("invalid_rate", "fx", {}, {**P, "bill_currency": "EUR", "report_currency": "USD", "rate": "-1.1"}),
    ("invalid_rate", "fx", {}, {**P, "bill_currency": "EUR", "report_currency": "EUR", "rate": "1.1"}),
    ("invalid_number", "fx", {}, {**P, "bill_currency": "EUR", "report_currency": "USD", "rate": "NaN"}),
    ("unknown_currency", "fx", {}, {**P, "bill_currency": "euro", "report_currency": "USD", "rate": 1}),
    ("too_large", "peak_shapley", {}, {"series": {f"t{n}": [1] for n in range(15)}}),
    ("too_large", "proportional", {}, {"drivers": {str(n): 1 for n in range(10_001)}}),
    ("too_large", "proportional", {}, {"drivers": {str(n): f"1/{10**60 + 2 * n + 1}" for n in range(200)}}),
    ("too_large", "reciprocal", {}, {"costs": {"p1": 100}, "shares": {f"p{n}": {"X": 1} for n in range(101)}}),
]  # fmt: skip

BAD_NUMBERS = [
    '"NaN"', '"Infinity"', '"-inf"', '""', '" "', '" 1"', '"1 "', '"1_000"', '"0x10"', '"--1"', '"+-1"', '"1e30000000"', '"1e101"', '"1e"', '"."',
    '"\\u0661\\u0662"', '"\\uff11"', '"\\u00bd"', '"1,000"', '"1/0"',
    '"1/2/3"', '"1/"', '"/2"', "0.1", "1.0", "1e2", "NaN", "Infinity", "-Infinity", "true", "null",
    "[1]", "{}", '"' + "9" * 129 + '"', "9" * 129, "9" * 5000, '"1\\n"', '"one"', '"1\\u0000"', "-0.0",
]  # fmt: skip


@pytest.mark.parametrize("row", ANSWERS, ids=[f"{row[1]}: {row[0]}" for row in ANSWERS])
def test_answers(row: Answer) -> None:
    _, method, bill, params, inputs, shares = row
    problem = {"method": method, "bill_minor": bill, "params": params, "inputs": inputs}
    code, printed = split(json.dumps(problem))
    assert (code, printed["shares"]) == (0, shares)


@pytest.mark.parametrize(
    ("code", "method", "params", "inputs"), REFUSALS, ids=[f"{row[1]} {row[0]}" for row in REFUSALS]
)
def test_refusals(code: str, method: str, params: dict[str, Any], inputs: dict[str, Any]) -> None:
    status, printed = split(json.dumps({"method": method, "bill_minor": 100, "params": params, "inputs": inputs}))
    assert (status, printed.get("error")) == (1, code)
    assert len(printed["message"]) > 15
    json.dumps(printed).encode()


@pytest.mark.parametrize("number", BAD_NUMBERS, ids=range(len(BAD_NUMBERS)))
@pytest.mark.parametrize("place", ["driver", "bill", "slot"])
def test_numbers_that_are_refused(number: str, place: str) -> None:
    text = {
        "driver": f'{{"method": "proportional", "bill_minor": 1, "inputs": {{"drivers": {{"a": {number}, "b": 1}}}}}}',
        "bill": f'{{"method": "proportional", "bill_minor": {number}, "inputs": {{"drivers": {{"a": 1}}}}}}',
        "slot": f'{{"method": "peak_shapley", "bill_minor": 1, "inputs": {{"series": {{"a": [{number}]}}}}}}',
    }[place]
    absent = place == "bill" and number == "null"
    assert split(text)[1]["error"] == ("missing_input" if absent else "invalid_number")


@pytest.mark.parametrize(
    "number", ["1", '"1"', '"+1"', '"1.50"', '".5"', '"1e2"', '"1E-2"', '"1/3"', "9" * 128, '"1e100"']
)
def test_numbers_that_are_taken(number: str) -> None:
    assert split(f'{{"method": "proportional", "bill_minor": 5, "inputs": {{"drivers": {{"a": {number}}}}}}}') == (
        0,
        {"shares": {"a": 5}},
    )


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("invalid_json", ""),
        ("invalid_json", "{"),
        ("invalid_json", "[" * 100_000),
        ("invalid_json", '{"method": "proportional"} {}'),
        ("invalid_input", "[]"),
        ("invalid_input", "null"),
        ("invalid_input", '{"method": "even", "bill_minor": 1, "inputs": 5}'),
        ("missing_input", "{}"),
        ("missing_input", '{"method": "even", "inputs": {"members": []}}'),
        ("unknown_method", '{"method": 5}'),
        ("unknown_method", '{"method": ["even"]}'),
        ("duplicate_key", '{"method": "proportional", "bill_minor": 1, "inputs": {"drivers": {"a": 1, "a": 2}}}'),
        ("invalid_number", '{"method": "even", "bill_minor": "1/2", "inputs": {"members": []}}'),
        ("too_large", '{"method": "' + "x" * LARGEST_TEXT + '"}'),
        ("too_large", json.dumps({"method": "even", "bill_minor": 1, "inputs": {str(n): 1 for n in range(200)}})),
    ],
)
def test_texts_that_are_refused(code: str, text: str) -> None:
    assert split(text)[1]["error"] == code
