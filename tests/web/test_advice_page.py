"""Advice in the browser and over the wire: what the command says, every figure with its explanation, and nothing of other teams."""

from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import apportion
from apportion.web.ask import Ask
from apportion.web.desk import Desk
from apportion.web.page import Figures, Rows, shown_rows
from apportion.web.pages.advice import advice
from apportion.web.viewer import viewer_of
from tests.cli.tiny import edit, write_tiny
from tests.web.conftest import PEOPLE, Clients, clients_of

MONTH = "2026-10"
JOBS = """\
job,run,name,team,user,node,start,end,gpus,state,used
j1,j1,train-x,vision,ann,n1,2026-10-01T00:00:00Z,2026-10-01T12:00:00Z,4,COMPLETED,0
j2.1,j2,train-y,speech,bob,n1,2026-10-01T12:00:00Z,2026-10-01T18:00:00Z,8,COMPLETED,0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """At 1.25 a GPU-hour vision left 48 hours idle and speech as many."""
    folder = write_tiny(tmp_path_factory.mktemp("advice"))
    (folder / "usage/jobs.csv").write_text(JOBS, "utf-8")
    edit(folder / "apportion.toml", 'run = "run", resource', 'run = "run", name = "name", resource')
    edit(
        folder / "apportion.toml",
        'meters = { gpu = "gpus" }',
        'meters = { gpu = "gpus" }\nused_meters = { gpu = "used" }',
    )
    project = apportion.open_project(folder)
    apportion.ingest(project)
    apportion.apply(project, MONTH, made=apportion.plan(project, MONTH).plan)
    return folder


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Clients:
    return clients_of(folder)


def test_everyone_is_told_of_their_own(theirs: Clients, folder: Path) -> None:
    made = apportion.advise(apportion.open_project(folder), MONTH)
    for role, owners in (("admin", ["vision/ann", "speech/bob"]), ("viewer", ["vision/ann"]), ("lead", ["speech/bob"])):
        rows = theirs(role).get(f"/advice.json?period={MONTH}").json()["tables"][0]["rows"]
        answer = theirs(role).get(f"/api/v1/advice?period={MONTH}").json()
        told = answer["sections"][0]["rows"]
        assert sorted(row["owner"] for row in rows) == sorted(row["owner"] for row in told) == sorted(owners)
        assert {Decimal(row["high"]) for row in told} == {Decimal(60)}
        assert {Decimal(row["low"]) for row in told} == {55 if row["owner"] == "vision/ann" else 50 for row in told}
        assert (answer["title"] == made.title) == (role == "admin")
    for path in (f"/advice?period={MONTH}", f"/advice.json?period={MONTH}", f"/api/v1/advice?period={MONTH}"):
        text = theirs("viewer").get(path).text
        assert "vision/ann can" in text or "vision/ann" in text
        assert not [word for word in ("speech", "bob", "j2") if word in text]
        assert "ann" not in theirs("nobody").get(path).text.replace("cannot", "").replace("planned", "")


def test_every_figure_leads_on(theirs: Clients, folder: Path) -> None:
    page = advice(Ask(Desk(folder), viewer_of(PEOPLE["admin"]), "/advice", {"period": [MONTH]}))
    figures, rows = (next(one for one in page.blocks if isinstance(one, kind)) for kind in (Figures, Rows))
    assert isinstance(figures, Figures)
    assert isinstance(rows, Rows)
    assert [one.text for one in figures.items] == ["105.00 USD", "120.00 USD"]
    hrefs = {cell.href for _, cells in shown_rows(rows).rows for cell in cells if cell.href}
    assert {one.href for one in figures.items} == {f"/advice?period={MONTH}"}
    assert {urlsplit(href).path for href in hrefs} == {
        "/runs/j1",
        "/runs/j2.1",
        "/teams/vision",
        "/teams/speech",
        "/explain",
    }
    for href in sorted(hrefs):
        assert theirs("admin").get(href).status_code == 200, href


def test_kinds(theirs: Clients) -> None:
    admin = theirs("admin")
    assert admin.get(f"/api/v1/advice?period={MONTH}&kind=hung").json()["sections"] == []
    assert admin.get(f"/api/v1/advice?period={MONTH}&kind=idel").status_code == 422
    assert "calls for advice" in admin.get(f"/advice?period={MONTH}&kind=hung").text
    assert "did you mean" in admin.get(f"/advice?period={MONTH}&kind=idel").text
    only = admin.get(f"/advice.json?period={MONTH}&where=team%3Dspeech").json()
    assert [row["owner"] for row in only["tables"][0]["rows"]] == ["speech/bob"]
