"""While the server runs, webhooks are told without anybody's asking. One process at a time; without webhooks nothing is looked at."""

import logging
import threading
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from apportion.errors import ApportionError
from apportion.verbs.hooks import deliver
from apportion.verbs.tell import is_asked, tell
from apportion.web.ask import today
from apportion.web.desk import Desk
from apportion.web.estimates import whole_estimate

EVERY_S = 30
LOG = logging.getLogger("apportion.web")


@asynccontextmanager
async def telling(app: FastAPI) -> AsyncIterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=go_on, args=(app.state.desk, stop), name="webhooks", daemon=True)
    thread.start()
    yield
    stop.set()


def go_on(desk: Desk, stop: threading.Event) -> None:
    seen: Hashable = None
    while not stop.wait(EVERY_S):
        try:
            seen = once(desk, seen)
        except ApportionError as error:
            LOG.warning("webhooks: %s", error.message)
        except Exception:
            LOG.exception("webhooks: this is a defect")


def once(desk: Desk, seen: Hashable) -> Hashable:
    """News are looked for where the books moved, and what is due is sent."""
    if not any(hook.is_live for hook in desk.books.hooks.all()):
        return seen
    state = (desk.state(), today())
    if state != seen and is_asked(desk.project):
        try:
            running = whole_estimate(desk)
        except ApportionError:
            running = None
        tell(desk.project, today(), running)
    deliver(desk.project)
    return state
