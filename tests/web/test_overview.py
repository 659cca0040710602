"""The first page: what was spent, on whom, and that it adds up; for everyone what they may see."""

import csv
import io

import apportion
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients


def test_title_and_figures_are_those_of_the_command_line(clients: Clients, small: Project) -> None:
    made = apportion.report(small, "showback", "2026-10")
    text = clients("admin").get("/?period=2026-10").text
    assert made.title in text
    for row in made.sections[0].rows:
        assert f"{row[0]}" in text


def test_page_json_and_csv_have_every_digit(clients: Clients, small: Project) -> None:
    made = apportion.report(small, "showback", "2026-10")
    client = clients("admin")
    tables = client.get("/overview.json?period=2026-10").json()["tables"]
    amounts = {row["owner"]: row["amount"] for row in tables[1]["rows"]}
    place = [column.name for column in made.columns].index("amount")
    assert amounts == {row[0]: f"{row[place]:f}".rstrip("0").rstrip(".") for row in made.sections[0].rows}
    days = list(csv.DictReader(io.StringIO(client.get("/overview.csv?period=2026-10").text)))
    assert len(days) == 31


def test_a_viewer_sees_their_own_team_and_no_word_of_another(clients: Clients) -> None:
    text = clients("viewer").get("/").text
    assert "vision" in text
    assert not [word for word in world.SECRET if word in text]


def test_without_a_session_the_login_is_shown(clients: Clients) -> None:
    client = clients("admin")
    client.cookies.clear()
    answer = client.get("/?period=2026-10", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?to=%2F%3Fperiod%3D2026-10")
