"""What `split` tells beside the shares."""

import json
from typing import Any

import pytest

from apportion.verbs.split import split

SERIES = {"a": [10, 8, 1, 0], "b": [0, 1, 7, 6]}


@pytest.mark.parametrize(
    ("method", "params", "inputs", "hours"),
    [
        ("two_part", {}, {"capacity": 10, "reserved": {"a": 6}, "usage": {"a": 6, "b": 5}}, "1"),
        ("two_part", {}, {"capacity": 11, "reserved": {"a": 6}, "usage": {"a": 6, "b": 5}}, None),
        ("capacity_rate", {}, {"capacity": 4, "usage": {"a": 3, "b": "3/2"}}, "0.5"),
        ("capacity_rate", {}, {"capacity": 0, "usage": {"a": 3}}, None),
        ("max_request_usage", {}, {"capacity": 4, "request": {"a": 3}, "usage": {"a": 1, "b": 3}}, "2"),
        ("blend", {"alpha": "1/2"}, {"capacity": 4, "request": {"a": 6}, "usage": {"a": 2, "b": 2}}, "1"),
        ("blend", {"alpha": "1/2"}, {"request": {"a": 6}, "usage": {"a": 2, "b": 2}}, None),
        (
            "resource_weighted",
            {},
            {"capacity": {"cpu": 4, "gpu": 2}, "weights": {"cpu": 1, "gpu": 9}, "usage": {"a": {"cpu": 6, "gpu": 1}}},
            "2",
        ),
        ("dominant_share", {}, {"capacity": {"cpu": 4}, "usage": {"a": {"cpu": 3}, "b": {"cpu": 2}}}, "1"),
        ("coincident_peak", {}, {"capacity": 8, "series": SERIES}, "3"),  # 10, 9, 8 and 6: two above, and one
        ("noncoincident_peak", {}, {"capacity": 8, "peaks": {"a": 7, "b": 7}}, None),  # in other hours, for all it says
    ],
)
def test_use_above_the_capacity_is_told(
    method: str, params: dict[str, Any], inputs: dict[str, Any], hours: str | None
) -> None:
    problem = {"method": method, "bill_minor": 1100, "params": params, "inputs": inputs}
    told = split(json.dumps(problem))[1].get("findings", [])
    assert [(finding["code"], finding["hours"]) for finding in told] == (
        [("used-above-capacity", hours)] if hours else []
    )
