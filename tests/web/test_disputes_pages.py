"""Disputes and credits through forms: by whom they are, about what is theirs, and posted as on the command line."""

import json
import shlex
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.cli.main import main
from apportion.verbs.adjust import Wish
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.forms import sent

MONTH = world.BILLED[1]


@pytest.fixture(scope="module")
def own(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return world.copied(small, Path(tmp_path_factory.mktemp("disputes"), "project"))


@pytest.fixture(scope="module")
def roles(own: Project) -> Clients:
    return clients_of(own.folder)


def test_everyone_sees_those_about_their_own_teams(clients: Clients) -> None:
    every = clients("finance").get("/disputes.json").json()["tables"][0]["rows"]
    assert [(row["number"], row["owner"], row["status"]) for row in every] == [
        ("1", "vision", "open"),
        ("2", "zebra", "open"),
    ]
    client = clients("viewer")
    assert [row["owner"] for row in client.get("/disputes.json").json()["tables"][0]["rows"]] == ["vision"]
    assert "the eval jobs were not ours" in client.get("/disputes/1").text
    foreign, missing, odd = (client.get(f"/disputes/{number}") for number in ("2", "77", "x"))
    assert {one.status_code for one in (foreign, missing, odd)} == {404}
    assert foreign.text == missing.text == odd.text
    text = client.get("/disputes").text + client.get("/disputes/1").text + client.get("/disputes/1.json").text
    assert not [word for word in world.SECRET if word in text]


def test_amount_and_evidence_are_those_that_were_kept(clients: Clients, small: Project) -> None:
    made = apportion.dispute(small, 1)
    page = clients("finance").get("/disputes/1.json").json()
    assert page["dispute"]["amount"] == f"{made.amount:f}"
    assert page["trees"][0][0]["text"] in clients("finance").get("/disputes/1").text


def test_a_lead_opens_one_about_their_own_team_alone(roles: Clients, own: Project) -> None:
    lead = roles("lead")
    done = sent(lead, "/disputes", "/disputes", period=MONTH, what="speech/asr", why="not our nights", amount="10.00")
    assert (done.status_code, done.headers["location"]) == (303, "/disputes/3")
    made = apportion.dispute(own, 3)
    assert (made.owner, str(made.amount), made.notes[0].who) == ("speech/asr", "10", "grace")
    before = len(apportion.disputes(own))
    refused = [
        sent(lead, "/disputes", "/disputes", period=MONTH, what=what, why="x")
        for what in ("zebra", "zebra/halcyon", "zjob1001", "1", "no-such-team", "")
    ]
    assert {one.status_code for one in refused} == {404}
    assert len({one.text for one in refused}) == 1
    assert len(apportion.disputes(own)) == before


def test_a_viewer_has_no_form_and_may_not_open_one(roles: Clients, own: Project) -> None:
    viewer = roles("viewer")
    text = viewer.get("/disputes").text
    assert "Open a dispute" not in text
    assert viewer.post("/disputes", data={"what": "vision", "why": "x", "period": MONTH}).status_code == 403
    assert len(apportion.disputes(own)) <= 3


def test_words_are_added_by_whoever_is_logged_in(roles: Clients, own: Project) -> None:
    client = roles("finance")
    assert sent(client, "/disputes/1", "/disputes/1/say", text="which jobs?").headers["location"] == "/disputes/1"
    assert apportion.dispute(own, 1).notes[-1].text == "which jobs?"
    assert apportion.dispute(own, 1).notes[-1].who == "fin"
    assert sent(roles("lead"), "/disputes", "/disputes/2/say", text="hm").status_code == 404
    assert sent(client, "/disputes/1", "/disputes/1/say", text="  ").status_code == 422


def test_settling_posts_what_the_command_line_would(roles: Clients, own: Project) -> None:
    client = roles("finance")
    assert sent(client, "/disputes/1", "/disputes/1/settle", outcome="maybe", why="x").status_code == 422
    assert (
        sent(client, "/disputes/1", "/disputes/1/settle", outcome="credited", why="x", other="nobody").status_code
        == 404
    )
    assert apportion.dispute(own, 1).status == "open"
    end = {
        "outcome": "credited",
        "why": "they were speech's",
        "other": "platform",
        "amount": "25.00",
        "approver": "root",
    }
    assert sent(client, "/disputes/1", "/disputes/1/settle", **end).status_code == 303
    made = own.books.transfers()[-1]
    assert (made.owner, made.other, str(made.amount), made.dispute) == ("vision", "platform", "25", 1)
    assert apportion.dispute(own, 1).status == "credited"
    text = client.get("/disputes/1").text
    assert f"run={made.run_id}" in text
    assert "Settle it" not in text
    assert sent(client, "/disputes", "/disputes/1/settle", outcome="rejected", why="again").status_code == 409
    assert sent(roles("lead"), "/disputes", "/disputes/3/settle", outcome="rejected", why="x").status_code == 403


def test_a_credit_is_given_once_and_listed(roles: Clients, own: Project) -> None:
    client = roles("finance")
    wish = {
        "period": MONTH,
        "team": "vision",
        "sponsor": "platform",
        "amount": "12.34",
        "why": "grant",
        "approver": "root",
    }
    first, again = (sent(client, "/adjustments", "/adjustments", **wish) for _ in range(2))
    assert first.headers["location"] == again.headers["location"]
    rows = client.get("/adjustments.json").json()["tables"][0]["rows"]
    assert [(row["amount"], row["owner"], row["other"]) for row in rows if row["why"] == "grant"] == [
        ("12.34 USD", "vision", "platform")
    ]
    shown = client.get(first.headers["location"].replace("/ledger", "/ledger.json")).json()
    assert {row["what"].split(" · ")[2] for row in shown["tables"][0]["rows"]} == {"credit", "subsidy"}
    assert sent(client, "/adjustments", "/adjustments", **{**wish, "amount": "-3"}).status_code == 422
    assert roles("lead").post("/adjustments", data=wish).status_code == 403


def test_who_is_on_the_other_side_is_not_told_to_everyone(roles: Clients) -> None:
    client = roles("finance")
    wish = {"period": MONTH, "team": "vision", "sponsor": "zebra", "amount": "1.00", "why": "a gift"}
    assert sent(client, "/adjustments", "/adjustments", **wish).status_code == 303
    text = roles("viewer").get("/adjustments").text
    assert "a gift" in text
    assert "another team" in text
    assert not [word for word in world.SECRET if word in text]


@pytest.mark.parametrize("role", ["finance", "lead", "viewer", "nobody"])
def test_the_command_of_the_page_lists_the_same_credits(
    roles: Clients, own: Project, capsys: pytest.CaptureFixture[str], role: str
) -> None:
    apportion.adjust(own, MONTH, Wish("vision", "zebra", "12.34", "a loan", reference="one"))
    apportion.adjust(own, MONTH, Wish("speech/asr", "platform", "5", "an hour's fault"))
    page = roles(role).get(f"/adjustments.json?period={MONTH}").json()
    with pytest.raises(SystemExit) as stop:
        main(["--project", str(own.folder), *shlex.split(page["command"])[1:], "-o", "json"])
    said = json.loads(capsys.readouterr().out)
    assert (stop.value.code or 0, said["title"]) == (0, page["title"])
    once, agreed = (table["rows"] for table in page["tables"])
    assert [(row["booked"], row["kind"], f"{Decimal(row['amount']):.2f} USD", row["why"]) for row in said["once"]] == [
        (row["booked"], row["kind"], row["amount"], row["why"]) for row in once
    ]
    assert [(row["what"], row["pool"], row["why"]) for row in said["agreed"]] == [
        (row["what"], row["pool"], row["why"]) for row in agreed
    ]
    whys = {"finance": ["an hour's fault", "a loan"], "lead": ["an hour's fault"], "viewer": ["a loan"], "nobody": []}
    assert [row["why"] for row in once if row["why"] in whys["finance"]] == whys[role]


def test_adjustments_of_the_policy(clients: Clients) -> None:
    rows = clients("lead").get("/adjustments.json").json()["tables"][1]["rows"]
    assert [(row["team"], row["sponsor"], row["what"], row["until"]) for row in rows] == [
        ("speech", "another team", "percent -10", "no end")
    ]
    assert clients("viewer").get("/adjustments.json").json()["tables"][1]["rows"] == []
