"""Answers that OpenCost's own code wrote."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.model.meters import GPU
from apportion.sources.opencost.answers import data_of
from tests.opencost import answers as a
from tests.sources import making

EXAMPLES = Path(__file__).parents[2] / ".." / "shared" / "data" / "opencost" / "example_responses.json"


@pytest.fixture(scope="module")
def bodies() -> dict[str, Any]:
    if not EXAMPLES.exists():
        pytest.skip("no ../shared/data/opencost beside this checkout")
    found: dict[str, Any] = json.loads(EXAMPLES.read_text(encoding="utf-8"), parse_float=str)
    return {name: json.loads(json.dumps(body)) for name, body in found.items()}


def body(bodies: dict[str, Any], path: str) -> str:
    """As it was written, digit for digit."""
    text = EXAMPLES.read_text(encoding="utf-8")
    (name,) = (name for name in bodies if name.startswith(f"GET /{path}"))
    start = text.index(":", text.index(json.dumps(name)) + len(json.dumps(name))) + 1
    _, end = json.JSONDecoder().raw_decode(text[start:].lstrip())
    return text[start:].lstrip()[:end]


def test_allocations_and_assets(bodies: dict[str, Any], tmp_path: Path) -> None:
    (found,) = a.saved(tmp_path, body(bodies, "allocation"), body(bodies, "assets"))
    assert making.total([found]) == Decimal("68.5") + Decimal("2.4") + Decimal("2.4") + Decimal("0.6")
    assert a.unit_seconds(found, "gpu") == GPU * 3600
    assert a.unit_seconds(found, "cpu") == 8 * 1000 * 3600
    assert {problem.code for problem in found.problems} == {
        "unreconciled", "more-than-capacity", "missing-amount", "discount-not-on-gpu",
    }  # fmt: skip


def test_cloud_costs(bodies: dict[str, Any], tmp_path: Path) -> None:
    (found,) = a.saved(tmp_path, body(bodies, "cloudCost"), report="cloudCost")
    (line,) = making.lines([found])
    assert (line["EffectiveCost"], line["ListCost"]) == (1980, Decimal("2359.68"))


def test_errors(bodies: dict[str, Any]) -> None:
    refused = [body for name, body in bodies.items() if name.startswith("error") and isinstance(body, dict)]
    assert refused
    for one in refused:
        with pytest.raises(Exception, match=one["message"][:30]):
            data_of(json.dumps(one).encode(), "x")
