"""Every chart is Vega-Lite as its own schema knows it, draws fields that its values have, and keeps the colours."""

import inspect
from collections.abc import Iterator
from typing import Any

import altair as alt
import jsonschema
import pytest

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render import chart

DAY = {"day": "2026-10-01", "amount": 3.5, "shown": "3.50 USD", "rank": 0, "complete": True}
OWNERS = ["vision", "speech", "_idle"]
PALETTE = chart.colours(OWNERS)
STEPS = [("use", 3.0, "3.00 USD"), ("idle", 1.0, "1.00 USD"), ("cost", 4.0, "4.00 USD")]
# How each is called; one that is not here fails.
CALLED: dict[str, tuple[Any, ...]] = {
    "stacked_days": (
        [{**DAY, "owner": owner} for owner in OWNERS] + [{**DAY, "owner": "vision", "day": "2026-10-02", "complete": False}],
        PALETTE, OWNERS, "USD",
    ),
    "cumulative": (
        [{"day": "01", "series": "2026-10", "amount": 1.0, "shown": "1.00 USD"}], {"2026-10": "#0072b2"}, "USD", (),
        [{"day": "02", "low": 1.0, "high": 3.0}],
    ),
    "banded": (
        [{"day": "01", "amount": 1.0, "low": 1.0, "high": 1.0, "known": True, "shown": "1.00 USD"}], "#0072b2", "USD", 9.0,
    ),
    "bars": ([{"name": "vision", "amount": 3.5, "shown": "3.50 USD"}], PALETTE, "USD"),
    "waterfall": (STEPS, (0, 2), "USD"),
    "dumbbell": (
        [{"owner": "vision", "before": 1.0, "after": 2.0, "was": "1.00", "then": "2.00", "change": "+1.00"}], PALETTE, ["vision"], "USD",
    ),
    "days_known": ([{"source": "cloud", "day": "01", "date": "2026-10-01", "status": "complete", "sign": "✓"}], ["cloud"]),
    "bullets": ([{"name": "vision", "part": 80.0, "state": "fine", "shown": "80 of 100"}], [{"name": "vision", "at": 80}]),
    "spent_days": (
        [{"day": "2026-10-01", "owner": "used", "amount": 1.0, "shown": "1.0 h", "rank": 0, "complete": True}], ["used"], "GPU hours",
    ),
    "price_steps": ([{"at": "2026-10-01 00", "price": 2.5, "shown": "2.50 USD", "first": True}], "USD"),
    "heat": ([{"day": "Mon", "hour": "00", "amount": 2.5, "shown": "2.50 USD"}], ["Mon"], "USD"),
    "stacked_parts": ([{"pool": "gpus", "reason": "usage", "amount": 2.5, "shown": "2.50 USD"}], ["gpus"], "USD"),
}  # fmt: skip
PARTS = {"base", "colour_by"}  # of charts, none of their own
DRAWING = sorted(
    name
    for name, made in inspect.getmembers(chart, inspect.isfunction)
    if made.__module__ == chart.__name__
    and made.__annotations__.get("return") is chart.Spec
    and name not in PARTS
    and not name.startswith("_")
)


def specs() -> Iterator[tuple[str, dict[str, Any]]]:
    for name in DRAWING:
        yield name, getattr(chart, name)(*CALLED[name])


def parts(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The chart and its layers."""
    yield spec
    for name in ("layer", "vconcat", "hconcat"):
        for part in spec.get(name, ()):
            yield from parts({"data": spec.get("data"), **part})


@pytest.mark.parametrize("name", DRAWING)
def test_a_chart_is_sound(name: str) -> None:
    spec = getattr(chart, name)(*CALLED[name])
    alt.Chart.from_dict(spec)
    assert spec["width"] == "container"


@pytest.mark.parametrize("name", DRAWING)
def test_a_chart_draws_what_is_there(name: str) -> None:
    """A field that no value has is an empty chart without a word of complaint."""
    spec = getattr(chart, name)(*CALLED[name])
    for part in parts(spec):
        known = {field for value in part["data"]["values"] for field in value}
        for channel in part.get("encoding", {}).values():
            for one in channel if isinstance(channel, list) else [channel]:
                assert one.get("field", next(iter(known))) in known | computed(spec)


def computed(spec: dict[str, Any]) -> set[str]:
    return {str(one["as"]) for one in spec.get("transform", ()) if "as" in one}


def test_what_is_wrong_is_refused() -> None:
    spec = chart.heat(*CALLED["heat"])
    with pytest.raises(jsonschema.ValidationError):
        alt.Chart.from_dict({**spec, "mark": {"type": "barr"}})


def test_a_team_keeps_its_colour_and_the_systems_owners_are_grey() -> None:
    few, many = chart.colours(["vision", "_idle"]), chart.colours(["vision", "speech", "zebra", "_idle"])
    assert few["vision"] == many["vision"]
    greys = {chart.GREYS[owner] for owner in SYSTEM_OWNERS}
    assert {many[owner] for owner in SYSTEM_OWNERS} == greys
    assert not greys & set(chart.COLOURS)
    assert len(set(chart.COLOURS)) == len(chart.COLOURS)


def test_a_legend_names_only_what_is_drawn() -> None:
    spec = chart.stacked_days([{**DAY, "owner": "vision"}], PALETTE, OWNERS, "USD")
    assert spec["encoding"]["color"]["legend"]["values"] == ["vision"]
    assert spec["encoding"]["color"]["scale"]["domain"] == OWNERS
