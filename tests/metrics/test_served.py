"""`/metrics` of the server: who is told what, what it costs, and what stays closed."""

import re
from pathlib import Path
from threading import Event

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import apportion
from apportion.books.tokens import Grant
from apportion.errors import ProjectError
from apportion.reports.metrics.families import FAMILIES
from apportion.verbs.budget import set_budget
from apportion.verbs.metrics import collected
from apportion.verbs.project import Project, open_project
from apportion.web import metrics as served
from apportion.web.app import create_app
from apportion.web.metrics import PATIENCE_S
from tests.metrics.scraping import MONTH, OPENMETRICS
from tests.web import world
from tests.web.conftest import OUR_HOST, clients_at

SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
WHOLE = tuple(one.name for one in FAMILIES if one.whole)
UNTOLD = (
    "apportion_source_problem_rows",
    "apportion_ledger_verif",
)  # no row has one, and nobody looked through the ledger
Samples = list[tuple[str, dict[str, str], float]]


@pytest.fixture(scope="module")
def app(small: Project) -> FastAPI:
    return create_app(small.folder)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine may need longer than a scrape waits; `test_no_scrape_waits_long` is about that."""
    monkeypatch.setattr(served, "PATIENCE_S", 60)


def samples(text: str) -> Samples:
    lines = [SAMPLE.match(line) for line in text.splitlines() if not line.startswith("#")]
    return [(line[1], dict(LABEL.findall(line[2] or "")), float(line[3])) for line in lines if line]


def bare(app: FastAPI, **headers: str) -> TestClient:
    return TestClient(app, OUR_HOST, headers=headers, raise_server_exceptions=False, follow_redirects=False)


def token(app: FastAPI, role: str, teams: frozenset[str] | None, *deeds: str) -> str:
    grant = Grant("prometheus", owner="root", role=role, teams=teams, deeds=frozenset(deeds), lasts_s=3600)
    made: str = app.state.desk.books.tokens.make(grant)[1]
    return made


def of(app: FastAPI, role: str) -> Samples:
    answer = clients_at(app)(role).get("/metrics")
    assert answer.status_code == 200, answer.text
    return samples(answer.text)


def test_without_a_token_nobody_is_told_anything(app: FastAPI) -> None:
    answer = bare(app).get("/metrics")
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert "apportion_" not in answer.text
    assert bare(app, Authorization="Bearer apportion_wrong").get("/metrics").status_code == 401


def test_a_token_that_may_not_read_is_refused(app: FastAPI) -> None:
    key = token(app, "admin", None, "push")
    assert bare(app, Authorization=f"Bearer {key}").get("/metrics").status_code == 403


def test_whoever_sees_everything_is_told_everything(app: FastAPI, small: Project) -> None:
    for role in ("finance", "admin"):
        told = of(app, role)
        bill = sum(
            value for name, labels, value in told if name == "apportion_month_cost" and labels["period"] == MONTH
        )
        assert round(bill, 2) == round(float(apportion.report(small, "showback", MONTH).sections[0].bill), 2)
        for family in (one for one in WHOLE if not one.startswith(UNTOLD)):
            assert any(name.startswith(family) for name, _, _ in told), family


@pytest.mark.parametrize(("role", "own"), [("viewer", {"vision"}), ("lead", {"speech"}), ("nobody", set())])
def test_whoever_sees_some_teams_is_told_of_those(app: FastAPI, role: str, own: set[str]) -> None:
    told = of(app, role)
    assert {labels["team"] for _, labels, _ in told if "team" in labels} == own
    assert not [name for name, _, _ in told if name.startswith(WHOLE)]
    assert not [word for _, labels, _ in told for word in world.SECRET if word in str(labels)]
    assert ("apportion_pool_price" in {name for name, _, _ in told}) == bool(own)


def test_all_who_may_read_but_not_the_whole_get_no_whole(app: FastAPI) -> None:
    """A token of all teams with `read` alone."""
    told = samples(bare(app, Authorization=f"Bearer {token(app, 'finance', None, 'read')}").get("/metrics").text)
    assert "zebra" in {labels.get("team") for _, labels, _ in told}
    assert not [name for name, _, _ in told if name.startswith(WHOLE)]


def test_the_form_is_what_the_scraper_asks_for(app: FastAPI) -> None:
    key = {"Authorization": f"Bearer {token(app, 'finance', None, 'read', 'whole')}"}
    plain, open_ = (bare(app, **key, Accept=accept).get("/metrics") for accept in ("text/plain", OPENMETRICS))
    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert open_.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert "# UNIT apportion_coverage_ratio ratio" in open_.text
    assert samples(plain.text) == samples(open_.text)


def test_figures_are_made_once_while_the_books_stand_still(
    small: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served, "hour", lambda: 0)  # with another hour they are made anew
    app = create_app(world.copied(small, tmp_path / "project").folder)
    made = [next(value for name, _, value in of(app, "finance") if name == "apportion_budget_amount") for _ in range(2)]
    scrapes, first = app.state.scrapes, app.state.scrapes._kept.peek((None, True))
    before = first.made
    assert of(app, "admin")
    assert first.made is before, "admins see what finance sees"
    set_budget(open_project(app.state.desk.folder), "vision", "4321", "2026-10")
    after = {value for name, _, value in of(app, "finance") if name == "apportion_budget_amount"}
    assert (made[0] == made[1], 4321 in after, scrapes._kept.peek((None, True)).made is before) == (True, True, False)


def test_a_slow_making_is_not_waited_for_twice(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, small: Project, tmp_path: Path
) -> None:
    """What there was is answered, and says when it was made; what is new comes with a later scrape."""
    own = create_app(world.copied(small, tmp_path / "project").folder)
    old = of(own, "finance")
    going = Event()

    def slow(*given: object) -> object:
        assert going.wait(60)
        return collected(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(served, "collected", slow)
    monkeypatch.setattr(served, "PATIENCE_S", 0.01)
    set_budget(open_project(own.state.desk.folder), "vision", "4321", "2026-10")
    assert of(own, "finance") == old
    going.set()
    own.state.scrapes._kept.peek((None, True)).thread.join()
    assert 4321 in {value for name, _, value in of(own, "finance") if name == "apportion_budget_amount"}


def test_no_scrape_waits_long_not_even_the_first(
    small: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It tells the release until there are figures, and what is read from the books whenever somebody asks."""
    app, going = create_app(world.copied(small, tmp_path / "project").folder), Event()

    def slow(*given: object) -> object:
        assert going.wait(60)
        return collected(*given)  # type: ignore[arg-type]

    assert PATIENCE_S < 2
    monkeypatch.setattr(served, "collected", slow)
    monkeypatch.setattr(served, "PATIENCE_S", 0.01)
    assert {name for name, _, _ in of(app, "finance")} == {"apportion_build_info", "apportion_round_timestamp_seconds"}
    assert {name for name, _, _ in of(app, "viewer")} == {"apportion_build_info"}
    going.set()
    for making in (app.state.scrapes._kept.peek(key) for key in ((None, True), (frozenset({"vision"}), False))):
        making.thread.join()
    assert "apportion_month_cost" in {name for name, _, _ in of(app, "finance")}


def test_a_defect_is_no_figure(small: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> object:
        raise RuntimeError("zebra owes 17")

    app = create_app(small.folder)
    monkeypatch.setattr(served, "collected", fails)
    answer = clients_at(app)("finance").get("/metrics")
    assert answer.status_code == 500
    assert "zebra" not in answer.text


def opened(small: Project, folder: Path, setting: str) -> FastAPI:
    project = world.copied(small, folder / "project")
    file = project.folder / "apportion.toml"
    file.write_text(file.read_text("utf-8").replace("[web]\n", f"[web]\n{setting}\n"), "utf-8")
    return create_app(project.folder)


def test_a_setting_opens_it(small: Project, tmp_path: Path) -> None:
    for setting, there in (("anyone", (200, 200)), ("loopback", (200, 401))):
        app = opened(small, tmp_path / setting, f'metrics = "{setting}"')
        near = TestClient(app, OUR_HOST, client=("127.0.0.1", 40000), raise_server_exceptions=False)
        far = TestClient(app, OUR_HOST, client=("192.0.2.7", 40000), raise_server_exceptions=False)
        assert (near.get("/metrics").status_code, far.get("/metrics").status_code) == there
        assert {"zebra", "vision"} <= {labels.get("team") for _, labels, _ in samples(near.get("/metrics").text)}
        assert near.get("/", follow_redirects=False).status_code == 303, "nothing else is open"
        wrong = near.get("/metrics", headers={"Authorization": "Bearer apportion_wrong"})
        assert wrong.status_code == 401, "a token that is brought counts alone"


def test_scrapers_know_no_names(small: Project, app: FastAPI, tmp_path: Path) -> None:
    """By the address of a pod: with a token, which no page of another site can bring."""
    by_address = {"Host": "10.1.2.3:8765"}
    key = {"Authorization": f"Bearer {token(app, 'finance', None, 'read', 'whole')}"}
    assert bare(app).get("/metrics", headers=by_address | key).status_code == 200
    assert bare(app).get("/metrics", headers=by_address).status_code == 400
    assert bare(app).get("/api/v1/me", headers=by_address | key).status_code == 400
    near = opened(small, tmp_path, 'metrics = "loopback"')
    rebound = TestClient(near, OUR_HOST, client=("127.0.0.1", 40000), raise_server_exceptions=False)
    assert rebound.get("/metrics", headers={"Host": "evil.example"}).status_code == 400


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('metrics = "everyone"', "cannot be 'everyone'"),
        ('metrics = "loopback"\naddress = "https://costs.example"\nlogin = "proxy"\nproxy = { trusted = ["127.0.0.1"] }', "a proxy on this machine"),
    ],
)  # fmt: skip
def test_a_setting_that_would_open_it_to_others_is_refused(
    small: Project, tmp_path: Path, setting: str, said: str
) -> None:
    with pytest.raises(ProjectError, match=said):
        opened(small, tmp_path, setting)
