"""Names come from outside: slashes, dots, endings of formats, other alphabets and markup are names like others, in every link."""

import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import apportion
from apportion.books.doors import Person
from apportion.verbs.dispute import Doubt, Settlement
from apportion.verbs.project import Project
from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from tests.sources import making
from tests.web import world
from tests.web.conftest import OUR_HOST, Clients, clients_of
from tests.web.reading import links

POLICY = """\
policy: odd
effective: 2026-01-01
currency: USD
time_zone: UTC
owners:
  - {when: {slurm.account: "*"}, team: "{slurm.account}", project: "{slurm.wckey}", user: "{slurm.user}"}
pools:
  "gpus/1.json": {costs: {ServiceCategory: Compute}, usage: {node: "node-*"}, meter: gpu, method: proportional}
  rest: {costs: otherwise, by: cost, over: all}
"""
TEAMS = (
    "a/b",
    "a",
    "x.json",
    "..",
    "ünï 队",
    "<b>bold</b>",
    "what?#now&then=1",
    "100%25",
    "sp ace",
    "y.html",
    "</script><script>alert(1)",
    "{{7*7}}",
    '"onmouseover=alert(1) x="',
)
PROJECTS = (
    "c",
    "b/c",
    "p.csv",
    ".",
    "プロ",
    "<script>alert(1)</script>",
    "?q=1",
    "%2F",
    "a+b",
    "z.json.html",
    "${7*7}",
    "=1+1",
    "' or 1=1 --",
)
USERS = ("u/1", "u", "u.json", "..", "åsa", "<i>u</i>", "u?", "u%", "u v", "u.csv", "@u", "<!--", "&amp;")
JOBS = (
    "j/1",
    "j",
    "9.json",
    "..",
    "jöb",
    "<i>j</i>",
    "j?x=1",
    "j%2F",
    "j k",
    "j.html",
    "]]>",
    "j'\"`",
    "..%2f..%2fetc",
)


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("odd") / "project"
    folder.mkdir()
    (folder / "apportion.toml").write_text(world.SETTINGS, "utf-8")
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    world.write_month(folder, "2026-10")
    given = next(world.jobs("2026-10"))
    rows = [
        given | {"job": job, "run": job, "account": team, "wckey": part, "user": user, "gpus": str(n + 1), "name": ""}
        for n, (job, team, part, user) in enumerate(zip(JOBS, TEAMS, PROJECTS, USERS, strict=True))
    ]
    making.put(folder / "usage" / "jobs-2026-10.csv", making.csv_text(rows))
    project = apportion.open_project(folder)
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    apportion.open_dispute(project, "2026-10", Doubt("job:j/1", "whose was it"))
    yield project
    project.books.close()


@pytest.fixture(scope="module")
def odd_clients(odd: Project) -> Clients:
    return clients_of(Path(odd.folder))


def test_teams_projects_users_and_runs_are_reached_by_their_links(odd: Project, odd_clients: Clients) -> None:
    client = odd_clients("finance")
    amounts: dict[tuple[str, str], Decimal] = {}
    for row in odd.books.posted("2026-10").to_pylist():
        key = row["team"], row["project"]
        amounts[key] = amounts.get(key, Decimal(0)) + row["amount"]
    pages = dict(links(client.get("/teams").text))
    for job, team, part, user in zip(JOBS, TEAMS, PROJECTS, USERS, strict=True):
        text = client.get(pages[team]).text
        assert forms_agree(client, text)["team"] == team
        below = dict(links(text))
        owned = forms_agree(client, client.get(below[f"{team}/{part}"]).text)
        assert (owned["team"], owned["project"]) == (team, part)
        assert f"{amounts[team, part]:,.2f} USD" in owned["title"]
        assert forms_agree(client, client.get(below[f"{team}/{user}"]).text)["user"] == user
        run = forms_agree(client, client.get(below[job]).text)
        assert (run["run"], run["owners"]) == (job, [f"{team}/{part}/{user}"])


def forms_agree(client: TestClient, text: str) -> dict[str, Any]:
    """The JSON that the page's own link leads to; its permalink gives the page again, and nothing in it is markup from outside."""
    assert "<script>alert" not in text
    assert "<b>bold" not in text
    assert not re.search(r"<[^>]*\sonmouseover=", re.sub(r'"[^"]*"', "", text))
    assert ">49<" not in text
    found = dict(links(text))
    assert client.get(found["Permalink"]).text == text
    assert client.get(found["CSV"]).headers["content-type"].startswith("text/csv")
    made: dict[str, Any] = client.get(found["JSON"]).json()
    return made


def test_a_team_is_not_another_s_project_of_the_same_path(odd: Project) -> None:
    """Team `a` has a project `b/c`, and there is a team `a/b`, which no policy declares: neither sees the other."""
    for team in ("a", "a/b"):
        app = create_app(odd.folder)
        key = app.state.desk.books.doors.open_session(Person("x", "lead", frozenset({team}), "link"), 3600)
        client = TestClient(app, OUR_HOST, cookies={COOKIE: key}, raise_server_exceptions=False)
        issued = client.get("/api/v1/statements?period=2026-10").json()["items"]
        assert {one["owner"] for one in issued} == {team}
        rows = client.get("/statements.json?period=2026-10").json()["tables"][0]["rows"]
        assert [row["owner"] for row in rows] == [team]
        assert client.get("/statements/2026-10/a%2Fb").status_code == (200 if team == "a/b" else 404)
        assert client.get("/api/v1/budgets").json()["items"] == []
        for path in ("/disputes.json", "/api/v1/disputes"):
            assert "whose was it" not in client.get(path).text


def test_what_was_moved_from_a_team_is_not_told_to_one_whose_name_begins_it(odd: Project, tmp_path: Path) -> None:
    own = world.copied(odd, tmp_path / "own")
    apportion.settle(own, 1, Settlement("reclassed", "it was ours", "sp ace"))
    app = create_app(own.folder)
    for team, count in (("a", 0), ("sp ace", 1)):
        key = app.state.desk.books.doors.open_session(Person("x", "viewer", frozenset({team}), "link"), 3600)
        client = TestClient(app, OUR_HOST, cookies={COOKIE: key}, raise_server_exceptions=False)
        assert len(client.get("/adjustments.json?period=2026-10").json()["tables"][0]["rows"]) == count
        assert len(client.get("/api/v1/adjustments").json()["items"]) == count


def test_search_leads_to_them(odd_clients: Clients) -> None:
    client = odd_clients("finance")
    for name, kind in (*((team, "team") for team in TEAMS), *((job, "run") for job in JOBS)):
        page = client.get("/search.json", params={"q": name}).json()
        rows = page["tables"][0]["rows"]
        place = next(n for n, row in enumerate(rows) if (row["kind"], row["called"]) == (kind, name))
        assert client.get(page["links"][place]).status_code == 200
        assert rows[place]["match"] == "exact"


def test_a_project_of_one_team_is_not_another_s_of_the_same_path(odd: Project, odd_clients: Clients) -> None:
    """Project `c` of team `a/b`, and project `b/c` of team `a`."""
    client = odd_clients("finance")
    figures = [
        client.get(path).json()["figures"][0]["text"] for path in ("/projects/a%2Fb/c.json", "/projects/a/b%2Fc.json")
    ]
    sums = dict.fromkeys(("a/b", "a"), Decimal(0))
    for row in odd.books.posted("2026-10").to_pylist():
        if row["team"] in sums and row["project"]:
            sums[row["team"]] += row["amount"]
    assert figures == [f"{sums['a/b']:,.2f} USD", f"{sums['a']:,.2f} USD"]
    assert figures[0] != figures[1]
