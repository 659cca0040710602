"""Rounds by the clock: `at` of [sync] says when, in the policy's time zone unless it names another. What was missed while nobody ran is caught up once.

A round that fails is over, and the next is due as if it had not: sources bring what they owe whenever they are asked. One that was interrupted, or could
not begin, is tried again.
"""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from cronsim import CronSim

from apportion.books.rounds import FINE, Round
from apportion.errors import ApportionError
from apportion.model.times import instant_text
from apportion.verbs import logs
from apportion.verbs.project import Project, open_project
from apportion.verbs.sync import sync
from apportion.verbs.syncing.under_way import StopRoundError

LOOK_S = 60  # settings may be edited, the clock be set, and somebody do a round by hand
AGAIN_S = 300  # after a round that could not begin
LATE_S = 3600
OVERDUE, WAITING = "overdue", "waiting"
Now = Callable[[], int]
LOG = logging.getLogger("apportion.schedule")


@dataclass
class Schedule:
    """One in a process. `now` and `wait` are the clock; `stop` ends it, and a round that runs at its next step."""

    folder: Path | None
    stop: threading.Event = field(default_factory=threading.Event)
    now: Now = lambda: int(time.time())
    wait: Callable[[float], object] | None = None
    last: Round | None = None
    due_s: int = 0
    is_running: bool = False
    began_s: int = 0
    again_s: int = 0

    def go_on(self, *, at_once: bool = False) -> None:
        self.began_s = self.now()
        self.look()
        tell_systemd("READY=1")
        logs.event("schedule begins", next=instant_text(self.due_s))
        while not self.stop.is_set():
            if at_once or self.due_s <= self.now():
                at_once = False
                self.go_round()
            else:
                (self.wait or self.stop.wait)(min(self.due_s - self.now(), LOOK_S))
            self.look()
        tell_systemd("STOPPING=1")
        logs.event("schedule ends")

    def look(self) -> None:
        """When the next round is due. While the project cannot be read, that is told and looked at again."""
        try:
            project = open_project(self.folder)
            self.last = project.books.rounds.last()
            self.due_s = max(due_after(project, self.last, self.began_s), self.again_s)
            project.books.close()
        except ApportionError as error:
            self.put_off(error)

    def put_off(self, error: ApportionError) -> None:
        logs.event("no round", logging.ERROR, code=error.code, message=error.message, where=error.where)
        self.due_s = self.again_s = self.now() + AGAIN_S

    def go_round(self) -> None:
        tell_systemd("STATUS=a round is running")
        self.is_running, self.again_s = True, 0
        try:
            project = open_project(self.folder)
            try:
                sync(project, step=self.step)
            finally:
                project.books.close()
        except ApportionError as error:
            self.put_off(error)
        except StopRoundError:
            logs.event("round is left", reason="the program is to end")
        except Exception:
            LOG.exception("round failed: this is a defect")
            self.again_s = self.now() + AGAIN_S
        self.is_running = False
        tell_systemd("STATUS=waiting for the next round")

    def step(self, what: str, done: int = 0, total: int = 0) -> None:
        del what, done, total
        if self.stop.is_set():
            raise StopRoundError

    @property
    def status(self) -> str:
        """How the last round ended, or that the next is late, or that there was none yet."""
        if not self.is_running and self.due_s + LATE_S < self.now():
            return OVERDUE
        return self.last.status if self.last else WAITING

    @property
    def is_well(self) -> bool:
        return self.status in (FINE, WAITING) or self.is_running

    def told(self) -> dict[str, object]:
        """For whoever asks without a login: times and states alone, nothing of the project."""
        last = self.last
        ended = {"number": last.number, "status": last.status, "began": instant_text(last.began_s)} if last else None
        if ended and last and last.ended_s:
            ended["ended"] = instant_text(last.ended_s)
        return {
            "status": self.status, "running": self.is_running, "last_round": ended, "next_due": instant_text(self.due_s),
        }  # fmt: skip


def due_after(project: Project, last: Round | None, began_s: int) -> int:
    """The first time that `at` names after the last round that came to its end, or after the program began where there was none."""
    if last is not None and not last.is_over:
        return last.began_s  # it was interrupted, or runs: whoever holds the lock says so
    after = datetime.fromtimestamp(last.began_s if last else began_s, zone_of(project))
    return int(next(CronSim(project.settings.sync.at, after)).timestamp())


def zone_of(project: Project) -> ZoneInfo:
    named = project.settings.sync.time_zone
    try:
        return ZoneInfo(named or project.policy.time_zone)
    except ApportionError:  # while the policy cannot be read
        return ZoneInfo("UTC")


def tell_systemd(what: str) -> None:
    """sd_notify(3): a datagram, where somebody listens."""
    place = os.environ.get("NOTIFY_SOCKET", "")
    if not place:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as door:
        try:
            door.connect("\0" + place[1:] if place.startswith("@") else place)
            door.send(what.encode())
        except OSError as error:
            logs.event("systemd does not listen", logging.WARNING, reason=error.strerror)
