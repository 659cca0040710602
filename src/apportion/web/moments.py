"""Every answer is of one moment: a page is made of many readings, and a posting between two of them would be in some figures and not in others."""

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from apportion.books.moment import moment

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

READS = frozenset({"GET", "HEAD"})


class Moments:
    """It ends when the answer begins: whoever reads it slowly holds nothing up. What changes something reads what it wrote, and has none."""

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["method"] not in READS:
            await self.app(scope, receive, send)
            return
        with moment() as now:

            async def ending(message: "Message") -> None:
                if now.is_used:
                    await run_in_threadpool(now.end)
                await send(message)

            await self.app(scope, receive, ending)
