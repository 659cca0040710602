"""Rounds by the clock: what was missed is caught up once, what fails does not end it, and it ends when it is told to."""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from apportion.errors import ProjectError
from apportion.model.times import instant_text, parse_instant
from apportion.verbs.project import open_project
from apportion.verbs.schedule import AGAIN_S, LATE_S, Schedule
from apportion.web.beacon import beacon
from tests import processes
from tests.processes import PATIENCE_S
from tests.sync.conftest import PROGRAM, setting

DAY = 86_400
MORNING = parse_instant("2026-11-16T05:00:00Z")


@dataclass
class Clock:
    """It goes on while somebody waits; `at` are things that happen then."""

    second: int
    until: int
    schedule: Schedule | None = None
    at: dict[int, Callable[[], object]] = field(default_factory=dict)

    def now(self) -> int:
        return self.second

    def wait(self, seconds: float) -> None:
        self.second += int(seconds)
        for second in [one for one in self.at if one <= self.second]:
            self.at.pop(second)()
        if self.second >= self.until and self.schedule:
            self.schedule.stop.set()


def kept(folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, **options: bool) -> Schedule:
    """The schedule until the clock's end; rounds begin by the same clock, and nobody looks each minute of it."""
    monkeypatch.setattr("apportion.verbs.schedule.LOOK_S", 1800)
    monkeypatch.setattr("apportion.books.rounds.time.time", clock.now)
    clock.schedule = Schedule(folder, now=clock.now, wait=clock.wait)
    clock.schedule.go_on(**options)
    return clock.schedule


def began(folder: Path) -> list[str]:
    return [f"{instant_text(one.began_s)[5:16]} {one.status}" for one in open_project(folder).books.rounds.all()]


def test_a_round_a_day_in_the_policys_time_and_what_was_missed_once(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = mine / "policy.yaml"
    policy.write_text(policy.read_text("utf-8").replace("time_zone: UTC", "time_zone: Europe/Berlin"), "utf-8")
    kept(mine, Clock(MORNING, MORNING + DAY), monkeypatch)
    assert began(mine) == ["11-16T05:30 ok"]  # 06:30 in Berlin; the first is waited for
    away = MORNING + 4 * DAY + 3600  # nobody ran for four days
    kept(mine, Clock(away, away + DAY), monkeypatch)
    assert began(mine)[1:] == ["11-20T06:00 ok", "11-21T05:30 ok"]


def test_another_time_zone_and_at_once(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setting(mine, 'at = "0 7 * * *"', 'time_zone = "Asia/Tokyo"', "advise = false")
    kept(mine, Clock(MORNING, MORNING + DAY), monkeypatch, at_once=True)
    assert began(mine) == ["11-16T05:00 ok", "11-16T22:00 ok"]


def test_it_outlives_failures_and_reads_what_was_mended(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes, settings = mine / "usage/nodes.csv", mine / "apportion.toml"
    text = settings.read_text("utf-8")
    clock = Clock(MORNING, MORNING + 3 * DAY)
    nodes.rename(mine / "away.csv")
    clock.at = {
        MORNING + DAY // 2: lambda: (mine / "away.csv").rename(nodes),
        MORNING + DAY: lambda: settings.write_text("[sync]\nat = 1\n", "utf-8"),
        MORNING + DAY + 7200: lambda: settings.write_text(text, "utf-8"),
    }
    kept(mine, clock, monkeypatch)
    first, second, third = began(mine)
    assert (first, third) == ("11-16T06:30 failed", "11-18T06:30 ok")
    assert second.startswith("11-17T07:0")  # as soon as the settings can be read again
    assert second.endswith(" ok")


def test_a_round_that_is_stopped_is_the_first_thing_next_time(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(MORNING + 7200, MORNING + DAY)
    monkeypatch.setattr("apportion.books.rounds.time.time", clock.now)
    stopped = Schedule(mine, now=clock.now, wait=clock.wait)
    go_on = Schedule.step

    def stopping(self: Schedule, what: str, *more: int) -> None:
        if what.startswith("sharing"):
            self.stop.set()
        go_on(self, what, *more)

    monkeypatch.setattr(Schedule, "step", stopping)
    stopped.go_on(at_once=True)
    assert began(mine) == ["11-16T07:00 interrupted"]
    monkeypatch.undo()
    kept(mine, Clock(MORNING + 7260, MORNING + 7300), monkeypatch)
    assert began(mine)[1:] == ["11-16T07:01 ok"]


def test_probes_are_told_how_it_is(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(MORNING, MORNING + 60)
    made = kept(mine, clock, monkeypatch)
    made.stop.clear()  # as if it went on
    with beacon(made, "127.0.0.1:0") as address, httpx.Client(base_url=address, trust_env=False) as client:

        def asked() -> tuple[int, Any]:
            answer = client.get("/readyz")
            return answer.status_code, answer.json()["status"]

        assert asked() == (200, "waiting")
        clock.second += 2 * 3600 + LATE_S
        assert asked() == (503, "overdue")
        made.go_round()
        made.look()
        assert asked() == (200, "ok")
        (mine / "usage/nodes.csv").unlink()
        made.go_round()
        made.look()
        assert asked() == (503, "failed")
        told = client.get("/readyz").text
        assert not {"nodes", "acme", "tiny", "vision"} & set(json.loads(told)["last_round"].values())
        assert client.get("/livez").json() == {"status": "ok"}
        assert client.get("/anything").status_code == 404


@pytest.mark.parametrize("place", ["8766", "localhost:8766", "127.0.0.1:99999", "127.0.0.1:"])
def test_a_place_to_listen_is_an_address(place: str) -> None:
    with pytest.raises(ProjectError, match="no address to listen on"), beacon(Schedule(None), place):
        pass


def test_whoever_holds_the_lock_is_waited_for(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = open_project(mine).books
    clock = Clock(MORNING + 5400 - 30, MORNING + 5400 + AGAIN_S + 60)
    held = other.locks.attempt("sync")
    assert held.__enter__()
    clock.at = {MORNING + 5400 + 1: lambda: held.__exit__(None, None, None)}
    kept(mine, clock, monkeypatch)
    (one,) = began(mine)
    assert one.endswith(" ok")


@pytest.fixture
def systemd() -> Iterator[socket.socket]:
    """What listens at $NOTIFY_SOCKET, under an abstract name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as door:
        door.bind(f"\0apportion-{os.urandom(8).hex()}")
        door.settimeout(PATIENCE_S)
        yield door


@contextmanager
def running(folder: Path, systemd: socket.socket) -> Iterator[processes.Process[str]]:
    options = ["schedule", "--once-now", "--listen", "127.0.0.1:0", "--log-format", "json"]
    command = [sys.executable, "-c", PROGRAM, "--project", str(folder), *options]
    environment = {**os.environ, "NOTIFY_SOCKET": "@" + systemd.getsockname()[1:].decode()}
    with processes.Process(command, stderr=processes.PIPE, env=environment, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_signal_ends_it_and_systemd_is_told(mine: Path, systemd: socket.socket) -> None:
    events: list[dict[str, Any]] = []
    with running(mine, systemd) as process:
        assert process.stderr is not None
        while not events or events[-1]["event"] != "round ends":
            events.append(json.loads(process.stderr.readline()))
        assert systemd.recv(100) == b"READY=1"
        address = next(one["address"] for one in events if one["event"] == "listening")
        assert httpx.get(f"{address}/livez", trust_env=False).status_code == 200
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in process.stderr]
        assert process.wait(PATIENCE_S) == 0
    assert rest[-1]["event"] == "schedule ends"
    assert events[-1]["status"] == "ok"
    said = [systemd.recv(100) for _ in range(3)]
    assert said[0].startswith(b"STATUS=")
    assert said[-1] == b"STOPPING=1"
