"""Reservations and loans over the API and on the page: each for their own teams, and nothing said of others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from apportion.client.pledges import LoanWish, ReservationWish
from tests.quotas.world import SPEECH, VISION, opened
from tests.web.conftest import clients_of

ROOT = "/api/v1"
DEPARTMENT = "{department: research, meter: gpu, hours: 90, per: year}"  # 96 were held in October 2026
ROOMY = "{department: research, meter: gpu, hours: 1000000, per: month}"
SAME = {"Sec-Fetch-Site": "same-origin"}
Clients = Callable[[str], TestClient]


@pytest.fixture
def clients(posted: Path, tmp_path: Path) -> Clients:
    return clients_of(opened(posted, tmp_path / "p", VISION, SPEECH, ROOMY).folder)


def post(client: TestClient, path: str, given: dict[str, Any]) -> Any:
    return client.post(ROOT + path, json=given, headers=SAME)


def test_a_lead_reserves_for_their_own_team_alone(clients: Clients) -> None:
    lead, viewer, admin = clients("lead"), clients("viewer"), clients("admin")
    wish = ReservationWish(team="speech", amount="7", job="4711", expires="24h").model_dump()
    made = post(lead, "/reservations", wish).json()
    assert (made["fits"], made["pledges"][0]["who"], made["pledges"][0]["status"]) == (True, "grace", "open")
    assert post(lead, "/reservations", wish).json()["pledges"] == made["pledges"]
    assert post(lead, "/reservations", {**wish, "amount": "8"}).json()["code"] == "reservation-differs"
    full = post(lead, "/reservations", {**wish, "amount": "60", "job": "4712"}).json()
    assert (full["fits"], full["pledges"]) == (False, [])
    assert "53 of 60 GPU-hours are left" in full["said"]
    for team in ("vision", "nowhere"):
        answer = post(lead, "/reservations", {**wish, "team": team})
        assert (answer.status_code, answer.json()["detail"]) == (404, "there is no such team here")
    assert post(viewer, "/reservations", {**wish, "team": "vision"}).status_code == 403
    assert viewer.get(f"{ROOT}/pledges").json()["items"] == []
    assert len(admin.get(f"{ROOT}/pledges?status=open").json()["items"]) == 1
    assert "4711" in lead.get("/quotas?period=2026-10").text
    assert "4711" not in viewer.get("/quotas?period=2026-10").text
    assert post(lead, "/reservations/1/posting", {"actual": "5"}).json()["came_to"] == "5"
    assert post(lead, "/reservations/1/voiding", {}).json()["code"] == "pledge-ended"
    assert post(lead, "/reservations/9/voiding", {}).status_code == 404


def test_a_loan_is_between_teams_that_one_sees(clients: Clients) -> None:
    lead, viewer, finance = clients("lead"), clients("viewer"), clients("finance")
    wish = LoanWish(owner="speech", other="vision", amount="9", period="2100-01", why="a secret paper").model_dump()
    assert post(lead, "/loans", wish).status_code == 404
    made = post(finance, "/loans", wish).json()
    assert (made["owner"], made["other"], made["first"]) == ("speech", "vision", "2100-01-01")
    (seen,) = viewer.get(f"{ROOT}/pledges").json()["items"]
    assert (seen["owner"], seen["other"], seen["amount"], seen["why"], seen["who"]) == (
        "another team",
        "vision",
        "9",
        "",
        "",
    )
    assert post(lead, f"/loans/{made['number']}/return", {}).status_code == 404
    assert post(finance, f"/loans/{made['number']}/return", {"why": "not needed"}).json()["status"] == "returned"


def test_what_a_department_has_is_told_to_those_who_see_it(posted: Path, tmp_path: Path) -> None:
    folder = opened(posted, tmp_path / "p", SPEECH, DEPARTMENT.replace("90", "6")).folder
    wish = ReservationWish(team="speech", amount="7", job="1").model_dump()
    people = clients_of(folder)
    said = post(people("lead"), "/reservations", wish).json()
    assert said["fits"] is False
    assert "department" not in str(people("viewer").get(f"{ROOT}/quotas").json()["sections"])
    assert said["said"] == "speech needs more than its department has left."
    assert "department research" in post(people("admin"), "/reservations", wish).json()["said"]
