"""The policy as pages: in sentences and as it is written for those who see all teams; for the others what is about them."""

from pathlib import Path

import pytest

import apportion
from apportion.verbs.draft import setting_edit
from apportion.verbs.methods import methods
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of


def test_each_line_of_the_text_has_its_anchor_and_each_sentence_leads_to_it(clients: Clients, small: Project) -> None:
    text = clients("finance").get("/policy").text
    for number, line in enumerate(world.POLICY.splitlines(), 1):
        assert f'id="L{number}"' in text
        assert line.split('"')[0] in text
    place = small.policy.line("pools", "gpus")
    assert f'<a class="go" href="#L{place}" aria-label="Open gpus is shared by capacity_rate' in text


def test_versions_tell_which_months_were_posted_by_them(clients: Clients, small: Project) -> None:
    (row,) = clients("admin").get("/policy.json").json()["tables"][0]["rows"]
    assert row == {
        "version": small.policy.version[:12], "name": "small", "effective": "2026-01-01", "now": "the file", "months": "2026-09, 2026-10",
    }  # fmt: skip
    assert f"small@{small.policy.version[:12]}" in clients("admin").get(f"/policy/{small.policy.version[:12]}").text
    assert clients("admin").get("/policy/abcdefabcdef").status_code == 404


@pytest.mark.parametrize(
    "path", ["/policy", "/policy.json", "/policy.csv", "/methods", "/methods.json", "/methods/capacity_rate"]
)
def test_a_viewer_hears_of_their_own_team_alone(clients: Clients, path: str) -> None:
    text = clients("viewer").get(path).text
    assert not [word for word in (*world.SECRET, "speech", "spk-", "4110", "id=&#34;L") if word in text]
    assert not [line for line in ('id="L1"', "(line ") if line in text]


def test_a_viewer_is_told_their_rules_and_pools(clients: Clients) -> None:
    text = clients("viewer").get("/policy").text
    assert "What the policy says about vision." in text
    assert "gpus is shared by capacity_rate" in text
    assert "Work with slurm.account vis-* is vision" in text
    assert "vision has 400 hours of gpu a month" in text


def test_who_has_no_team_hears_nothing(clients: Clients) -> None:
    text = clients("nobody").get("/policy").text
    assert "The policy says nothing about you yet." in text
    assert "gpus" not in text


def test_a_broken_policy_tells_a_viewer_nothing_of_its_words(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    clients = clients_of(own.folder)
    file = own.folder / "policy.yaml"
    file.write_text(file.read_text("utf-8").replace("{team: zebra, money: 5000", "{team: zebra, mony: 5000"), "utf-8")
    answer = clients("viewer").get("/policy")
    assert answer.status_code == 200, "what was there before is still shown"
    assert "the policy cannot be read as it is now" in answer.text
    assert "mony" not in answer.text
    assert "policy.yaml:31:" in clients("admin").get("/policy").text


def test_two_versions_are_set_against_each_other(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    first = own.policy.version[:12]
    edited = setting_edit(own, [(("pools", "gpus", "idle"), "proportional")]).text
    (own.folder / "policy.yaml").write_text(edited, "utf-8")
    own = apportion.open_project(own.folder)
    made = apportion.whatif(own, "2026-10", edited)
    admin = clients_of(own.folder)("admin")
    answer = admin.get(f"/policy/diff.json?from={first}&to=file&period=2026-10").json()
    assert answer["title"] == made.title
    assert [row["owner"] for row in answer["tables"][0]["rows"]] == [row.owner for row in made.rows if row.sign != " "]
    assert any(line.startswith("+    idle: proportional") for line in answer["texts"][0])
    back = admin.get(f"/policy/diff.json?from=file&to={first}&period=2026-10").json()
    forth = {row["owner"]: row["change"] for row in answer["tables"][0]["rows"]}
    assert {row["owner"]: row["change"].removeprefix("-") for row in back["tables"][0]["rows"]} == {
        owner: change.removeprefix("-") for owner, change in forth.items()
    }
    rows = admin.get("/policy.json").json()["tables"][0]["rows"]
    assert [(row["version"] == first, row["now"]) for row in rows] == [(False, "the file"), (True, "")]


def test_every_method_has_its_page(clients: Clients) -> None:
    client = clients("viewer")
    listed = client.get("/methods.json").json()["tables"][0]["rows"]
    assert [row["name"] for row in listed] == [row["name"] for row in methods()]
    assert {row["name"]: row["pools"] for row in listed}["capacity_rate"] == "gpus"
    for row in listed:
        assert client.get(f"/methods/{row['name']}").status_code == 200
    assert client.get("/methods/magic").status_code == 404
