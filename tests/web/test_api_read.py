"""Reading by the API: the same figures as the verbs, and for everyone what they may see."""

import json
from collections.abc import Iterator
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

import apportion
from apportion.model.money import plain
from apportion.reports.live import live_report
from apportion.reports.statement.shape import LATER, money
from apportion.reports.sums import grouped
from apportion.verbs.live import live
from apportion.verbs.periods import today
from apportion.verbs.pools import pool
from apportion.verbs.project import Project
from apportion.verbs.quota import quotas
from apportion.verbs.statement import Wanted, statements
from tests.web import world
from tests.web.conftest import Clients

ROOT = "/api/v1"
OCTOBER = {"period": "2026-10"}


def get(clients: Clients, role: str, path: str, **query: Any) -> Any:
    answer = clients(role).get(ROOT + path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def every(clients: Clients, role: str, path: str, **query: Any) -> list[Any]:
    """All parts of a list, three at a time."""
    found, cursor = [], ""
    while True:
        part = get(clients, role, path, limit=3, cursor=cursor, **query)
        found += part["items"]
        if not (cursor := part["next"]):
            return found


def amount_of(one: Any) -> Decimal:
    return sum((Decimal(part["amount"]) for part in one["amounts"]), Decimal(0))


def owed(project: Project, by: str = "team") -> dict[str, Decimal]:
    made = apportion.report(project, "showback", "2026-10", by=by)
    place = [column.name for column in made.columns].index("amount")
    return {str(row[0]): Decimal(str(row[place])) for row in made.sections[0].rows}


def test_me_says_who_and_what(clients: Clients) -> None:
    assert get(clients, "viewer", "/me") == {
        "name": "ada", "role": "viewer", "by": "link", "teams": ["vision"], "deeds": ["read"],
    }  # fmt: skip
    assert get(clients, "admin", "/me")["teams"] is None


def test_teams_are_what_showback_says(clients: Clients, small: Project) -> None:
    found = every(clients, "admin", "/teams", **OCTOBER)
    assert {one["name"]: amount_of(one) for one in found} == {
        name: amount for name, amount in owed(small).items() if not name.startswith("_")
    }
    assert next(one for one in found if one["name"] == "vision")["cost_centre"] == "4100"
    assert [one["name"] for one in get(clients, "viewer", "/teams")["items"]] == ["vision"]


@pytest.mark.parametrize("by", ["project", "user", "pool"])
def test_lists_of_names_are_what_showback_says(clients: Clients, small: Project, by: str) -> None:
    found = every(clients, "admin", f"/{by}s", **OCTOBER)
    said = {f"{one['team']}/{one['name']}" if one["team"] else one["name"]: amount_of(one) for one in found}
    whole = owed(small, by)
    assert said
    assert {name: whole[name] for name in said} == said


def test_a_breakdown_adds_up_in_every_dimension(clients: Clients, small: Project) -> None:
    for path in ("/teams/vision", "/projects/vision/detect", "/users/ada", "/pools/gpus"):
        found = get(clients, "admin", path, **OCTOBER)
        assert found["by"]
        for by, shares in found["by"].items():
            rounding = sum(Decimal(one["amount"]) for one in shares) - amount_of(found)
            assert abs(rounding) < 1 if by == "day" else not rounding
    assert amount_of(get(clients, "admin", "/teams/vision", **OCTOBER)) == owed(small)["vision"]


def test_periods_sum_what_one_may_see(clients: Clients, small: Project) -> None:
    admin, viewer = every(clients, "admin", "/periods"), every(clients, "viewer", "/periods")
    assert (admin[0]["period"], admin[0]["status"]) == ("2026-09", "closed")
    assert amount_of(admin[1]) == sum(owed(small).values())
    assert amount_of(viewer[1]) == owed(small)["vision"]


def test_postings_come_in_parts_and_add_up(clients: Clients, small: Project) -> None:
    client, found, cursor = clients("admin"), [], ""
    while True:
        part = client.get(f"{ROOT}/postings", params={"limit": 40, "cursor": cursor, **OCTOBER}).json()
        assert len(part["items"]) <= 40
        found += part["items"]
        if not (cursor := part["next"]):
            break
    numbers = [one["seq"] for one in found]
    assert numbers == sorted(set(numbers), reverse=True)
    sums: dict[str, Decimal] = {}
    for one in found:
        sums[one["team"]] = sums.get(one["team"], Decimal(0)) + Decimal(one["amount"])
    posted = grouped(small.books.posted("2026-10"), ("team",))
    assert {team: amount for team, amount in sums.items() if amount} == {
        team: amount for (team,), amount in posted.items()
    }
    assert {one["user"] for one in found if one["team"] == "vision"} >= {"ada"}, "names, not tokens"


@pytest.mark.parametrize(
    ("where", "team"),
    [("project=vision/detect", "vision"), ("project=detect", "vision"), ("user=speech/grace", "speech")],
)
def test_postings_are_narrowed_as_reports_are(clients: Clients, small: Project, where: str, team: str) -> None:
    found = clients("admin").get(f"{ROOT}/postings", params={"limit": 1000, "where": where, **OCTOBER}).json()["items"]
    made = apportion.report(small, "showback", "2026-10", [where])
    assert {one["team"] for one in found} == {team}
    assert abs(sum(Decimal(one["amount"]) for one in found) - made.sections[0].bill) < Decimal("0.01")


@pytest.mark.parametrize("name", ["showback", "trend", "idle", "held", "coverage", "carbon", "corrections"])
def test_reports_are_those_of_the_command_line(clients: Clients, small: Project, name: str) -> None:
    found = clients("admin").get(f"{ROOT}/reports/{name}", params=OCTOBER)
    made = apportion.report(small, name, "2026-10")
    assert found.json()["title"] == made.title
    assert [len(section["rows"]) for section in found.json()["sections"]] == [len(one.rows) for one in made.sections]


@pytest.mark.parametrize("name", ["reconcile", "fairness", "nodes"])
def test_reports_about_no_single_team_are_for_those_who_see_all(clients: Clients, name: str) -> None:
    path = f"{ROOT}/reports/{name}?period=2026-10"
    assert clients("finance").get(path).status_code == 200
    assert clients("lead").get(path).status_code == 403


def test_runs_cost_what_the_verb_says(clients: Clients, small: Project) -> None:
    made = apportion.cost(small, "11001")
    found = get(clients, "viewer", "/runs/11001")
    assert [Decimal(one["owed"]) for one in found["totals"]] == [line.owed for line in made.totals]
    assert found["owners"] == list(made.owners)


def test_statements_are_the_verbs_own(clients: Clients, small: Project) -> None:
    made = statements(small, Wanted("2026-09", owner="vision"))[0]
    found = get(clients, "viewer", "/statements/2026-09/vision")
    assert found["statements"][0]["owed"] == plain(money(made.owed, made.digits))
    assert found["statements"][0]["number"] == made.number
    lines = every(clients, "admin", "/statements", period="2026-09")
    assert [one["owner"] for one in lines] == [
        one.owner for one in sorted(statements(small, Wanted("2026-09")), key=lambda one: one.owner)
    ]
    assert [one["owner"] for one in every(clients, "viewer", "/statements", period="2026-09")] == ["vision"]


def test_a_statement_has_one_form_in_lists_alone_and_in_the_library(clients: Clients, small: Project) -> None:
    """Its kept text, which stays as it was issued, has whole minor units; whoever reads a figure gets what is printed."""
    lines = {one["owner"]: one for one in every(clients, "admin", "/statements", period="2026-09")}
    kept = {one.owner: one for one in statements(small, Wanted("2026-09"))}
    for value in apportion.statements(small, apportion.StatementWish("2026-09")):
        (found,) = get(clients, "admin", f"/statements/2026-09/{value.owner}")["statements"]
        assert found == {name: one for name, one in texts(value).items() if name in found}
        assert [found[name] for name in ("owed", "charged")] == [
            lines[value.owner][name] for name in ("owed", "charged")
        ]
        assert value.owed == Decimal(kept[value.owner].owed) / 100
        assert sum(Decimal(one["amount"]) for one in found["summary"]) == Decimal(found["owed"])
        assert {name for name, one in leaves(found) if isinstance(one, int)} <= {"digits", "line", "rows"}
    (text,) = small.books.statements("2026-09", "team", "vision")
    assert json.loads(text)["owed"] == kept["vision"].owed


def texts(value: Any) -> Any:
    if isinstance(value, SimpleNamespace):
        return {name: texts(one) for name, one in vars(value).items() if name not in LATER or one is not None}
    if isinstance(value, tuple):
        return [texts(one) for one in value]
    return plain(value) if isinstance(value, Decimal) else value


def leaves(found: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(found, dict | list):
        for key, one in found.items() if isinstance(found, dict) else ((name, one) for one in found):
            yield from leaves(one, key)
    else:
        yield name, found


def test_what_one_may_not_see_is_not_there(clients: Clients) -> None:
    """Somebody else's and nobody's get the very same answer."""
    client = clients("viewer")
    for own, none in (
        ("/teams/zebra", "/teams/nowhere"), ("/projects/zebra/halcyon", "/projects/nowhere/halcyon"), ("/users/quagga", "/users/nobody"),
        ("/runs/zjob1001", "/runs/nothing"), ("/statements/2026-10/zebra", "/statements/2026-10/nowhere"), ("/disputes/2", "/disputes/77"),
        ("/statements/2026-09/zebra/halcyon?level=project", "/statements/2026-09/zebra/nothing?level=project"),
        ("/reports/showback?where=team=zebra", "/reports/showback?where=team=nowhere"),
        ("/postings?where=team=zebra", "/postings?where=team=nowhere"),
        ("/explain?what=zebra", "/explain?what=nothing"), ("/capacity/none", "/capacity/other"),
        ("/explain?what=zjob1001", "/explain?what=zjob9999"), ("/reports/showback?where=project=halcyon", "/reports/showback?where=project=halcyox"),
    ):  # fmt: skip
        foreign, absent = client.get(ROOT + own), client.get(ROOT + none)
        assert foreign.status_code == absent.status_code == 404, own
        said, unsaid = foreign.json(), absent.json()
        word, other = own.rpartition("=")[2], none.rpartition("=")[2]
        assert {**said, "detail": said["detail"].replace(word, "*")} == {
            **unsaid,
            "detail": unsaid["detail"].replace(other, "*"),
        }


READ = (
    "/periods", "/teams", "/teams/vision", "/projects", "/users", "/pools", "/pools/gpus", "/postings", "/disputes", "/disputes/1", "/adjustments",
    "/statements", "/statements/2026-10/vision", "/runs/11001", "/me", "/reports/showback", "/reports/trend", "/reports/idle", "/reports/held",
    "/reports/coverage", "/reports/corrections", "/postings?limit=1000", "/reports/held?by=pool", "/budgets", "/live", "/live?by=pool", "/search?q=a",
    "/quotas", "/advice", "/advice/realised", "/capacity", "/capacity/gpus", "/capacity/gpus?by=week", "/explain?what=pool:gpus",
    "/reports/facets", "/reports/facets?by=size", "/reports/runs", "/reports/runs?by=team",
    "/explain?what=vision", "/explain?what=job:11001", "/tokens", "/search?q=zebra", "/search?q=zjob", "/search?q=halcyon",
    "/forecast", "/forecast?by=pool", "/forecast/back-test",
)  # fmt: skip


@pytest.mark.parametrize("path", READ)
def test_no_word_of_another_team_is_said(clients: Clients, path: str) -> None:
    answer = clients("viewer").get(ROOT + path)
    assert answer.status_code == 200, answer.text
    asked = path.partition("?q=")[2] or "-"
    assert not [word for word in world.SECRET if word in answer.text.replace(f'"asked":"{asked}"', "")]


@pytest.mark.parametrize("path", READ)
def test_who_has_no_team_sees_none(clients: Clients, path: str) -> None:
    asked = path.partition("?q=")[2] or "-"
    text = clients("nobody").get(ROOT + path).text.replace(f'"asked":"{asked}"', "")
    assert not [word for word in (*world.SECRET, "grace", "detect") if word in text]


def test_explanations_are_the_verbs_own(clients: Clients, small: Project) -> None:
    made = apportion.explain(small, "vision", "2026-10")
    for role in ("admin", "viewer"):
        found = get(clients, role, "/explain", what="vision", **OCTOBER)
        assert found["figures"][0]["exact"] == made.figures[0].exact
    assert get(clients, "admin", "/explain", what="vision", **OCTOBER)["title"] == made.title
    assert get(clients, "admin", "/capacity/gpus", **OCTOBER)["title"] == pool(small, "gpus", "2026-10").title
    posting = next(
        one for one in get(clients, "viewer", "/postings", limit=1000, **OCTOBER)["items"] if one["reason"] == "usage"
    )
    found = get(clients, "viewer", "/explain", what=posting["hash"][:20], **OCTOBER)
    assert (found["kind"], Decimal(found["figures"][0]["posted"])) == ("posting", Decimal(posting["amount"]))


def test_quotas_are_the_verbs_own(clients: Clients, small: Project) -> None:
    made = {one.limit.owner: one for one in quotas(small, "2026-10")}
    rows = [row for section in get(clients, "admin", "/quotas", **OCTOBER)["sections"] for row in section["rows"]]
    assert {row["owner"]: row["state"] for row in rows} == {owner: one.state for owner, one in made.items()}
    assert len(made) == 2


def test_live_and_search_are_the_verbs_own(clients: Clients, small: Project) -> None:
    made = live_report(live(small, today()))
    assert get(clients, "admin", "/live")["title"] == made.title
    found = get(clients, "viewer", "/search", q="detect")
    assert (found["hits"][0]["kind"], found["hits"][0]["names"]) == ("project", ["vision", "detect"])
    assert get(clients, "viewer", "/search", q="zebra")["hits"] == []


def test_policies_and_health_are_for_those_who_see_all(clients: Clients) -> None:
    versions = get(clients, "finance", "/policies")["items"]
    assert "halcyon" not in str(versions)
    assert get(clients, "finance", f"/policies/{versions[0]['version']}")["text"] == world.POLICY
    health = {one["name"]: one for one in get(clients, "finance", "/health")["sources"]}
    assert (health["cloud"]["deliveries"], health["slurm"]["problems"]) == (2, {})
    for path in ("/policies", f"/policies/{versions[0]['version']}", "/health", "/audit", "/books/runs"):
        assert clients("lead").get(ROOT + path).status_code == 403


def test_audit_and_runs_are_an_admins(clients: Clients, small: Project) -> None:
    notes = every(clients, "admin", "/audit", what="run")
    assert len(notes) == 3
    assert [one["run_id"] for one in every(clients, "admin", "/books/runs")] == [
        run.run_id for run in small.books.runs()
    ]
    assert clients("finance").get(f"{ROOT}/audit").status_code == 403


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/teams?limit=0", 422, "invalid-request"), ("/teams?limit=1001", 422, "invalid-request"), ("/teams?cursor=%21", 422, "invalid-cursor"),
        ("/postings?cursor=InZpc2lvbiI", 422, "invalid-cursor"), ("/teams?cursor=WzFd", 422, "invalid-cursor"), ("/reports/nothing", 422, "invalid-request"),
        ("/reports/showback?by=colour", 422, "invalid-filter"), ("/teams?period=2026-13", 422, "invalid-period"), ("/teams?where=team", 422, "invalid-filter"),
        ("/teams?period=2020-01", 404, "nothing-posted"), ("/nowhere", 404, "not-there"), ("/teams?where=team=%00", 422, "invalid-filter"),
        ("/teams?as_of=never", 422, "invalid-day"), ("/reports/nodes?period=2026-Q1", 422, "one-month"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_as_a_problem(clients: Clients, path: str, status: int, code: str) -> None:
    answer = clients("admin").get(ROOT + path)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


def test_other_refusals_are_problems_too(clients: Clients) -> None:
    client = clients("admin")
    assert client.delete(f"{ROOT}/teams", headers={"Sec-Fetch-Site": "same-origin"}).json()["code"] == "wrong-method"
    assert client.get(f"{ROOT}/teams", headers={"Accept": "text/csv"}).json()["code"] == "not-acceptable"
    client.cookies.clear()
    answer = client.get(f"{ROOT}/teams")
    assert (answer.status_code, answer.json()["code"], answer.headers["www-authenticate"]) == (
        401,
        "not-logged-in",
        "Bearer",
    )
