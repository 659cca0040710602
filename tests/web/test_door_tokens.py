"""Tokens of programs: shown once, never wider than their owner, ended at once; and the pages that make them."""

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import apportion
from apportion.books.doors import Person
from apportion.books.tokens import Grant
from apportion.errors import ApportionError
from apportion.verbs.project import Project
from apportion.web.app import create_app
from apportion.web.door.granting import Wanted, at_the_terminal, granted
from apportion.web.viewer import Deed, Role, token_viewer, viewer_of
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.web import world
from tests.web.conftest import OUR_HOST, Clients

TEAMS = ("vision", "speech", "zebra", "platform")
DAY = 86_400


@pytest.fixture(scope="module")
def own(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return world.copied(small, tmp_path_factory.mktemp("tokens") / "project")


@pytest.fixture(scope="module")
def app(own: Project) -> FastAPI:
    return create_app(own.folder)


@pytest.fixture
def program(app: FastAPI) -> Callable[[str], TestClient]:
    def client(key: str) -> TestClient:
        return TestClient(app, OUR_HOST, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False)

    return client


def made(
    app: FastAPI,
    owner: str = "robot",
    role: str = "viewer",
    teams: frozenset[str] | None = frozenset({"vision"}),
    deeds: tuple[str, ...] = ("read",),
) -> str:
    return str(app.state.desk.books.tokens.make(Grant("of a test", owner, role, teams, frozenset(deeds), DAY))[1])


def csrf_on(client: TestClient, path: str) -> str:
    return re.search(r'name="csrf" value="(\w+)"', client.get(path).text)[1]  # type: ignore[index]


def test_a_token_opens_api_and_files_and_sees_its_team_alone(
    app: FastAPI, program: Callable[[str], TestClient]
) -> None:
    client = program(made(app))
    for path in (
        "/api/v1/reports/showback?period=2026-10",
        "/overview.json?period=2026-10",
        "/overview.csv?period=2026-10",
        "/?period=2026-10",
    ):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "vision" in answer.text or "day" in answer.text
        assert not [word for word in world.SECRET if word in answer.text]
    assert client.get("/admin").status_code == 403


@pytest.mark.parametrize("header", ["Bearer apportion_guessed", "Bearer ", "Basic YTpi", "Bearer", ""])
def test_a_wrong_token_is_nobody_even_with_a_good_cookie(entering: Clients, header: str) -> None:
    client = entering("admin")
    assert client.get("/overview.json").status_code == 200
    answer = client.get("/overview.json", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert client.get("/api/v1/reports/showback", headers={"Authorization": header}).status_code == 401


def test_the_key_is_nowhere_in_the_books(app: FastAPI, own: Project) -> None:
    key = made(app)
    assert re.fullmatch(r"apportion_[\w-]{43}", key)
    files = [file for file in (own.folder / ".apportion").rglob("*") if file.is_file() and file.suffix != ".parquet"]
    assert not [file for file in files if key.encode() in file.read_bytes()]


def test_a_token_is_good_until_it_is_revoked_or_over(
    app: FastAPI, program: Callable[[str], TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = app.state.desk.books.tokens
    key = made(app, "short")
    client = program(key)
    assert client.get("/overview.json").status_code == 200
    tokens.revoke(tokens.listed("short")[0].id)
    assert client.get("/overview.json").status_code == 401  # at once, though it was good a moment ago
    over = made(app, "over")
    assert tokens.known(over)
    now = time.time()
    monkeypatch.setattr("apportion.books.tokens.time.time", lambda: now + DAY + 1)
    assert tokens.known(over) is None


def test_the_last_use_is_noted_and_not_at_every_request(app: FastAPI, program: Callable[[str], TestClient]) -> None:
    books = app.state.desk.books
    client = program(made(app, "busy"))
    assert books.tokens.listed("busy")[0].used_s == 0
    before = int(time.time())
    for _ in range(3):
        client.get("/overview.json")
    app.state.door.settled()
    used = books.tokens.listed("busy")[0]
    assert before <= used.used_s <= time.time()
    books.tokens.touch(used)
    assert books.tokens.listed("busy")[0].used_s == used.used_s


LEAD = viewer_of(Person("grace", "lead", frozenset({"speech"}), "oidc"))
FINANCE = viewer_of(Person("fin", "finance", None, "oidc"))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Wanted("x"), ("lead", frozenset({"speech"}), frozenset({"read"}))),
        (Wanted("x", "viewer", ("speech",)), ("viewer", frozenset({"speech"}), frozenset({"read"}))),
        (
            Wanted("x", "lead", deeds=("read", "dispute")),
            ("lead", frozenset({"speech"}), frozenset({"read", "dispute"})),
        ),
    ],
)
def test_somebody_gives_what_they_have(wanted: Wanted, found: tuple[str, frozenset[str], frozenset[str]]) -> None:
    grant = granted(LEAD, wanted, TEAMS)
    assert (grant.role, grant.teams, grant.deeds, grant.owner) == (*found, "grace")


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (Wanted("x", "finance"), "token-too-wide"),
        (Wanted("x", "admin"), "token-too-wide"),
        (Wanted("x", "viewer", deeds=("dispute",)), "token-too-wide"),
        (Wanted("x", deeds=("push",)), "token-too-wide"),
        (Wanted("x", deeds=("admin",)), "token-too-wide"),
        (Wanted("x", teams=("speech", "zebra")), "not-there"),
        (Wanted("x", teams=("nowhere",)), "not-there"),
        (Wanted("x", "boss"), "token-word"),
        (Wanted("x", deeds=("fly",)), "token-word"),
    ],
)
def test_nobody_gives_what_they_do_not_have(wanted: Wanted, code: str) -> None:
    with pytest.raises(ApportionError) as refused:
        granted(LEAD, wanted, TEAMS)
    assert refused.value.code == code


def test_a_foreign_team_is_refused_in_the_same_words_as_one_that_is_not_there() -> None:
    said = []
    for team in ("zebra", "nowhere"):
        with pytest.raises(ApportionError) as refused:
            granted(LEAD, Wanted("x", teams=(team,)), TEAMS)
        said.append(str(refused.value))
    assert said[0] == said[1]


def test_all_teams_are_for_those_who_see_them() -> None:
    assert granted(FINANCE, Wanted("x"), TEAMS).teams is None
    for wanted in (Wanted("x", "finance", ("vision",)), Wanted("x", "viewer")):
        with pytest.raises(ApportionError, match="teams"):
            granted(FINANCE, wanted, TEAMS)


def test_whoever_loses_a_role_or_a_team_loses_it_in_their_tokens(
    app: FastAPI, program: Callable[[str], TestClient]
) -> None:
    doors = app.state.desk.books.doors
    doors.open_session(Person("mover", "finance", None, "link"), 60)
    client = program(made(app, "mover", "finance", None, ("read", "whole")))
    assert "zebra" in client.get("/overview.json?period=2026-10").text
    doors.open_session(Person("mover", "viewer", frozenset({"vision"}), "link"), 60)
    doors.end_sessions_of("mover")
    shown = client.get("/overview.json?period=2026-10").text
    assert "vision" in shown
    assert not [word for word in world.SECRET if word in shown]


def test_what_a_token_may_is_what_it_was_given_and_its_owner_still_may() -> None:
    given = (
        "1",
        "x",
        "grace",
        "lead",
        frozenset({"speech", "vision"}),
        frozenset({"read", "dispute", "gone"}),
        0,
        2**40,
        0,
        0,
    )
    from apportion.books.tokens import Token

    token = Token(*given)
    alone = token_viewer(token, None)
    assert (alone.role, alone.teams, alone.deeds) == (
        Role.lead,
        frozenset({"speech", "vision"}),
        frozenset({Deed.read, Deed.dispute}),
    )
    shrunk = token_viewer(token, Person("grace", "viewer", frozenset({"speech", "zebra"}), "oidc"))
    assert (shrunk.role, shrunk.teams, shrunk.deeds) == (Role.viewer, frozenset({"speech"}), frozenset({Deed.read}))
    grown = token_viewer(token, Person("grace", "admin", None, "oidc"))
    assert grown == alone
    assert shrunk.by == "token"


@pytest.mark.parametrize("role", ["viewer", "lead", "finance", "admin"])
def test_everybody_makes_tokens_for_themselves_and_sees_them_once(
    entering: Clients, program: Callable[[str], TestClient], role: str
) -> None:
    client = entering(role)
    data = {
        "csrf": csrf_on(client, "/tokens"),
        "label": f"of {role}",
        "role": role,
        "teams": "",
        "deeds": "read",
        "days": "7",
    }
    shown = client.post("/tokens", data=data)
    key = re.search(r"apportion_[\w-]{43}", shown.text)[0]  # type: ignore[index]
    assert program(key).get("/overview.json").status_code == 200
    listed = client.get("/tokens").text
    assert key not in listed
    assert f"of {role}" in listed
    number = re.search(rf"<option>(\w+) of {role}</option>", listed)[1]  # type: ignore[index]
    gone = client.post("/tokens/revoke", data={"csrf": data["csrf"], "token": f"{number} of {role}"})
    assert gone.status_code == 200
    assert program(key).get("/overview.json").status_code == 401


def test_tokens_of_others_are_the_admins_alone(app: FastAPI, entering: Clients) -> None:
    made(app, "somebody-else")
    number = app.state.desk.books.tokens.listed("somebody-else")[0].id
    lead, admin = entering("lead"), entering("admin")
    assert "somebody-else" not in lead.get("/tokens").text
    assert lead.get("/admin/tokens").status_code == 403
    csrf = csrf_on(lead, "/tokens")
    told = [lead.post("/tokens/revoke", data={"csrf": csrf, "token": one}) for one in (number, "nowhere")]
    assert [one.status_code for one in told] == [404, 404]
    assert told[0].text.replace(number, "nowhere") == told[1].text
    assert "somebody-else" in admin.get("/admin/tokens").text
    done = admin.post("/admin/tokens/revoke", data={"csrf": csrf_on(admin, "/admin/tokens"), "token": number})
    assert done.status_code == 200
    assert app.state.desk.books.tokens.listed("somebody-else")[0].revoked_s


@pytest.mark.parametrize(
    "change",
    [
        {"label": " "},
        {"days": "0"},
        {"days": "367"},
        {"days": "x"},
        {"days": "-1"},
        {"role": "admin"},
        {"teams": "zebra"},
        {"deeds": "push"},
    ],
    ids=str,
)
def test_a_form_that_is_not_in_order_makes_nothing(app: FastAPI, entering: Clients, change: dict[str, str]) -> None:
    client = entering("viewer")
    before = len(app.state.desk.books.tokens.listed())
    data = {
        "csrf": csrf_on(client, "/tokens"),
        "label": "x",
        "role": "viewer",
        "teams": "",
        "deeds": "read",
        "days": "7",
        **change,
    }
    answer = client.post("/tokens", data=data)
    assert answer.status_code in (404, 422)
    assert "apportion_" not in answer.text
    assert len(app.state.desk.books.tokens.listed()) == before


def test_a_token_makes_no_token(app: FastAPI, program: Callable[[str], TestClient]) -> None:
    client = program(made(app, "maker", "admin", None, tuple(Deed)))
    data = {"label": "x", "role": "admin", "teams": "", "deeds": "admin", "days": "7"}
    assert client.post("/tokens", data=data).status_code == 403


def test_what_is_done_on_pages_is_noted_with_the_name_of_who_did_it(app: FastAPI, entering: Clients) -> None:
    admin = entering("admin")
    entering("viewer")
    books = app.state.desk.books
    start = len(books.audit())
    csrf = csrf_on(admin, "/admin/tokens")
    admin.post("/admin/tokens", data={"csrf": csrf, "label": "noted", "role": "admin", "deeds": "read", "days": "1"})
    number = next(token.id for token in books.tokens.listed("root") if token.label == "noted")
    admin.post("/admin/tokens/revoke", data={"csrf": csrf, "token": number})
    admin.post("/admin/sessions", data={"csrf": csrf, "name": "ada"})
    admin.post("/logout", data={"csrf": csrf})
    notes = [(note.who, note.what) for note in books.audit()[start:]]
    assert notes == [("root", "token"), ("root", "token revoked"), ("root", "sessions ended"), ("root", "logout")]
    assert "noted" in books.audit()[start].detail


def test_the_command_line_makes_lists_and_revokes(own: Project, run: Run, program: Callable[[str], TestClient]) -> None:
    place = ("--project", str(own.folder), "token")
    done = run(*place, "new", "by hand", "--team", "vision", "--days", "30")
    key = done.out.strip()
    assert re.fullmatch(r"apportion_[\w-]{43}", key)
    assert "not shown again" in done.err
    assert program(key).get("/overview.json").status_code == 200
    listed = run(*place, "list").out
    assert "by hand" in listed
    assert key not in listed
    number = next(line.split()[0] for line in listed.splitlines() if "by hand" in line)
    assert run(*place, "revoke", number).code == 0
    assert [one.revoked_s for one in apportion.open_project(own.folder).books.tokens.listed() if one.id == number] != [
        0
    ]
    assert run(*place, "revoke", "nothing").code == 1


def test_who_sits_at_the_terminal_is_an_admin_with_a_name() -> None:
    here = at_the_terminal()
    assert here.role is Role.admin
    assert here.name


def test_books_with_tokens_verify(own: Project, tmp_path: Path) -> None:
    assert apportion.open_project(own.folder).books.verify() == []
