"""The Python client against a server: every endpoint has a method, lists are read to their end, errors speak the server's words."""

from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

import apportion
from apportion.client import record
from apportion.client.client import Client, Pushing
from apportion.client.rows import UsageRow
from apportion.client.wire import ServerError
from apportion.verbs.project import Project
from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from tests import loopback
from tests.web import world
from tests.web.conftest import PEOPLE
from tests.web.pushing import ROW, STANZA, START
from tests.web.serving import serving


@pytest.fixture(scope="module")
def project(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = world.copied(small, tmp_path_factory.mktemp("client") / "project")
    with (made.folder / "apportion.toml").open("a") as file:
        file.write(STANZA)
    return apportion.open_project(made.folder)


@pytest.fixture(scope="module")
def address(project: Project) -> Iterator[str]:
    with serving(create_app(project.folder)) as found:
        yield found


@pytest.fixture
def client(project: Project, address: str) -> Iterator[Client]:
    with as_one(project, address, "admin") as made:
        yield made


def as_one(project: Project, address: str, role: str) -> Client:
    """By the cookie of a session."""
    made = Client(address)
    made._http.cookies.set(COOKIE, project.books.doors.open_session(PEOPLE[role], 3600))
    made._http.headers.update(csrf(made._http.cookies[COOKIE]))
    return made


def csrf(key: str) -> dict[str, str]:
    """What changes something by a cookie brings the session's own token along."""
    import hashlib
    import hmac

    return {"X-CSRF-Token": hmac.new(key.encode(), b"form", hashlib.sha256).hexdigest()}


def test_reading_gives_what_the_verbs_say(client: Client, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apportion.client.client.PART", 7)
    posted = project.books.posted("2026-10").to_pylist()
    found = list(client.postings("2026-10"))
    assert sum(Decimal(one.amount) for one in found) == sum(row["amount"] for row in posted)
    assert len(found) > 7
    assert (
        client.report("showback", "2026-10", by="pool").title
        == apportion.report(project, "showback", "2026-10", by="pool").title
    )
    assert [one.name for one in client.teams("2026-10")] == sorted(project.policy.teams)
    assert client.me().role == "admin"
    assert [one.period for one in client.periods()] == ["2026-09", "2026-10"]
    for shown in (client.team("vision"), client.project("vision", "detect"), client.user("ada"), client.pool("gpus")):
        assert shown.amounts
    for listed in (
        client.projects(),
        client.users(),
        client.pools(),
        client.adjustments(),
        client.audit(),
        client.runs_of_the_books(),
    ):
        assert isinstance(list(listed), list)
    assert client.run("11001").owners == ["vision/detect/ada"]
    assert client.statement("2026-09", "vision").statements[0]["owner"] == "vision"
    assert {one.owner for one in client.statements("2026-09")} >= {"vision", "speech"}
    version = next(client.policies()).version
    assert client.policy(version).text == world.POLICY
    assert "pushed" in [one.name for one in client.health().sources]


def test_disputes_and_credits_are_written(client: Client, project: Project) -> None:
    made = client.open_dispute("2026-10", "speech", "too much")
    assert client.say(made.number, "and more").notes[-1].who == "root"
    ended = client.settle(made.number, record.Ending(outcome="rejected", why="it is right"))
    assert (ended.dispute.status, ended.booked) == ("rejected", "")
    assert [one.number for one in client.disputes("rejected")] == [made.number]
    assert client.dispute(made.number).evidence
    wish = record.Credit(period="2026-10", owner="vision", sponsor="platform", amount="1.00", why="node 1 was slow")
    first, second = client.give_credit(wish), client.give_credit(wish)
    assert (first.posted, second.posted, first.adjustment) == (True, False, second.adjustment)
    assert Decimal(first.adjustment.amount) == 1
    assert project.books.verify() == []


def test_a_lead_speaks_for_their_team_alone(project: Project, address: str) -> None:
    with as_one(project, address, "lead") as lead:
        for what in ("zebra", "zjob1001", "nothing"):
            with pytest.raises(ServerError) as refused:
                lead.open_dispute("2026-10", what, "what is this?")
            assert (refused.value.status, refused.value.code, refused.value.message) == (
                404,
                "not-there",
                "there is no such figure here",
            )
        with pytest.raises(ServerError) as foreign:
            lead.say(2, "hello")
        assert foreign.value.code == "not-there"
        posting = next(one for one in lead.postings("2026-10") if one.reason == "usage")
        own = lead.open_dispute("2026-10", str(posting.seq), "not ours")
        assert own.owner.startswith("speech")
        with pytest.raises(ServerError) as forbidden:
            lead.settle(own.number, record.Ending(outcome="rejected", why="no"))
        assert forbidden.value.code == "not-allowed"


def test_rows_are_pushed_as_mappings_shapes_or_a_table(client: Client, project: Project) -> None:
    first = client.push_usage([ROW, UsageRow(**{**ROW, "workload": "w2"})], "pushed", key="k")
    assert (first.rows, first) == (
        2,
        client.push_usage([ROW, UsageRow(**{**ROW, "workload": "w2"})], "pushed", key="k"),
    )
    table = pa.Table.from_pylist([{**ROW, "workload": "w3"}])
    assert client.push_usage(table, "pushed").rows == 1
    again = client.push_usage([{**ROW, "gpu": 2}], "pushed", Pushing(window=(START, START + 3600), strict=True))
    assert again.rows == 1
    with pytest.raises(ServerError) as refused:
        client.push_usage([{**ROW, "meter": "no"}], "pushed", Pushing(strict=True))
    assert (refused.value.code, refused.value.problem.problems[0].where) == ("push-refused", "line 1")


def test_errors_are_the_servers_own(client: Client, address: str) -> None:
    with pytest.raises(ServerError) as refused:
        client.report("showback", "2020-01")
    assert (refused.value.status, refused.value.code) == (404, "nothing-posted")
    assert "2026-10" in refused.value.hint
    with Client(address, "apportion_wrong") as stranger, pytest.raises(ServerError) as unknown:
        stranger.me()
    assert unknown.value.status == 401
    assert "apportion_wrong" not in str(unknown.value)


class Moody(BaseHTTPRequestHandler):
    """Busy twice, then well."""

    seen: ClassVar[list[str]] = []
    keys: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        self.seen.append(self.command)
        self.keys.append(self.headers.get("Idempotency-Key"))
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        done = len(self.seen) > 2
        body = ME if done and self.command == "GET" else PUSHED if done else b"busy"
        self.send_response(200 if done else 503)
        self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *args: Any) -> None:
        pass


ME = b'{"name": "a", "role": "admin", "by": "token", "teams": null, "deeds": []}'
PUSHED = b'{"source": "s", "table": "usage", "delivery": "d", "rows": 1, "known": 0, "quarantined": 0, "refused": 0, "problems": []}'


def test_only_what_may_be_sent_twice_is_tried_again() -> None:
    with loopback.listening(Moody) as moody, Client(moody, "t") as client:
        assert client.me().name == "a"
        Moody.seen.clear()
        Moody.keys.clear()
        client.push_usage([ROW], "s")
        assert (len(Moody.seen), len(set(Moody.keys))) == (3, 1), "under one key"
        Moody.seen.clear()
        with pytest.raises(apportion.ApportionError) as refused:
            client.say(1, "once")
        assert (Moody.seen, refused.value.code) == (["POST"], "bad-response")


def test_a_server_that_is_not_there_is_said(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:9", tries=2) as client, pytest.raises(apportion.ApportionError) as refused:
        client.me()
    assert refused.value.code == "unreachable"


def test_every_endpoint_has_a_method(project: Project) -> None:
    """So that a new one is not forgotten: their names are the operations' ids."""
    called = {"run_cost": "run", "statements_of": "statements"}
    paths = create_app(project.folder).openapi()["paths"]
    names = {one["operationId"] for methods in paths.values() for one in methods.values()}
    called |= {name: "report" for name in names if name.startswith("report_")}
    assert not [name for name in names if not hasattr(Client, called.get(name, name))]
