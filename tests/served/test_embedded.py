"""The embedded books, with two servers on them in three processes, while the command line writes.

No answer fails, none mixes two heads of the ledger, and what was posted is in the next answer of every process.
"""

import os
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import cycle
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest

import apportion
from apportion.books.doors import Person
from apportion.books.tables import EVIDENCE
from apportion.verbs.project import Project
from tests.processes import PATIENCE_S
from tests.served.hands import Hands, hands
from tests.served.reading import head_of, sums_by_head, told_sums
from tests.served.serving import Server, start
from tests.web import world

MONTH = "2026-10"
PAUSE_S = 0.2
OVERVIEW = f"/overview.json?period={MONTH}"
SHOWBACK = f"/api/v1/reports/showback?period={MONTH}"
OTHERS = (
    f"/?period={MONTH}", f"/teams/vision?period={MONTH}", f"/pools?period={MONTH}", f"/explain?what=vision&period={MONTH}", "/health", "/live", "/disputes",
    f"/ledger?period={MONTH}", "/statements", "/admin/audit", "/api/v1/periods", f"/api/v1/postings?period={MONTH}", "/ledger.csv", "/runs/11001.json",
)  # fmt: skip


@dataclass
class Seen:
    """What readers were answered."""

    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    overviews: list[Any] = field(default_factory=list)
    reports: list[Any] = field(default_factory=list)

    def take(self, path: str, answer: httpx.Response) -> None:
        self.statuses[path, answer.status_code] += 1
        if answer.status_code == 200 and path in (OVERVIEW, SHOWBACK):
            (self.overviews if path == OVERVIEW else self.reports).append(answer.json())

    @property
    def failed(self) -> dict[tuple[str, int], int]:
        return {key: count for key, count in self.statuses.items() if key[1] != 200}


@pytest.fixture(scope="module")
def project(folder: Path) -> Iterator[Project]:
    made = apportion.open_project(folder)
    yield made
    made.books.close()


@pytest.fixture(scope="module")
def servers(folder: Path, project: Project) -> Iterator[list[Server]]:
    """One of two processes and one of one, on the same books."""
    with ExitStack() as stack:
        starting = [stack.enter_context(start(folder, processes)) for processes in (2, 1)]
        yield [one.ready() for one in starting]


@pytest.fixture(scope="module")
def hand(folder: Path) -> Iterator[Hands]:
    with hands(folder) as made:
        yield made


@pytest.fixture(scope="module")
def key(project: Project) -> str:
    return project.books.doors.open_session(Person("root", "admin", None, "link"), 3600)


@pytest.fixture(scope="module")
def everyone(servers: list[Server], key: str) -> Iterator[list[httpx.Client]]:
    """A client for every process of every server."""
    with ExitStack() as stack:
        yield [client for server in servers for client in stack.enter_context(server.each(key))]


@contextmanager
def readers(servers: list[Server], key: str) -> Iterator[Seen]:
    """They ask all the time; what they saw is whole when this ends."""
    seen, stop = Seen(), Event()

    def read(server: Server, paths: tuple[str, ...]) -> None:
        with server.client(key) as client:
            for path in cycle(paths):
                seen.take(path, client.get(path))
                if stop.wait(PAUSE_S):
                    return

    wanted = ((OVERVIEW, SHOWBACK), (SHOWBACK, OVERVIEW), OTHERS)
    with ThreadPoolExecutor(len(wanted)) as pool:
        asked = zip(cycle(servers), wanted)
        reading: list[Future[None]] = [pool.submit(read, *one) for one in asked]
        try:
            yield seen
        finally:
            stop.set()
        for one in reading:
            one.result(PATIENCE_S)


def credit(hand: Hands, number: int) -> str:
    words = ("--team", "vision", "--sponsor", "speech", "--amount", "1.00", "--why", "tried", "--period", MONTH)
    return hand.do("adjust", *words, "--reference", str(number))


def test_a_link_is_good_once_whoever_is_asked(servers: list[Server]) -> None:
    for server in servers:
        with ExitStack() as stack:
            clients = [stack.enter_context(one.client()) for one in servers * 3]
            with ThreadPoolExecutor(len(clients)) as pool:
                answers = list(pool.map(httpx.Client.get, clients, [server.link] * len(clients)))
        assert sorted(answer.status_code for answer in answers) == [303, 401, 401, 401, 401, 401]
        (good,) = (answer for answer in answers if answer.status_code == 303)
        with servers[0].client(good.cookies["apportion"]) as client:
            assert client.get("/api/v1/me").json()["role"] == "admin"


def test_what_the_command_line_posts_is_in_the_next_answer_of_every_process(
    hand: Hands, everyone: list[httpx.Client], project: Project
) -> None:
    for number in range(2):
        credit(hand, number)
        head, owed = project.books.head(), sums_by_head(project, MONTH)[project.books.head()]
        pages = [client.get(OVERVIEW).json() for client in everyone]
        assert [head_of(page) for page in pages] == [head] * len(everyone)
        assert [told_sums(page) for page in pages] == [[owed, owed]] * len(everyone)


def later_bill(folder: Path) -> None:
    """The vendor says of October, which is closed by then, that it cost a little more."""
    bill = folder / "bills" / f"{MONTH}.csv"
    bill.write_text(bill.read_text("utf-8").replace("399.99", "401.99"), "utf-8")


def write_everything(hand: Hands, folder: Path) -> None:
    """A month as people and cron go through it: usage, plans, credits, a dispute, a close, a late bill, a backup, names erased, files swept up."""
    world.write_month(folder, "2026-11", billed=True)
    together = [hand.begin("ingest"), hand.begin("plan", "--period", MONTH), hand.begin("check")]
    for one in together:
        one.ended()  # a plan whose inputs move is refused, and said so
    for number in range(10, 12):
        credit(hand, number)
    hand.do("ingest")
    hand.do("plan", "--period", MONTH)
    hand.do("apply", "--period", MONTH)
    hand.do("dispute", "settle", "1", "--credit", "2.00", "--sponsor", "speech", "--why", "they were not")
    hand.do("dispute", "settle", "2", "--reject", "it did not")
    hand.do("close", "--period", MONTH, "--override", "what nobody owns is known")
    later_bill(folder)
    hand.do("ingest")
    hand.do("plan", "--period", "2026-11")
    hand.do("apply", "--period", "2026-11")
    both = [hand.begin("backup", str(folder.parent / "copy.tar")), hand.begin("gc", "--older-than", "0")]
    for one in both:
        one.done()
    hand.do("erase", "--before", "2026-10", "--yes", "--why", "two months are over")
    hand.do("verify")


def test_no_answer_fails_or_mixes_two_heads_while_everything_is_written(
    hand: Hands, servers: list[Server], key: str, project: Project
) -> None:
    with readers(servers, key) as seen:
        write_everything(hand, project.folder)
    assert seen.failed == {}
    known = sums_by_head(project, MONTH)
    for page in seen.overviews:
        owed = known[head_of(page)]
        assert told_sums(page) == [owed, owed]
    for report in seen.reports:
        owed = {row["owner"]: Decimal(row["amount"]) for row in report["sections"][0]["rows"]}
        assert owed == known[report["head"]]
    assert len({head_of(page) for page in seen.overviews}) > 2, "they read while it was written"
    assert project.books.verify() == []


def test_every_process_says_the_same_afterwards(everyone: list[httpx.Client], hand: Hands) -> None:
    for path in (OVERVIEW, f"/teams/vision.json?period={MONTH}", "/statements.json", "/disputes.json", "/health.json"):
        texts = {client.get(path).text for client in everyone}
        assert len(texts) == 1, path
    owed = [client.get("/api/v1/reports/showback?period=2026-11").json() for client in everyone]
    assert hand.do("report", "showback", "--period", "2026-11", "-o", "csv")
    assert owed[0] == owed[1] == owed[2]


def is_gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def wait_until_gone(pids: set[int]) -> None:
    late = time.monotonic() + PATIENCE_S
    while not all(map(is_gone, pids)):
        assert time.monotonic() < late, "they stay"
        time.sleep(0.1)


def test_they_end_when_told_to_or_without_their_parent_and_hold_nothing(
    servers: list[Server], project: Project, key: str
) -> None:
    """What is being answered is answered first."""
    two, one = servers
    pids = two.pids() | one.pids()
    with one.client(key) as client, ThreadPoolExecutor(1) as pool:
        client.get("/api/v1/me")
        asked = pool.submit(client.get, f"/explain?what=zebra&period={MONTH}")
        time.sleep(PAUSE_S)  # most likely it is on its way by then
        assert one.stop() == -signal.SIGTERM
        with suppress(httpx.RemoteProtocolError):  # if it was not
            assert asked.result(PATIENCE_S).status_code == 200
    os.kill(two.process.pid, signal.SIGKILL)
    two.process.wait(PATIENCE_S)
    wait_until_gone(pids)
    for server in servers:
        said = server.log.read_text("utf-8").splitlines()
        assert [line for line in said if not line.startswith("Open ")] == []
    for name in (*EVIDENCE, "gc", "webhooks"):
        with project.books.locks.attempt(name) as mine:
            assert mine
    project.books.close()
    with closing(sqlite3.connect(project.books.engine.url.database or "", timeout=0)) as connection:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
