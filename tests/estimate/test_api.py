"""`POST /api/v1/estimates`: what the verb says, for one's own teams and of the pools that they are charged from."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import apportion
from apportion.client.estimates import Estimated
from apportion.render.estimate import estimate_sheet, estimate_value
from apportion.render.json import portable
from apportion.verbs.project import Project
from tests.web.conftest import Clients, clients_of

JOB: dict[str, Any] = {"team": "vision", "hours": "6", "gpus": "4", "model": "h100", "start": "2026-11-05T13:00"}


@pytest.fixture(scope="module")
def served(small_once: Path) -> Clients:
    return clients_of(small_once)


def post(client: TestClient, **job: str) -> Any:
    return client.post("/api/v1/estimates", json=job, headers={"Sec-Fetch-Site": "same-origin"})


def test_it_says_what_the_verb_says(served: Clients, small: Project) -> None:
    answer = post(served("finance"), **JOB)
    assert answer.status_code == 200
    assert answer.json() == portable(estimate_value(apportion.estimate(small, **JOB)))
    assert Estimated.model_validate(answer.json()).direct == "48"


def test_only_for_teams_and_from_pools_that_are_theirs(served: Clients) -> None:
    """ada sees vision, which was never charged from the small pool."""
    whole, mine = post(served("finance"), **JOB).json(), post(served("viewer"), **JOB).json()
    assert [mine[name] for name in ("direct", "idle", "price")] == [whole[name] for name in ("direct", "idle", "price")]
    assert any(way["way"] == "on L40S" for way in whole["cheaper"])
    assert not [way for way in mine["cheaper"] if "small" in way["pools"]]
    for team in ("speech", "nowhere"):
        refused = post(served("viewer"), **{**JOB, "team": team})
        assert (refused.status_code, refused.json()["detail"]) == (404, "there is no such team here")
    for model in ("l40s", "z40s"):
        unknown = post(served("viewer"), **{**JOB, "model": model}).json()
        assert (unknown["code"], unknown["hint"]) == ("unknown-model", "known: NVIDIA-H100-80GB")


def test_the_page_says_what_the_command_says(served: Clients, small: Project) -> None:
    """With the same question in the terminal below, and the words of an error where it has none."""
    asked = "team=vision&hours=6&gpus=4&model=h100&start=2026-11-05T13:00&labels=qos%3Dpreemptible"
    found = apportion.estimate(small, **JOB, labels=["qos=preemptible"])
    page = served("viewer").get(f"/estimate.json?{asked}").json()
    assert page["title"] == estimate_sheet(found).title
    assert Decimal(page["tables"][0]["rows"][0]["price"]) == found.asked.price.owed
    shown = served("viewer").get(f"/estimate?{asked}").text
    assert "apportion estimate --team vision --hours 6 --gpus 4 --model h100" in shown
    assert "--label qos=preemptible" in shown
    assert "\\u000a" not in shown
    assert "such a job holds nothing" in served("viewer").get("/estimate?team=vision&hours=6").text
    assert served("viewer").get("/estimate?team=speech&hours=6&gpus=1").status_code == 404
    assert "speech" not in served("viewer").get("/estimate").text


def test_a_wish_that_is_not_in_order(served: Clients) -> None:
    assert post(served("viewer"), **{**JOB, "hours": "-1"}).status_code == 422
    wrong = post(served("viewer"), **{**JOB, "gpus": "-1"})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "negative-amount")
    assert Decimal(post(served("lead"), team="speech", hours="1", cpus="10", memory="20").json()["direct"]) > 0
