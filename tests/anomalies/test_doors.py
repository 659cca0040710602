"""Pages and API: the same figures as the command line, each for those who may see them, and a form that acknowledges."""

from collections.abc import Iterator
from typing import Any

import pytest

from apportion.books.doors import Person
from apportion.client.client import Client
from apportion.errors import ApportionError
from apportion.reports.anomaly.found import Anomaly
from apportion.verbs.project import Project
from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from apportion.web.pages.anomalies import HERE
from tests.anomalies import world
from tests.web.conftest import Clients, clients_at
from tests.web.forms import sent
from tests.web.serving import serving

SAME = {"Sec-Fetch-Site": "same-origin"}
FOREIGN = ("zebra", "halcyon", "speech")


@pytest.fixture(scope="module")
def project(posted: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """To write in, for all tests of this file in their order."""
    return world.copied(posted, tmp_path_factory.mktemp("doors") / "project")


@pytest.fixture(scope="module")
def clients(project: Project) -> Clients:
    return clients_at(create_app(project.folder))


def items(clients: Clients, role: str) -> list[dict[str, Any]]:
    answer = clients(role).get("/api/v1/anomalies")
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def called(found: list[Anomaly], kind: str, owner: str) -> str:
    return next(one.id for one in found if (one.kind, one.owner) == (kind, owner))


def test_the_page_says_what_the_command_says(clients: Clients, found: list[Anomaly]) -> None:
    told = clients("admin").get(f"{HERE}.json").json()
    assert told["title"] == "7 things are not as usual."
    rows = [row for table in told["tables"] for row in table["rows"]]
    assert {row["id"]: row["amount"] for row in rows} == {one.id: f"{one.meant:f}".rstrip("0") for one in found}
    html = clients("admin").get(HERE).text
    assert "Acknowledge it" in html
    assert all(f"/anomalies?id={one.id}" in html for one in found)


def test_one_has_its_causes_and_its_money_leads_on(clients: Clients, found: list[Anomaly]) -> None:
    spend = next(one for one in found if (one.kind, one.owner) == ("spend", "vision"))
    page = clients("admin").get(f"{HERE}?id={spend.id}")
    assert "/ledger?period=2026-10&amp;where=team%3Dvision" in page.text
    told = clients("admin").get(f"{HERE}.json?id={spend.id}").json()
    assert [row["cause"] for row in told["tables"][0]["rows"]] == list(spend.causes)
    assert told["command"] == f"apportion anomalies show {spend.id}"


def test_a_viewer_sees_their_team_and_of_its_pools_no_sum_and_no_other_team(
    clients: Clients, found: list[Anomaly]
) -> None:
    """ada sees vision, which is charged from h100 and l40s."""
    seen = items(clients, "viewer")
    assert {(one["kind"], one["owner"]) for one in seen} == {("spend", "vision"), ("price", "l40s")}
    price = next(one for one in seen if one["kind"] == "price")
    assert (price["meant"], price["causes"], price["leaders"]) == ("0", {}, [])
    assert price["text"].endswith("before.")
    for form in ("", ".json", ".csv"):
        text = clients("viewer").get(f"{HERE}{form}").text
        assert not [word for word in FOREIGN if word in text], form
        assert "Acknowledge it" not in text
    for name in (called(found, "failures", "zebra"), called(found, "idle", "t4"), "nosuch"):
        page, api = (clients("viewer").get(url) for url in (f"{HERE}?id={name}", f"/api/v1/anomalies/{name}"))
        assert (page.status_code, api.status_code) == (404, 404)
        assert api.json()["detail"] == "there is no such anomaly here"
    assert items(clients, "nobody") == []


def test_finance_sees_all_and_lists_what_the_verb_finds(clients: Clients, found: list[Anomaly]) -> None:
    assert {one["id"]: one["text"] for one in items(clients, "finance")} == {one.id: one.sentence for one in found}


def test_who_may_not_acknowledge_learns_nothing(clients: Clients, project: Project, found: list[Anomaly]) -> None:
    """A viewer may not at all; a lead of speech neither what is zebra's nor what is a pool's."""
    foreign, pool = called(found, "failures", "zebra"), called(found, "idle", "a100")
    path = "/api/v1/anomalies/{}/acknowledgement"
    asked: dict[str, Any] = {"json": {"why": "known"}, "headers": SAME}
    assert clients("viewer").post(path.format(called(found, "spend", "vision")), **asked).status_code == 403
    answers = [clients("lead").post(path.format(name), **asked) for name in (foreign, pool, "nosuch")]
    assert {(answer.status_code, answer.json()["detail"]) for answer in answers} == {
        (404, "there is no such anomaly here")
    }
    assert sent(clients("lead"), HERE, HERE, id=foreign, why="known").status_code in (403, 404)
    assert project.books.acknowledgements.all() == []


def test_the_form_acknowledges_and_the_page_folds_it(clients: Clients, project: Project, found: list[Anomaly]) -> None:
    name = called(found, "idle", "a100")
    assert sent(clients("finance"), HERE, HERE, id=name, why="").status_code == 422
    assert (
        sent(
            clients("finance"), HERE, HERE, id=f"{name}: idle of a100", why="we give it back", until="2099-01-01"
        ).status_code
        == 303
    )
    [said] = project.books.acknowledgements.all()
    assert (said.who, said.why, said.about.until) == ("fin", "we give it back", "2099-01-01")
    told = clients("admin").get(f"{HERE}.json").json()
    assert told["title"] == "6 things are not as usual; 1 more is acknowledged."
    assert told["tables"][-1]["rows"][0]["why"] == "we give it back"
    state = next(one["state"] for one in items(clients, "admin") if one["id"] == name)
    assert state == "acknowledged"
    again = clients("admin").post(f"/api/v1/anomalies/{name}/acknowledgement", json={"why": "x"}, headers=SAME)
    assert (again.status_code, again.json()["code"]) == (409, "already-acknowledged")
    wrong = clients("admin").post(f"/api/v1/anomalies/{name}/acknowledgement", json={"why": " "}, headers=SAME)
    assert wrong.status_code == 422


@pytest.fixture
def client(project: Project) -> Iterator[Client]:
    lead = Person("hal", "lead", frozenset({"vision"}), "link")
    with serving(create_app(project.folder)) as address, Client(address) as made:
        made._http.cookies.set(COOKIE, project.books.doors.open_session(lead, 3600))
        made._http.headers.update(SAME)
        yield made


def test_the_client_reads_and_acknowledges(client: Client, found: list[Anomaly]) -> None:
    name = called(found, "spend", "vision")
    assert name in {one.id for one in client.anomalies()}
    assert client.anomaly(name).acknowledged is None
    made = client.acknowledge(name, "a new model")
    assert made.acknowledged is not None
    assert (made.acknowledged.who, made.state) == ("hal", "acknowledged")
    with pytest.raises(ApportionError) as error:
        client.acknowledge(name, "again")
    assert error.value.code == "already-acknowledged"
