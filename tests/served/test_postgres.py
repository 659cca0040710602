"""PostgreSQL with several servers: whoever asks one of them need not know that there are others."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

import apportion
from apportion.books.doors import Person
from apportion.books.hooks import News
from apportion.verbs.hooks import LOCK, add_hook
from apportion.verbs.project import Project
from tests.books import postgres
from tests.hooks.conftest import Receiver, receiver
from tests.processes import PATIENCE_S
from tests.served.hands import Hands, hands
from tests.served.reading import head_of, sums_by_head, told_sums
from tests.served.serving import Server, start
from tests.web.pushing import ROW, START

__all__ = ["receiver"]
MONTH = "2026-10"
OVERVIEW = f"/overview.json?period={MONTH}"
LINES = "application/x-ndjson"


@pytest.fixture(scope="module")
def project(small: Project, postgres_socket: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The small organisation, moved to a database server as people would."""
    url = postgres.new_database(postgres_socket, "served")
    copy, folder = tmp_path_factory.mktemp("copy") / "books.tar", tmp_path_factory.mktemp("postgres") / "project"
    small.books.backup(copy)
    folder.mkdir()
    settings = (small.folder / "apportion.toml").read_text("utf-8")
    books = f"\n[books]\nurl = {json.dumps(url)}\nwarehouse = {json.dumps(str(folder / 'warehouse'))}\n"
    (folder / "apportion.toml").write_text(settings + books, "utf-8")
    for name in ("policy.yaml", "names.key"):
        if (small.folder / name).exists():
            (folder / name).write_bytes((small.folder / name).read_bytes())
    with hands(folder) as hand:
        hand.do("backup", str(copy), "--restore")
    made = apportion.open_project(folder)
    yield made
    made.books.close()


@pytest.fixture(scope="module")
def hand(project: Project) -> Iterator[Hands]:
    with hands(project.folder) as made:
        yield made


@pytest.fixture(scope="module")
def servers(project: Project) -> Iterator[list[Server]]:
    with ExitStack() as stack:
        starting = [stack.enter_context(start(project.folder, processes)) for processes in (2, 1)]
        yield [one.ready() for one in starting]


@pytest.fixture
def session(project: Project) -> str:
    return project.books.doors.open_session(Person("root", "admin", None, "link"), 3600)


@pytest.fixture
def everyone(servers: list[Server]) -> Iterator[list[httpx.Client]]:
    """A client for every process of both servers, not logged in."""
    with ExitStack() as stack:
        yield [client for server in servers for client in stack.enter_context(server.each())]


def known(client: httpx.Client, key: str) -> bool:
    return client.get("/api/v1/me", headers={"Cookie": f"apportion={key}"}).status_code == 200


def csrf(client: httpx.Client, path: str, key: str) -> str:
    text = client.get(path, headers={"Cookie": f"apportion={key}"}).text
    return str(re.findall(r'name="csrf" value="([0-9a-f]+)"', text)[-1])


def sent(client: httpx.Client, path: str, key: str, **fields: str) -> httpx.Response:
    return client.post(path, data=fields, headers={"Cookie": f"apportion={key}"})


def test_a_login_at_one_is_a_login_at_all_and_a_link_is_good_once(
    servers: list[Server], everyone: list[httpx.Client]
) -> None:
    for server in servers:
        with ThreadPoolExecutor(len(everyone)) as pool:
            answers = list(pool.map(httpx.Client.get, everyone, [server.link] * len(everyone)))
        assert sorted(answer.status_code for answer in answers) == [303, 401, 401]
        key = next(answer.cookies["apportion"] for answer in answers if answer.status_code == 303)
        for client in everyone:
            client.cookies.clear()
        assert [known(client, key) for client in everyone] == [True] * 3


def test_whoever_logs_out_at_one_is_out_at_all_at_once(everyone: list[httpx.Client], project: Project) -> None:
    """Each process saw the session a moment before, and the form is of another than the one that it is sent to."""
    for leaving, client in enumerate(everyone):
        key = project.books.doors.open_session(Person("root", "admin", None, "link"), 3600)
        assert [known(one, key) for one in everyone] == [True] * 3
        form = csrf(everyone[leaving - 1], "/", key)
        assert sent(client, "/logout", key, csrf=form).headers["location"] == "/logout/done"
        assert [known(one, key) for one in everyone] == [False] * 3


def test_a_token_made_at_one_is_good_at_all_and_ends_at_all_at_once(everyone: list[httpx.Client], session: str) -> None:
    first, second, third = everyone
    form = csrf(second, "/admin/tokens", session)
    asked = {"label": "nightly", "role": "viewer", "teams": "vision", "deeds": "read", "days": "3"}
    shown = sent(first, "/admin/tokens", session, csrf=form, **asked)
    found = re.search(r"apportion_[\w-]+", shown.text)
    number = re.search(r"Token (\w+) is good", shown.text)
    assert found
    assert number
    headers = {"Authorization": f"Bearer {found[0]}"}
    mine = [client.get("/api/v1/me", headers=headers) for client in everyone]
    assert [answer.json()["teams"] for answer in mine] == [["vision"]] * 3
    assert sent(third, "/admin/tokens/revoke", session, csrf=form, token=number[1]).status_code == 303
    assert [client.get("/api/v1/me", headers=headers).status_code for client in everyone] == [401] * 3


def test_whoever_loses_a_team_loses_it_at_all_at_once(everyone: list[httpx.Client], project: Project) -> None:
    doors = project.books.doors
    was = doors.open_session(Person("mover", "lead", frozenset({"zebra"}), "link"), 3600)
    assert [known(client, was) for client in everyone] == [True] * 3
    now = doors.open_session(Person("mover", "lead", frozenset({"vision"}), "link"), 3600)
    assert [known(client, was) for client in everyone] == [False] * 3
    assert [known(client, now) for client in everyone] == [True] * 3


def test_what_is_posted_anywhere_shows_at_all(
    everyone: list[httpx.Client], session: str, project: Project, hand: Hands
) -> None:
    words = ("--team", "vision", "--sponsor", "speech", "--amount", "1.00", "--why", "tried", "--period", MONTH)
    hand.do("adjust", *words)
    show_the_same(everyone, session, project)
    body = {"period": MONTH, "owner": "vision", "sponsor": "speech", "amount": "2.00", "why": "tried at a server"}
    headers = {"Cookie": f"apportion={session}", "Origin": str(everyone[0].base_url).rstrip("/")}
    made = everyone[0].post("/api/v1/adjustments", json=body, headers=headers)
    assert made.status_code < 300, made.text
    show_the_same(everyone, session, project)


def show_the_same(everyone: list[httpx.Client], session: str, project: Project) -> None:
    head, owed = project.books.head(), sums_by_head(project, MONTH)[project.books.head()]
    for client in everyone:
        page = client.get(OVERVIEW, headers={"Cookie": f"apportion={session}"}).json()
        assert head_of(page) == head
        assert told_sums(page) == [owed, owed]


def push(client: httpx.Client, session: str, key: str, row: dict[str, Any], more: str = "") -> httpx.Response:
    headers = {
        "Cookie": f"apportion={session}",
        "Origin": str(client.base_url).rstrip("/"),
        "Idempotency-Key": key,
        "Content-Type": LINES,
    }
    return client.post(f"/api/v1/usage?source=pushed{more}", content=json.dumps(row), headers=headers)


@pytest.mark.parametrize("more", ["", f"&start_s={START}&end_s={START + 3600}"], ids=["added", "replaced"])
def test_a_push_that_comes_to_all_at_once_is_taken_once(
    everyone: list[httpx.Client], session: str, project: Project, more: str
) -> None:
    before = len(project.books.deliveries())
    row = {**ROW, "workload": f"w{len(more)}"}
    with ThreadPoolExecutor(len(everyone)) as pool:
        answers = list(pool.map(lambda client: push(client, session, f"k{more}", row, more), everyone))
    assert [answer.status_code for answer in answers] == [200] * 3, [answer.text for answer in answers]
    assert [answer.json() for answer in answers] == [answers[0].json()] * 3
    assert answers[0].json()["rows"] == 1
    assert len(project.books.deliveries()) == before + 1
    other = [push(client, session, f"k{more}", {**row, "gpu": 2}, more).status_code for client in everyone]
    assert other == [409] * 3


def test_two_pushes_with_one_key_and_other_rows_are_one_and_a_refusal(
    everyone: list[httpx.Client], session: str
) -> None:
    rows = [{**ROW, "workload": f"of-{n}"} for n in range(3)]
    with ThreadPoolExecutor(len(everyone)) as pool:
        answers = list(pool.map(lambda client, row: push(client, session, "one", row), everyone, rows))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]


def wait_for(what: Any) -> None:
    late = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < late
        time.sleep(0.2)


def test_a_webhook_is_told_once_though_all_tell(
    everyone: list[httpx.Client], project: Project, hand: Hands, receiver: Receiver
) -> None:
    """First by commands that start together, then by the servers themselves, each of which looks every half a minute."""
    del everyone  # they run
    hooks = project.books.hooks
    add_hook(project, receiver.address, events=["period.closed"])
    hooks.tell([News("period.closed", f"of a test {n}", {}) for n in range(20)])
    for one in [hand.begin("webhooks", "deliver") for _ in range(3)]:
        one.done()
    wait_for(lambda: all(one.done_s for one in hooks.tellings()))
    hooks.tell([News("period.closed", f"of a server {n}", {}) for n in range(20)])
    wait_for(lambda: all(one.done_s for one in hooks.tellings()))
    assert {(one.state, one.tries) for one in hooks.tellings()} == {("told", 1)}
    numbers = [headers["apportion-delivery"] for headers, _ in receiver.came]
    assert len(numbers) == len(set(numbers)) == 40
    with project.books.locks.attempt(LOCK) as mine:
        assert mine


def test_they_end_when_told_to_and_hold_no_lock(servers: list[Server], project: Project) -> None:
    pids = set().union(*(server.pids() for server in servers))
    assert [server.stop() for server in servers] == [0, -15]
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    for server in servers:
        assert [one for one in server.log.read_text("utf-8").splitlines() if not one.startswith("Open ")] == []
    with project.books.locks.hold(["usage", "cost_lines"]):
        assert project.books.verify() == []
