"""Writing by the API: what the verbs do, by whoever may, for teams that are theirs, with their name in the audit log."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import apportion
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of

ROOT = "/api/v1"
CREDIT = {"period": "2026-10", "owner": "vision", "sponsor": "platform", "amount": "1.00", "why": "node 1 was slow"}
RULE = {"label": "slurm.account", "pattern": "spk-new", "team": "speech", "why": "a new account"}
OTHER = world.POLICY.replace("percent: -10", "percent: -20")


@pytest.fixture(scope="module")
def project(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = world.copied(small, tmp_path_factory.mktemp("written") / "project").folder
    with (folder / "apportion.toml").open("a") as file:
        file.write("\n[webhooks]\nallow_private = true\n")
    made = apportion.open_project(folder)
    yield made
    made.books.close()


@pytest.fixture(scope="module")
def writers(project: Project) -> Clients:
    return clients_of(project.folder)


def post(writers: Clients, role: str, path: str, given: dict[str, Any]) -> Any:
    return writers(role).post(ROOT + path, json=given, headers={"Sec-Fetch-Site": "same-origin"})


def test_budgets_are_set_for_teams_that_are_theirs(writers: Clients, project: Project) -> None:
    wish = {"owner": "speech", "amount": "9000.00", "since": "2026-10", "why": "as agreed"}
    made = post(writers, "lead", "/budgets", wish)
    assert (made.status_code, made.json()["who"], Decimal(made.json()["amount"])) == (200, "grace", Decimal(9000))
    (found,) = writers("lead").get(f"{ROOT}/budgets?period=2026-10").json()["items"]
    (said,) = apportion.budgets(project, "2026-10")
    assert (Decimal(found["spent"]), Decimal(found["left"])) == (said.spent, said.left)
    assert writers("viewer").get(f"{ROOT}/budgets?period=2026-10").json()["items"] == []
    for owner in ("zebra", "nowhere", "zebra/halcyon"):
        answer = post(writers, "lead", "/budgets", {**wish, "owner": owner})
        assert (answer.status_code, answer.json()["detail"]) == (404, "there is no such team here")
    assert post(writers, "viewer", "/budgets", wish).status_code == 403
    assert post(writers, "admin", "/budgets", {**wish, "owner": "nowhere"}).json()["code"] == "unknown-owner"
    assert post(writers, "lead", "/budgets", {**wish, "amount": "-1"}).json()["code"] == "invalid-request"


def test_a_lead_proposes_an_owner_rule_and_an_admin_adopts_it(writers: Clients, project: Project) -> None:
    made = post(writers, "lead", "/drafts/owners", RULE)
    assert (made.status_code, made.json()["who"], made.json()["status"]) == (201, "grace", "open")
    assert not [word for word in world.SECRET if word in made.text]
    number = made.json()["number"]
    shown = writers("finance").get(f"{ROOT}/drafts/{number}").json()
    assert "+  - {when: {slurm.account: " in shown["diff"]
    assert post(writers, "lead", f"/drafts/{number}/adoption", {}).status_code == 403
    assert post(writers, "admin", f"/drafts/{number}/adoption", {}).json()["status"] == "adopted"
    assert "spk-new" in (project.folder / "policy.yaml").read_text("utf-8")
    again = post(writers, "admin", f"/drafts/{number}/drop", {})
    assert (again.status_code, again.json()["code"]) == (409, "draft-ended")
    (project.folder / "policy.yaml").write_text(world.POLICY, "utf-8")


def test_a_lead_proposes_nothing_for_others_and_learns_nothing(writers: Clients) -> None:
    for team in ("zebra", "nowhere"):
        assert post(writers, "lead", "/drafts/owners", {**RULE, "team": team}).json()["code"] == "not-there"
    assert post(writers, "lead", "/drafts", {"text": OTHER, "why": "more"}).status_code == 403
    assert writers("lead").get(f"{ROOT}/drafts").status_code == 403
    refused = post(writers, "lead", "/drafts/owners", {**RULE, "project": "{nothing"})
    assert (refused.status_code, refused.json()["code"]) == (422, "rule-refused")


def test_what_if_moves_what_the_policy_moves_and_keeps_nothing(writers: Clients, project: Project) -> None:
    before = project.books.state()
    made = post(writers, "finance", "/what-if", {"period": "2026-10", "text": OTHER}).json()
    said = apportion.whatif(project, "2026-10", OTHER)
    assert (made["title"], len(made["rows"])) == (said.title, len(said.rows))
    assert sum(Decimal(row["change"]) for row in made["rows"]) == 0
    assert project.books.state() == before
    assert post(writers, "lead", "/what-if", {"period": "2026-10", "text": OTHER}).status_code == 403
    wrong = post(writers, "finance", "/what-if", {"period": "2026-10", "text": "policy: ["})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "policy-yaml")


def test_drafts_are_proposed_and_dropped(writers: Clients) -> None:
    made = post(writers, "finance", "/drafts", {"text": OTHER, "why": "more"}).json()
    assert writers("finance").get(f"{ROOT}/drafts/{made['number']}").json()["is_current"]
    assert post(writers, "finance", "/drafts", {"text": world.POLICY, "why": "none"}).json()["code"] == "same-policy"
    assert post(writers, "admin", f"/drafts/{made['number']}/drop", {}).json()["status"] == "dropped"
    assert writers("admin").get(f"{ROOT}/drafts/99").status_code == 404


def test_who_wrote_is_in_the_audit_log(writers: Clients, project: Project) -> None:
    post(writers, "finance", "/adjustments", CREDIT)
    notes = apportion.audit(project, ["run"])
    assert notes[-1].who == "fin"
    assert project.books.verify() == []


@pytest.mark.parametrize(
    ("path", "given", "status", "code"),
    [
        ("/adjustments", {**CREDIT, "amount": "x"}, 422, "invalid-request"),
        ("/adjustments", {**CREDIT, "amount": "0"}, 422, "invalid-request"),
        ("/adjustments", {**CREDIT, "amount": "1.001"}, 422, "invalid-amount"),
        ("/adjustments", {**CREDIT, "amount": 1}, 422, "invalid-request"),
        ("/adjustments?dry=1", CREDIT, 422, "invalid-request"),
        ("/adjustments", {**CREDIT, "amount": "999999999"}, 409, "credit-too-large"),
        ("/adjustments", {**CREDIT, "why": "a\0b"}, 422, "invalid-request"),
        ("/adjustments", {**CREDIT, "why": " "}, 422, "invalid-request"),
        ("/adjustments", {**CREDIT, "colour": "red"}, 422, "invalid-request"),
        ("/disputes", {"period": "2026-10", "what": "nothing", "why": "x"}, 404, "unknown-figure"),
        ("/disputes", {"period": "soon", "what": "vision", "why": "x"}, 422, "invalid-request"),
        ("/disputes", {"period": "2026-10", "what": "vision", "why": "x"}, 409, "dispute-open"),
        ("/disputes/77/notes", {"text": "x"}, 404, "not-there"),
        ("/disputes/0/notes", {"text": "x"}, 422, "invalid-request"),
        ("/disputes/1/settlement", {"outcome": "forgotten", "why": "x"}, 422, "invalid-request"),
        ("/disputes/1/settlement", {"outcome": "credited", "why": "x"}, 422, "invalid-request"),
        ("/disputes/1/settlement", {"outcome": "rejected", "why": "x", "other": "speech"}, 422, "invalid-request"),
        ("/disputes/1/settlement", {"outcome": "reclassed", "why": "x", "other": "speech", "amount": "5"}, 422, "invalid-request"),
        ("/tokens", {"label": "x", "days": "90"}, 422, "invalid-request"),
        ("/tokens", {"label": "x", "deeds": ["fly"]}, 422, "invalid-request"),
        ("/webhooks", {"url": "https://hooks.example/", "events": ["lunch"]}, 422, "invalid-request"),
        ("/disputes/1/settlement", {"outcome": "credited", "why": "x", "other": "nobody"}, 404, "unknown-owner"),
    ],
)  # fmt: skip
def test_bad_wishes_are_refused_and_change_nothing(
    writers: Clients, path: str, given: dict[str, Any], status: int, code: str
) -> None:
    books = writers("admin").app.state.desk.books  # type: ignore[attr-defined]  # of the server in this process
    before = books.state()
    answer = post(writers, "admin", path, given)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert books.state() == before


def test_a_form_of_another_site_is_refused(writers: Clients, project: Project) -> None:
    client = writers("admin")
    for headers in ({}, {"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.post(f"{ROOT}/adjustments", json=CREDIT, headers=headers).status_code == 403


def test_a_token_opens_what_it_was_given_until_it_is_revoked(writers: Clients) -> None:
    made = post(writers, "lead", "/tokens", {"label": "export"}).json()
    client = writers("lead")
    client.cookies.clear()
    bearer = {"Authorization": f"Bearer {made['key']}"}
    assert client.get(f"{ROOT}/me", headers=bearer).json()["teams"] == ["speech"]
    assert client.post(f"{ROOT}/budgets", json={}, headers=bearer).status_code == 403, "it may only read"
    assert made["key"] not in writers("lead").get(f"{ROOT}/tokens").text
    assert post(writers, "viewer", f"/tokens/{made['id']}/revocation", {}).json()["code"] == "unknown-token"
    assert post(writers, "lead", f"/tokens/{made['id']}/revocation", {}).json()["status"] == "revoked"
    assert [one["status"] for one in writers("admin").get(f"{ROOT}/tokens").json()["items"]] == ["revoked"]
    assert post(writers, "lead", "/tokens", {"label": "x", "role": "admin"}).json()["code"] == "token-too-wide"


def test_webhooks_are_an_admins(writers: Clients) -> None:
    wish = {"url": "http://127.0.0.1:9/in/secret-path", "events": ["period.closed"]}
    made = post(writers, "admin", "/webhooks", wish)
    assert made.status_code == 201, made.text
    listed = writers("admin").get(f"{ROOT}/webhooks").text
    assert made.json()["secret"] not in listed
    assert "secret-path" not in listed
    assert post(writers, "admin", f"/webhooks/{made.json()['id']}/end", {}).json()["ended_s"] > 0
    assert post(writers, "admin", "/webhooks", {"url": "http://169.254.169.254/"}).status_code == 422
    assert post(writers, "finance", "/webhooks", wish).status_code == 403
