"""What-ifs on the pages: over several months as the verb says, saved and shared by a link, turned into a draft, forgotten by whom they are."""

from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.books.audit import acting
from apportion.client.agreed import PolicyWish
from apportion.client.whatifs import SaveWish
from apportion.errors import ApportionError
from apportion.verbs.backtest import Wanted
from apportion.verbs.draft import draft, setting_edit
from apportion.verbs.project import Project
from apportion.verbs.saved import saved
from apportion.web.app import create_app
from tests.web import world
from tests.web.conftest import PEOPLE, Clients, clients_of
from tests.web.forms import sent
from tests.web.serving import serving
from tests.web.test_api_client import as_one

BOTH = "/what-if?pool=gpus&idle=proportional&first=2026-09&last=2026-10"
LINK = f"/what-if/saved/{world.SAVED}"
GIVEN = {"pool": "gpus", "idle": "proportional", "first": "2026-09", "last": "2026-10"}


def test_several_months_are_what_the_verb_says(clients: Clients, small: Project) -> None:
    text = setting_edit(small, [(("pools", "gpus", "idle"), "proportional")]).text
    (variant,) = apportion.backtest(small, "2026-09..2026-10", Wanted({"changed rules": text})).variants
    answer = clients("finance").get(BOTH.replace("?", ".json?")).json()
    assert answer["title"] == variant.title
    assert answer["command"] == "apportion whatif --period 2026-09..2026-10 --policy FILE"
    figures, causes = answer["tables"]
    assert {row["owner"]: (Decimal(row["posted"]), Decimal(row["instead"])) for row in figures["rows"]} == {
        row.owner: (row.posted, row.instead) for row in variant.owners
    }
    assert {row["owner"]: Decimal(row["idle"]) for row in causes["rows"] if Decimal(row["idle"])} == {
        row.owner: row.causes["idle"] for row in variant.owners if row.causes.get("idle")
    }
    page = clients("finance").get(BOTH).text
    assert "/ledger?period=2026-09..2026-10&amp;where=team%3Dvision" in page
    assert 'name="first"><option selected>2026-09' in page
    assert 'name="idle" value="proportional"' in page  # what is asked goes with the form that saves it


def test_one_of_several_months_is_that_month(clients: Clients, small: Project) -> None:
    text = setting_edit(small, [(("pools", "gpus", "idle"), "proportional")]).text
    made = apportion.whatif(small, "2026-09", text)
    answer = clients("finance").get("/what-if.json?pool=gpus&idle=proportional&first=2026-09&last=2026-09").json()
    assert made.title[1:] in answer["title"]
    wrong = clients("finance").get("/what-if?pool=gpus&idle=even&first=2026-10&last=2026-09").text
    assert "ends before it begins" in wrong
    assert "nothing is posted for 2026-11" in clients("finance").get(BOTH.replace("last=2026-10", "last=2026-11")).text


def test_two_drafts_stand_side_by_side(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    with acting("root"):
        apportion.propose(
            own, setting_edit(own, [(("pools", "gpus", "idle"), "proportional")]).text, "idle is everybody's"
        )
    client = clients_of(own.folder)("finance")
    answer = client.get("/what-if.json?draft=1&beside=2&period=2026-10").json()
    assert answer["command"] == "apportion whatif --period 2026-10 --draft 1 --draft 2"
    assert {"draft 1_instead", "draft 2_instead"} <= set(answer["tables"][0]["rows"][0])
    assert 'name="beside"' in client.get("/what-if").text


def test_it_is_saved_shared_and_turned_into_a_draft(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    clients = clients_of(own.folder)
    finance = clients("finance")
    kept = sent(finance, BOTH, "/what-if/save", name="idle for all", **GIVEN)
    assert kept.status_code == 303
    link = kept.headers["location"]
    before, after = (finance.get(url).json()["tables"] for url in (BOTH.replace("?", ".json?"), f"{link}.json"))
    assert [table["rows"] for table in after] == [table["rows"] for table in before]
    assert "idle for all" in finance.get("/what-if/saved").text
    assert sent(finance, BOTH, "/what-if/save", name="idle for all", **GIVEN).status_code == 422
    assert sent(finance, BOTH, "/what-if/save", name="nothing").status_code == 422
    made = sent(finance, link, f"{link}/draft", why="agreed")
    number = int(made.headers["location"].removeprefix("/drafts/"))
    assert "idle: proportional" in draft(own, number).text
    (mine,) = [one for one in saved(own) if one.name == "idle for all"]
    assert mine.who == PEOPLE["finance"].name
    viewer = clients("viewer").get(link).text
    assert "vision" in viewer
    assert not [word for word in (*world.SECRET, "speech", "idle for all") if word in viewer]
    assert sent(clients("lead"), "/me", f"{link}/draft", why="x").status_code == 403
    assert sent(clients("lead"), "/me", f"{link}/forget").status_code == 403
    assert sent(finance, link, f"{link}/forget").headers["location"] == "/what-if/saved"
    assert finance.get(link).status_code == 404


def test_who_did_not_save_it_cannot_forget_it_but_an_admin_can(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    clients = clients_of(own.folder)
    assert sent(clients("finance"), "/what-if", f"{LINK}/forget").status_code == 403
    assert [one.id for one in saved(own)] == [world.SAVED]
    assert sent(clients("admin"), LINK, f"{LINK}/forget").status_code == 303
    assert saved(own) == []


@pytest.mark.parametrize("form", ["", ".json", ".csv"])
def test_who_sees_some_teams_sees_these_alone(clients: Clients, form: str) -> None:
    for role in ("viewer", "lead"):
        answer = clients(role).get(LINK + form)
        assert answer.status_code == 200
        assert ("4100.5" in answer.text.replace(",", "")) == (role == "viewer")  # speech is not in it
        assert not [word for word in (*world.SECRET, "even", "8900", "13000") if word in answer.text.replace(",", "")]
    assert "zebra first" in clients("finance").get(LINK + form).text
    assert clients("nobody").get(LINK + form).status_code == 200
    assert clients("viewer").get("/what-if/saved/zebra first").status_code == 404  # by its name it is not found
    assert clients("viewer").get("/what-if/saved").status_code == 403


def test_over_the_api_it_is_saved_read_and_forgotten(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    text = setting_edit(own, [(("pools", "gpus", "idle"), "proportional")]).text
    (variant,) = apportion.backtest(own, "2026-10", Wanted({"idle": text})).variants
    with serving(create_app(own.folder)) as address:
        with as_one(own, address, "finance") as client:
            wish = SaveWish(name="idle", first="2026-10", last="2026-10", policies=[PolicyWish(name="idle", text=text)])
            made = client.save_what_if(wish)
            assert (made.name, made.who, made.period, made.moved) == ("idle", "fin", "2026-10", "")
            assert {one.id for one in client.what_ifs()} == {made.id, world.SAVED}
            told = client.saved_what_if(made.id)
            assert {row["owner"]: Decimal(row["instead"] or 0) for row in told.tables[0].rows} == {
                row.owner: row.instead for row in variant.owners
            }
            with pytest.raises(ApportionError) as taken:
                client.save_what_if(wish)
            assert taken.value.code == "whatif-name"
        with as_one(own, address, "viewer") as client:
            seen = client.saved_what_if(made.id)
            assert (seen.name, seen.who, seen.title, seen.notes) == ("", "", "", [])
            assert {row["owner"] for table in seen.tables for row in table.rows} == {"vision"}
            with pytest.raises(ApportionError):
                client.forget_what_if(made.id)
        with as_one(own, address, "finance") as client:
            assert client.forget_what_if(made.id).id == made.id
            with pytest.raises(ApportionError) as gone:
                client.saved_what_if(made.id)
            assert gone.value.code == "not-there"
