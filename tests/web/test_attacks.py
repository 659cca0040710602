"""What somebody tries who means no good: to learn of another's dealings, to outlast what was taken from them, to break a page by what they send."""

import json
import re
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

import apportion
from apportion.books.doors import Person
from apportion.books.tokens import Grant
from apportion.errors import InputError
from apportion.reports.groups import DIMENSIONS
from apportion.sources.pushed import ARROW, Welcome, read_rows
from apportion.verbs.adjust import Wish
from apportion.verbs.dispute import Doubt, Settlement
from apportion.verbs.project import Project
from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from apportion.web.pages import ACTIONS
from tests.leaks.matrix import csrf
from tests.web import world
from tests.web.conftest import OUR_HOST, PEOPLE, Clients
from tests.web.forms import sent
from tests.web.serving import serving

OF_ZEBRA = re.compile(r"zebra|halcyon|quagga|stripes|\b7777\b")  # not four digits of a time or a hash
HUGE = "9" * 5000
MONTH = "period=2026-10"
Way = Callable[[TestClient], Any]


@pytest.fixture(scope="module")
def project(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Vision and zebra have paid for each other, and a dispute was opened after that."""
    made = world.copied(small, tmp_path_factory.mktemp("attacked") / "project")
    for owner, sponsor in (("vision", "zebra"), ("zebra/halcyon", "vision")):
        apportion.adjust(
            made, "2026-10", Wish(owner=owner, sponsor=sponsor, amount="11.00", why=f"gift of {len(owner)}")
        )
    apportion.open_dispute(made, "2026-10", Doubt("vision/detect", "ours?", "5.00"))
    apportion.settle(made, 3, Settlement("reclassed", "not theirs", "zebra"))
    return made


@pytest.fixture(scope="module")
def app(project: Project) -> FastAPI:
    return create_app(project.folder)


@pytest.mark.parametrize(
    "path",
    [
        "/disputes/3",
        "/disputes/3.json",
        "/api/v1/disputes/3",
        "/api/v1/adjustments",
        "/adjustments.json?" + MONTH,
        "/statements/2026-10/vision",
        "/statements/2026-10/vision.json",
        "/api/v1/statements/2026-10/vision",
        *(f"/statements/2026-10/vision/download?format={form}" for form in ("csv", "html", "json", "md")),
    ],
)
def test_the_other_side_of_a_deal_is_not_named(path: str, entering: Clients) -> None:
    """Neither in the list nor in what was explained when a dispute was opened; who pays for oneself may stand in one's own explanation."""
    told = entering("viewer").get(path).text
    assert "11" in told
    own = r"credited to vision, paid by zebra|\\?\"other\\?\": ?\\?\"zebra\\?\"" if "disputes" in path else "$"
    assert not OF_ZEBRA.search(re.sub(own, "", told))
    assert OF_ZEBRA.search(entering("finance").get(path).text)


def test_a_dispute_that_is_opened_answers_no_more_than_it_tells_later(entering: Clients, project: Project) -> None:
    apportion.adjust(project, "2026-10", Wish(owner="zebra", sponsor="speech", amount="3.00", why="halcyon is young"))
    given = {"period": "2026-10", "what": "speech", "why": "too much"}
    made = entering("lead").post("/api/v1/disputes", json=given, headers={"Origin": OUR_HOST})
    assert (made.status_code, OF_ZEBRA.search(made.text)) == (201, None)
    assert made.json()["evidence"]["steps"]


def test_no_filter_tells_another_s_name_from_none(entering: Clients) -> None:
    words = {
        "team": "zebra",
        "department": "stripes",
        "cost_centre": "7777",
        "project": "zebra/halcyon",
        "user": "zebra/quagga",
    }
    pages = (
        "/overview.json",
        "/ledger.json",
        "/idle.json",
        "/live.json",
        "/api/v1/teams",
        "/api/v1/postings",
        "/api/v1/reports/showback",
    )
    client = entering("viewer")
    for page in pages:
        for by in DIMENSIONS:
            asked = [f"{page}?{MONTH}&where={by}%3D{word}" for word in (words.get(by, "zebra"), "nobody")]
            theirs, nobodys = (client.get(one) for one in asked)
            name = words.get(by, "zebra")
            alike = [re.sub(rf"{re.escape(name)}|nobody|[0-9a-f]{{20}}", "§", one.text) for one in (theirs, nobodys)]
            assert (theirs.status_code, alike[0]) == (nobodys.status_code, alike[1]), asked[0]


def test_the_days_of_the_overview_go_through_its_filters(entering: Clients, project: Project) -> None:
    page = entering("finance").get(f"/overview.json?{MONTH}&where=pool%3Ddisks").json()
    [days, owners] = page["tables"]
    made = apportion.report(project, "showback", "2026-10", by="team", where=["pool=disks"])
    assert sum(float(row["amount"]) for row in days["rows"]) == pytest.approx(float(made.sections[0].bill))
    assert len(owners["rows"]) == len(made.sections[0].rows)


def test_a_token_makes_no_token(app: FastAPI) -> None:
    books = app.state.desk.books
    key = books.tokens.make(Grant("taken", "ada", "viewer", frozenset({"vision"}), frozenset({"read"}), 60))[1]
    before = len(books.tokens.listed())
    client = TestClient(app, OUR_HOST, headers={"Authorization": f"Bearer {key}"}, raise_server_exceptions=False)
    assert client.post("/api/v1/tokens", json={"label": "for later"}).json()["code"] == "token-too-wide"
    client.cookies.set(COOKIE, "made up")
    form = {"csrf": csrf(client), "label": "for later", "deeds": "read", "days": "300"}
    assert client.post("/tokens", data=form).status_code == 422
    assert len(books.tokens.listed()) == before


def test_a_login_with_other_rights_ends_what_was_open_with_those_before(app: FastAPI) -> None:
    doors = app.state.desk.books.doors
    old = TestClient(app, OUR_HOST, cookies={COOKIE: doors.open_session(Person("mo", "admin", None, "link"), 60)})
    assert old.get("/admin").status_code == 200
    same = doors.open_session(Person("mo", "admin", None, "link"), 60)
    assert old.get("/admin").status_code == 200, "a second browser ends nothing"
    doors.open_session(Person("mo", "viewer", frozenset({"vision"}), "link"), 60)
    assert old.get("/admin", follow_redirects=False).status_code == 303
    assert doors.session(same) is None


@pytest.mark.parametrize(
    "path",
    [
        f"/admin/audit?before={HUGE}", "/admin/audit?before=99999999999999999999", f"/explain?what=posting:{HUGE}&{MONTH}",
        f"/explain?what=posting:{'9' * 30}&{MONTH}", f"/api/v1/explain?what=posting:{'9' * 900}&{MONTH}", "/?as_of=9999-12-31", "/?as_of=0001-01-01",
        f"/search?q={HUGE}", "/teams/%00", "/search?q=%00", "/ledger?where=user%3D%00", f"/ledger?before={HUGE}", "/policy/%00", "/teams/%ed%a0%80",
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", ["admin", "viewer"])
def test_nothing_that_is_asked_breaks_a_page(role: str, path: str, entering: Clients) -> None:
    assert entering(role).get(path).status_code < 500


def test_days_without_end_make_no_token(entering: Clients) -> None:
    answer = sent(entering("viewer"), "/tokens", "/tokens", label="long", deeds="read", days=HUGE)
    assert (answer.status_code, "whole number" in answer.text) == (422, True)


def test_the_same_form_twice_makes_one_token(entering: Clients, app: FastAPI) -> None:
    client = entering("viewer")
    answers = [sent(client, "/tokens", "/tokens", label="once", deeds="read", days="1") for _ in range(2)]
    assert [one.status_code for one in answers] == [200, 422]
    assert [one.label for one in app.state.desk.books.tokens.listed("ada")].count("once") == 1


def test_a_form_without_a_stated_length_is_told_that_it_is_too_large(app: FastAPI, entering: Clients) -> None:
    """Of a real server, as a browser would never send it."""
    client = entering("viewer")
    head = f"csrf={csrf(client)}&label=".encode()
    with serving(app) as address:
        place = address.removeprefix("http://")
        host, _, port = place.partition(":")
        with socket.create_connection((host, int(port))) as line:
            said = f"POST /tokens HTTP/1.1\r\nHost: {place}\r\nCookie: {COOKIE}={client.cookies[COOKIE]}\r\n"
            said += "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
            line.sendall(said.encode())
            for part in (head, *[b"a" * 2**20] * 17):
                line.sendall(b"%x\r\n%s\r\n" % (len(part), part))
            assert line.recv(100).startswith(b"HTTP/1.1 413 ")


def test_the_form_of_webhooks_adds_one(entering: Clients, app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """With just the fields that stand on the page."""
    monkeypatch.setitem(app.state.desk.project.settings.webhooks, "allow_private", True)
    client, hooks = entering("admin"), app.state.desk.books.hooks
    form = next(
        one for one in re.findall(r"<form.*?</form>", client.get("/admin/webhooks").text, re.DOTALL) if "Add it" in one
    )
    fields = dict.fromkeys(re.findall(r'name="([^"]+)"', form), "")
    fields |= dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
    answer = client.post("/admin/webhooks", data={**fields, "url": "http://127.0.0.1:9/"})
    [hook] = hooks.all()
    assert hooks.secret_of(hook.id) in answer.text


def batches(*columns: tuple[str, pa.Array]) -> bytes:
    batch = pa.RecordBatch.from_arrays([column for _, column in columns], [name for name, _ in columns])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


ONES = pa.array([0] * 1000, pa.int32())
BOMBS = {
    "rows without a byte": batches(("workload", pa.nulls(2**31 - 1))),
    "one text for all": batches(("workload", pa.DictionaryArray.from_arrays(ONES, ["x" * 2**20]))),
    "one run": batches(("workload", pa.RunEndEncodedArray.from_arrays(pa.array([2**30], pa.int32()), ["x"]))),
    "one list for all": batches(("labels", pa.ListViewArray.from_arrays(ONES, pa.array([9] * 1000, pa.int32()), pa.array(["x"] * 9)))),
}  # fmt: skip


@pytest.mark.parametrize("what", BOMBS)
def test_few_bytes_do_not_become_many_rows(what: str) -> None:
    with pytest.raises(InputError, match="not an Arrow stream that can be read"):
        read_rows(BOMBS[what], ARROW, Welcome("pushed", "usage"))


def test_of_two_who_settle_at_once_one_does(small: Project, tmp_path: Path) -> None:
    folder = world.copied(small, tmp_path / "own").folder
    made = create_app(folder)
    books = made.state.desk.books
    keys = [books.doors.open_session(PEOPLE[role], 60) for role in ("finance", "admin")]
    clients = [TestClient(made, OUR_HOST, cookies={COOKIE: key}, follow_redirects=False) for key in keys]
    form = {"outcome": "credited", "why": "agreed", "other": "platform", "amount": "1.00"}
    ways: list[Way] = [
        lambda client: client.post("/disputes/1/settle", data={"csrf": csrf(client), **form}),
        lambda client: client.post("/drafts/1/drop", data={"csrf": csrf(client), "why": "no"}),
        lambda client: client.post(
            "/disputes", data={"csrf": csrf(client), "period": "2026-10", "what": "speech", "why": "too much"}
        ),
    ]
    for way in ways:
        with ThreadPoolExecutor(2) as both:
            assert sorted(one.status_code for one in both.map(way, clients)) == [303, 409]
    assert len(books.transfers()) == 1
    assert books.verify() == []


@pytest.fixture
def own(small: Project, tmp_path: Path) -> FastAPI:
    return create_app(world.copied(small, tmp_path / "own").folder)


def test_whoever_does_something_is_in_the_audit_log(own: FastAPI) -> None:
    """Every form that changes something; verifying changes nothing."""
    books = own.state.desk.books
    client = TestClient(
        own, OUR_HOST, cookies={COOKIE: books.doors.open_session(PEOPLE["admin"], 60)}, follow_redirects=False
    )
    books.doors.open_session(PEOPLE["viewer"], 60)
    own.state.desk.project.settings.webhooks["allow_private"] = True
    hook = books.hooks.add("http://127.0.0.1:9/", ["period.closed"], None)[0].id
    token = books.tokens.make(Grant("old", "root", "admin", None, frozenset({"read"}), 60))[0].id
    other = books.tokens.make(Grant("older", "ada", "viewer", frozenset(), frozenset({"read"}), 60))[0].id
    rule = {"label": "slurm.account", "value": "odd-one", "team": "vision", "why": "theirs"}
    grant = {"role": "admin", "deeds": "read", "days": "1"}
    tried = {"pool": "gpus", "idle": "even", "first": "2026-10", "last": "2026-10"}
    saved = client.post("/what-if/save", data={"csrf": csrf(client), **tried, "name": "x"}).headers["location"]
    done = {
        "/quotas/budget": ("/quotas/budget", {"team": "vision", "amount": "9", "since": "2026-11"}),
        "/disputes": ("/disputes", {"period": "2026-10", "what": "speech", "why": "too much"}),
        "/disputes/{number}/say": ("/disputes/1/say", {"text": "we wonder"}),
        "/disputes/{number}/settle": ("/disputes/1/settle", {"outcome": "rejected", "why": "no"}),
        "/adjustments": ("/adjustments", {"period": "2026-10", "team": "vision", "sponsor": "platform", "amount": "1", "why": "x"}),
        "/drafts/setting": ("/drafts/setting", {"pool": "gpus", "idle": "proportional", "why": "x"}),
        "/drafts/owner": ("/drafts/owner", rule),
        "/drafts/text": ("/drafts/text", {"text": world.POLICY + "# more\n", "why": "x"}),
        "/drafts/{number}/adopt": ("/drafts/2/adopt", {}),
        "/drafts/{number}/drop": ("/drafts/3/drop", {"why": "x"}),
        "/what-if/save": ("/what-if/save", {**tried, "name": "y"}),
        "/what-if/saved/{saved}/draft": (f"{saved}/draft", {"why": "x"}),
        "/what-if/saved/{saved}/forget": (f"/what-if/saved/{world.SAVED}/forget", {}),
        "/admin/sessions": ("/admin/sessions", {"name": "ada"}),
        "/tokens": ("/tokens", {"label": "mine", **grant}),
        "/admin/tokens": ("/admin/tokens", {"label": "ours", **grant}),
        "/tokens/revoke": ("/tokens/revoke", {"token": token}),
        "/admin/tokens/revoke": ("/admin/tokens/revoke", {"token": other}),
        "/admin/webhooks": ("/admin/webhooks", {"what": "test", "id": hook}),
    }  # fmt: skip
    elsewhere = {"/anomalies", "/review/draft"}  # there are none here: tests/anomalies and tests/review have them
    assert {*done, *elsewhere, "/ledger/verify"} == {action.path for action in ACTIONS}
    for path, form in done.values():
        before = len(books.audit())
        answer = client.post(path, data={"csrf": csrf(client), **form})
        assert answer.status_code in (200, 303), (path, answer.text)
        assert {note.who for note in books.audit()[before:]} == {"root"}, path
    told = client.post(f"/api/v1/webhooks/{hook}/test", headers={"Origin": OUR_HOST})
    assert (told.status_code, books.audit()[-1].what, books.audit()[-1].who) == (200, "webhook test", "root")


def test_pages_stay_as_they_were_while_a_file_cannot_be_read(own: FastAPI) -> None:
    folder, doors = own.state.desk.folder, own.state.desk.books.doors
    clients = {
        role: TestClient(own, OUR_HOST, cookies={COOKIE: doors.open_session(PEOPLE[role], 60)})
        for role in ("finance", "viewer")
    }
    asked = f"/overview.json?{MONTH}"
    before = {role: client.get(asked).json() for role, client in clients.items()}
    for name, text in (("policy.yaml", "teams: {zebra: [quagga"), ("policy.yaml", ""), ("apportion.toml", "[[[")):
        file = folder / name
        whole = file.read_text("utf-8")
        file.write_text(text, "utf-8") if text else file.unlink()
        for role, client in clients.items():
            page = client.get(asked).json()
            [said, *notes] = page["notes"]
            assert {**page, "notes": notes} == before[role]
            assert "go by what was there before" in said
            assert (name in said) == (role == "finance")
            assert "go by what was there before" in client.get(f"/?{MONTH}").text
            assert not OF_ZEBRA.search(json.dumps(page)) or role == "finance"
        file.write_text(whole, "utf-8")
        assert all(client.get(asked).json() == before[role] for role, client in clients.items())


def test_no_word_of_zebra_in_a_kept_page(clients: Clients) -> None:
    """Whoever sees everything asks first: what is kept for them is theirs alone."""
    paths = [
        f"{page}?{MONTH}"
        for page in ("/", "/teams", "/pools/gpus", "/idle", "/quotas", "/statements", "/users/ada", "/adjustments")
    ]
    first, then = clients("finance"), clients("viewer")
    for path in paths:
        first.get(path)
        assert not OF_ZEBRA.search(then.get(path).text), path
