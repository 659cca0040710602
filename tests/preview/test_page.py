"""Statements on pages and over the API tell of both figures, and notice when the rules to come are edited."""

from pathlib import Path

import pytest

from tests.preview.conftest import NEXT
from tests.sources import making
from tests.web.conftest import clients_of

MONTH = "2026-10"
PAGE = f"/statements/{MONTH}/vision"


@pytest.fixture
def folder(own: Path) -> Path:
    making.put(own / "apportion.toml", (own / "apportion.toml").read_text("utf-8") + "\n[web]\n")
    return own


def test_both_figures_are_there_for_whose_they_are(folder: Path) -> None:
    clients = clients_of(folder)
    page = clients("viewer").get(PAGE).text
    assert "it would be 96.00 USD, 54.00 USD (36.0 %) less." in page
    assert page.count("<h2>By rules to come</h2>") == 1
    assert "<h2>Why it would be another amount</h2>" in page
    (vision,) = clients("viewer").get(f"/statements.json?period={MONTH}").json()["tables"][0]["rows"]
    assert (vision["owed"], vision["coming"], vision["change"]) == ("150", "96", "-54")
    assert "rules to come" in clients("viewer").get(f"{PAGE}/download?format=md").text
    audio = clients("finance").get(f"/statements/{MONTH}/audio").text
    assert "it would be 45.00 USD, 45.00 USD more." in audio
    assert "/explain?what=audio" not in audio  # nothing is posted to it
    listed = clients("finance").get(f"/api/v1/statements?period={MONTH}").json()["items"]
    assert {one["owner"]: one["coming"] for one in listed} == {
        "vision": "96", "speech": "79.01", "platform": "9.99", "audio": "45",
    }  # fmt: skip
    (told,) = clients("viewer").get(f"/api/v1/statements/{MONTH}/vision").json()["statements"]
    assert told["preview"]["owed"] == "96"


def test_other_rules_to_come_are_noticed(folder: Path) -> None:
    viewer = clients_of(folder)("viewer")
    assert "it would be 96.00 USD" in viewer.get(PAGE).text
    making.put(folder / "next.yaml", NEXT.replace("vision: 50, speech: 25", "vision: 25, speech: 50"))
    assert "it would be 51.00 USD" in viewer.get(PAGE).text
    (folder / "next.yaml").unlink()
    assert "it is not known what this period would come to" in viewer.get(PAGE).text
