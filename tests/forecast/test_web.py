"""`/forecast`, `/api/v1/forecast` and the band on a team's page: what the verb says, of one's own teams alone."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

import apportion
from apportion.reports.words import shown
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of

THROUGH = "2026-11-12"
TWENTIETH = date(2026, 10, 20)


@pytest.fixture(scope="module")
def served(small: Project) -> Clients:
    return clients_of(small.folder)


def rows(answer: Any) -> dict[str, dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return {row["owner"]: row for section in answer.json()["sections"] for row in section["rows"]}


def test_the_api_says_what_the_verb_says(served: Clients, small: Project) -> None:
    found = rows(served("finance").get(f"/api/v1/forecast?through={THROUGH}"))
    made = {one.outlook.name: one for one in apportion.forecast(small, through=THROUGH).groups}
    assert {name: Decimal(row["amount"]) for name, row in found.items()} == {
        name: one.outlook.amount for name, one in made.items()
    }
    at_80 = made["vision"].outlook.range(80)
    assert [Decimal(found["vision"][name]) for name in ("low_80", "high_80", "budget")] == [at_80.low, at_80.high, 1500]
    tried = rows(served("finance").get("/api/v1/forecast/back-test?through=2026-10-31"))
    assert {"every one", "all together", "vision", "zebra"} <= set(tried)


def test_who_sees_one_team_sees_its_forecast_and_no_other(served: Clients) -> None:
    whole = rows(served("finance").get(f"/api/v1/forecast?through={THROUGH}"))
    mine = rows(served("viewer").get(f"/api/v1/forecast?through={THROUGH}"))
    assert mine == {"vision": whole["vision"]}
    for team in ("zebra", "nowhere"):
        refused = served("viewer").get(f"/api/v1/forecast?team={team}")
        assert (refused.status_code, refused.json()["detail"]) == (404, "there is no such team here")
    for url in ("/forecast", "/api/v1/forecast/back-test", "/api/v1/forecast?by=pool"):
        text = served("viewer").get(url).text
        assert not [word for word in world.SECRET if word in text]


def test_the_page_shows_the_end_its_interval_and_the_errors_before(served: Clients, small: Project) -> None:
    [one] = apportion.forecast(small, "vision").groups
    text = served("finance").get("/forecast?where=team%3Dvision").text
    at_80 = one.outlook.range(80)
    for amount in (one.outlook.amount, at_80.low, at_80.high):
        assert shown(amount, "USD") in text
    assert "How the month goes on" in text
    assert "same as last month" in text
    assert "80 % to" in text
    assert served("finance").get("/forecast?where=user%3Dada").status_code == 422


def test_a_teams_page_of_the_running_month_has_the_band(
    served: Clients, small: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the twentieth of October, which is posted; in November the month is over, and nothing is foreseen for it."""
    address = "/teams/vision.json?period=2026-10"
    assert "forecast" not in growth(served("finance").get(address).json())
    for clock in ("estimates.today", "desk.today"):
        monkeypatch.setattr(f"apportion.web.{clock}", lambda: TWENTIETH)
    for clock in ("forecasts.today_of", "pages.teams.today_of"):
        monkeypatch.setattr(f"apportion.web.{clock}", lambda _: TWENTIETH)
    drawn = growth(served("finance").get(address).json())
    made = apportion.forecast(small, "vision", period="2026-10", through="2026-10-12")  # later jobs may still come
    [one] = made.groups
    steps = {f"{day:%d}": [amount, low, high] for day, amount, low, high in one.steps if low is not None}
    assert {
        row["day"]: [Decimal(row[name]) for name in ("forecast", "80 % from", "80 % to")]
        for row in drawn["rows"]
        if row.get("forecast")
    } == steps


def growth(page: Any) -> Any:
    return next(table for table in page["tables"] if {"day", "2026-10"} <= set(table["rows"][0]))
