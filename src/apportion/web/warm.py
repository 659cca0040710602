"""Computes the newest month before anybody asks for it: after the start, and whenever something was posted. Beside the requests, never in their way."""

import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from apportion.errors import ApportionError
from apportion.model.times import parse_period
from apportion.verbs.pools import pools_by
from apportion.verbs.report import posted_periods
from apportion.web.desk import Desk

LOOK_S = 20
LOG = logging.getLogger("apportion.web")


@asynccontextmanager
async def warming(app: FastAPI) -> AsyncIterator[None]:
    stop = threading.Event()
    threading.Thread(target=go_on, args=(app.state.desk, stop), name="warming", daemon=True).start()
    yield
    stop.set()


def go_on(desk: Desk, stop: threading.Event) -> None:
    """What fails here fails again for whoever asks for it, and is told there."""
    head = ""
    while not stop.is_set():
        try:
            head = once(desk, head)
        except ApportionError as error:
            LOG.info("not computed ahead: %s", error.code)
        except Exception:
            LOG.exception("not computed ahead: this is a defect")
        stop.wait(LOOK_S)


def once(desk: Desk, seen: str) -> str:
    """The newest posted month, where the ledger moved since."""
    head = desk.books.head()
    months = sorted(posted_periods(desk.project)) if head != seen else ()
    if months:
        with desk.bench.alone():
            pools_by(desk.means, desk.project, parse_period(months[-1]))
    return head
