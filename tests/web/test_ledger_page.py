"""The ledger's page: sums, facets and filters as the books have them, its links checked, and nothing of other teams."""

import csv
import io
import json
import shlex
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

import apportion
from apportion.books.database import writing
from apportion.cli.main import main
from apportion.reports.groups import chosen
from apportion.verbs.ledger import Only
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.forms import sent

MONTH = world.BILLED[1]
FILTERS: list[dict[str, list[str]]] = [
    {},
    {"team": ["vision"]},
    {"team": ["vision", "_idle"], "pool": ["gpus"]},
    {"project": ["zebra/halcyon"]},
    {"project": ["detect", "_idle"]},
    {"user": ["ada"]},
    {"user": ["vision/(none)"]},
    {"department": ["research"]},
    {"department": ["_idle"], "component": ["compute"]},
    {"cost_centre": ["(none)"]},
    {"reason": ["usage"], "day": ["2026-10-03", "2026-10-05"]},
]
Terminal = Callable[..., str]


@pytest.fixture
def terminal(small: Project, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return typed(small, capsys)


def typed(project: Project, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """What a command prints, as it is typed."""

    def run(*words: str, code: int = 0) -> str:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["--project", str(project.folder), *shlex.split(" ".join(words))])
        assert int(stop.value.code or 0) == code
        return capsys.readouterr().out

    return run


def query(where: dict[str, list[str]]) -> str:
    return "&".join(f"where={by}={value}" for by, values in where.items() for value in values)


@pytest.mark.parametrize("where", FILTERS, ids=str)
def test_filters_choose_what_reports_choose(clients: Clients, small: Project, where: dict[str, list[str]]) -> None:
    rows = chosen(small.books.posted(MONTH), where)
    got = list(csv.DictReader(io.StringIO(clients("admin").get(f"/ledger.csv?period={MONTH}&{query(where)}").text)))
    assert len(got) == len(rows)
    assert sum(Decimal(row["amount"]) for row in got) == sum(rows["amount"].to_pylist())
    page = clients("admin").get(f"/ledger.json?period={MONTH}&{query(where)}").json()
    assert page["count"] == len(rows)
    for facet in ("team", "pool", "reason", "bill", "day"):
        assert page["facets"][facet] == Counter(str(value) or "(none)" for value in rows[facet].to_pylist())


def test_users_are_shown_by_name_and_paged_to_the_end(clients: Clients) -> None:
    client, before, seen = clients("admin"), "", []
    every = list(csv.DictReader(io.StringIO(client.get(f"/ledger.csv?period={MONTH}&where=team=vision").text)))
    assert {row["user"] for row in every} == {"ada", ""}
    while True:
        page = client.get(f"/ledger.json?period={MONTH}&where=team=vision&before={before}").json()
        seen += [row["posting"] for row in page["tables"][0]["rows"]]
        before = page["next"]
        if before is None:
            break
    assert seen == [row["seq"] for row in every]
    assert seen == sorted(seen, key=int, reverse=True)


def test_kinds_and_runs(clients: Clients, small: Project) -> None:
    client = clients("admin")
    (run,) = [run for run in small.books.runs("plan") if run.period == MONTH]
    whole = client.get(f"/ledger.json?period={MONTH}").json()["count"]
    assert client.get(f"/ledger.json?period={MONTH}&kind=plan&run={run.run_id}").json()["count"] == whole
    assert client.get(f"/ledger.json?period={MONTH}&kind=credit").json()["count"] == 0


ASKED = [
    ("admin", ""),
    ("admin", "&where=team=vision&where=team=_idle&where=pool=gpus"),
    ("admin", "&where=user=ada&kind=plan"),
    ("admin", "&kind=credit"),
    ("admin", "&run=no%20such"),
    ("admin", "&as_of=2026-01-01"),
    ("lead", ""),
    ("viewer", ""),
    ("viewer", "&where=project=detect"),
    ("viewer", "&where=team=vision&where=team=zebra"),
    ("viewer", "&where=team=zebra"),
    ("nobody", ""),
]


@pytest.mark.parametrize(("role", "asked"), ASKED)
def test_the_command_of_the_page_lists_the_same(clients: Clients, terminal: Terminal, role: str, asked: str) -> None:
    page = clients(role).get(f"/ledger.json?period={MONTH}{asked}").json()
    again = same_as(page, terminal)
    assert len(again["rows"]) == min(page["count"], 50)
    if page["next"] is not None:
        same_as(clients(role).get(f"/ledger.json?period={MONTH}{asked}&before={page['next']}").json(), terminal)


def same_as(page: dict[str, Any], terminal: Terminal) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(terminal(*page["command"].split("apportion ", 1)[1:], "-o json"))
    for name in ("count", "next", "facets"):
        assert said[name] == page[name]
    shown = [(row["posting"], row["amount"], row["currency"], row["bill"]) for row in page["tables"][0]["rows"]]
    assert [(str(row["seq"]), row["amount"], row["currency"], row["bill"]) for row in said["rows"]] == shown
    sums = [one["text"] for one in page["figures"] if one["label"].startswith("sum in")]
    assert [f"{Decimal(amount):,.2f} {currency}" for currency, amount in said["amounts"].items()] == sums
    return said


def test_all_of_it_as_csv_is_the_download(clients: Clients, terminal: Terminal) -> None:
    got = clients("admin").get(f"/ledger.csv?period={MONTH}").content
    assert terminal(f"ledger --period {MONTH} --all -o csv").encode() == got
    one = terminal(f"ledger --period {MONTH} --limit 1 -o csv").encode()
    assert got.startswith(one)
    assert one.count(b"\r\n") == 2


def test_the_library_lists_it_too(small: Project) -> None:
    only = Only(["team=vision"], kinds=["plan"])
    every, first = apportion.ledger(small, MONTH, only, most=None), apportion.ledger(small, MONTH, only, most=3)
    rows = chosen(small.books.posted(MONTH), {"team": ["vision"]})
    assert every.title == first.title
    assert (every.sum.count, every.leaf.next, every.leaf.broken) == (len(rows), None, ())
    assert every.leaf.rows.slice(0, 3) == first.leaf.rows
    rest = apportion.ledger(small, MONTH, only, str(first.leaf.next), None)
    assert rest.leaf.rows == every.leaf.rows.slice(3)
    assert sum(every.leaf.rows["amount"].to_pylist()) == every.sum.amounts["USD"] == sum(rows["amount"].to_pylist())


@pytest.mark.parametrize("wrong", ["--kind credits", "--where colour=red", "--before x", "--limit 0", "--as-of never"])
def test_a_wrong_wish_is_refused_in_the_terminal(terminal: Terminal, wrong: str) -> None:
    terminal(f"ledger {wrong}", code=2 if "limit" in wrong else 1)


def test_each_posting_leads_to_its_explanation(clients: Clients) -> None:
    page = clients("viewer").get(f"/ledger?period={MONTH}")
    first = clients("viewer").get(f"/ledger.json?period={MONTH}").json()["tables"][0]["rows"][0]["posting"]
    assert f"/explain?period={MONTH}&amp;what=posting%3A{first}" in page.text


def test_a_viewer_sees_their_own_postings_and_no_whole(clients: Clients, small: Project) -> None:
    client = clients("viewer")
    page = client.get(f"/ledger?period={MONTH}").text
    assert not [word for word in world.SECRET if word in page]
    assert small.books.head()[:16] not in page
    assert "links in the chain" not in page
    got = client.get(f"/ledger.csv?period={MONTH}").text
    assert {row["team"] for row in csv.DictReader(io.StringIO(got))} == {"vision"}
    assert client.post("/ledger/verify").status_code == 403
    counts = [client.get(f"/ledger.json?where=team={team}").json()["count"] for team in ("zebra", "no-such-team")]
    assert counts == [0, 0]
    assert clients("nobody").get("/ledger.json").json()["count"] == 0


@pytest.mark.parametrize(
    "wrong", ["before=-1", "before=x", "kind=credits", "before=" + "9" * 30, "where=colour=red", "where=team"]
)
def test_what_is_not_in_order_is_refused(clients: Clients, wrong: str) -> None:
    assert clients("admin").get(f"/ledger?{wrong}").status_code == 422


@pytest.fixture
def own(small: Project, tmp_path: Path) -> Project:
    return world.copied(small, tmp_path / "project")


def verified(client: TestClient, folder: Path) -> str:
    del folder
    assert sent(client, "/ledger", "/ledger/verify").headers["location"] == "/ledger"
    client.app.state.desk.verifying.wait()  # type: ignore[attr-defined]
    return client.get("/ledger").text


def test_the_whole_is_verified_beside_and_a_changed_posting_shows(
    own: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    client = clients_of(own.folder)("finance")
    assert "not yet" in client.get("/ledger").text
    assert "all holds ✓" in verified(client, own.folder)
    page = client.get(f"/ledger.json?period={MONTH}").json()["tables"][0]["rows"]
    with writing(own.books.engine) as connection:
        connection.execute(text("DROP TRIGGER entries_no_update"))
        connection.execute(text("UPDATE entries SET amount = '1' WHERE seq = :seq"), {"seq": int(page[3]["posting"])})
    again = clients_of(own.folder)("finance")
    shown = again.get(f"/ledger?period={MONTH}").text
    assert "1 broken" in shown
    assert f"first: {page[3]['posting']}" in shown
    assert "chain-broken" in verified(again, own.folder)
    said = json.loads(typed(own, capsys)(f"ledger --period {MONTH} -o json", code=5))
    assert said["broken"] == [int(page[3]["posting"])]
