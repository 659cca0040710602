"""What admins see of everything, and others nothing."""

import html
import re

import pytest
from fastapi import FastAPI

from apportion.verbs.project import Project
from apportion.web.app import create_app
from tests.web import world
from tests.web.conftest import PEOPLE, Clients
from tests.web.test_door_tokens import csrf_on


@pytest.fixture(scope="module")
def app(small: Project, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    made = create_app(world.copied(small, tmp_path_factory.mktemp("admin") / "project").folder)
    for person in PEOPLE.values():
        made.state.desk.books.doors.open_session(person, 60)
    return made


def test_admin_pages_are_for_admins(entering: Clients) -> None:
    paths = ("/admin", "/admin/tokens", "/admin/audit", "/admin/runs", "/admin/sources")
    for role in ("viewer", "lead", "finance", "nobody"):
        client = entering(role)
        assert {client.get(path + form).status_code for path in paths for form in ("", ".json", ".csv")} == {403}
    admin = entering("admin")
    assert {admin.get(path + form).status_code for path in paths for form in ("", ".json", ".csv")} == {200}


def test_admin_shows_who_came_in_what_is_read_and_what_was_posted(app: FastAPI, entering: Clients) -> None:
    admin = entering("admin")
    books = app.state.desk.books
    people = admin.get("/admin.json").json()["tables"][0]["rows"]
    assert {row["name"] for row in people} == {one.person.name for one in books.doors.logins()}
    assert next(row for row in people if row["name"] == "root")["role"] == "admin"
    assert [row["run"] for row in admin.get("/admin/runs.json").json()["tables"][0]["rows"]] == [
        run.run_id for run in books.runs()[::-1]
    ]
    sources = admin.get("/admin/sources.json").json()["tables"][0]["rows"]
    assert [row["source"] for row in sources] == [source.name for source in app.state.desk.project.sources]


def test_the_audit_log_is_paged_and_filtered(app: FastAPI, entering: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apportion.web.pages.audit.MOST", 5)
    admin = entering("admin")
    notes = app.state.desk.books.audit()
    path, found = "/admin/audit?", []
    while path:
        found += admin.get(path.replace("?", ".json?", 1)).json()["tables"][0]["rows"]
        later = re.search(r'href="([^"]*before=[^"]*)"[^>]*>Earlier notes', admin.get(path).text)
        path = html.unescape(later[1]) if later else ""
    assert [row["number"] for row in found] == [str(n) for n in range(len(notes), 0, -1)]
    only = admin.get("/admin/audit.json?what=login&who=ada").json()["tables"][0]["rows"]
    assert only
    assert {(row["who"], row["what"]) for row in only} == {("ada", "login")}
    assert admin.get("/admin/audit?before=x").status_code == 422
    assert "Nothing of that is noted" in admin.get("/admin/audit?who=nobody-here").text


def test_ended_sessions_are_over_at_once(entering: Clients) -> None:
    lead, admin = entering("lead"), entering("admin")
    assert lead.get("/overview.json").status_code == 200
    admin.post("/admin/sessions", data={"csrf": csrf_on(admin, "/admin"), "name": "grace"})
    assert lead.get("/overview.json").status_code == 401
    assert admin.post("/admin/sessions", data={"csrf": csrf_on(admin, "/admin"), "name": "grace"}).status_code == 404
