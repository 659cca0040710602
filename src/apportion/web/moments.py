"""Every answer is of one moment: a page is made of many readings, and a posting between two of them would be in some figures and not in others."""

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from apportion.books.moment import Moment, moment

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

READS = frozenset({"GET", "HEAD"})
UNAVAILABLE = 503
WITHHELD = "apportion.withheld"  # in a request's scope: whether an answer of some status would be
TRIES = 2  # files of an earlier moment may be gone by the time that they are read; those of the next one are there


class Moments:
    """It ends when the answer begins: whoever reads it slowly holds nothing up. What changes something reads what it wrote, and has none."""

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["method"] not in READS:
            await self.app(scope, receive, send)
            return
        for left in reversed(range(TRIES)):
            with moment() as now:
                answer = Answer(now, send, may_fail=bool(left))
                own = {**scope, WITHHELD: answer.withholds}
                await self.app(own, receive, answer.send)
                scope["route"] = own.get("route")  # for the log
            if not answer.is_withheld:
                return


class Answer:
    """On its way to the caller. One that failed for want of the books is withheld where it may be asked for again."""

    def __init__(self, now: Moment, send: "Send", *, may_fail: bool) -> None:
        self.now, self.caller, self.may_fail = now, send, may_fail
        self.is_withheld = False

    def withholds(self, status: int) -> bool:
        return self.may_fail and status == UNAVAILABLE and self.now.is_used

    async def send(self, message: "Message") -> None:
        if message["type"] == "http.response.start":
            self.is_withheld = self.withholds(message["status"])
            if self.now.is_used:
                await run_in_threadpool(self.now.end)
        if not self.is_withheld:
            await self.caller(message)
