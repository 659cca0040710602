"""What goes on beside the requests: jobs in threads of their own, again and again, whatever fails, until the server ends."""

import logging
import threading
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from fastapi import FastAPI

from apportion.errors import ApportionError
from apportion.verbs import traces
from apportion.web.desk import Desk

LOG = logging.getLogger("apportion.web")


@dataclass(frozen=True, slots=True)
class Job:
    """`once` is given what it answered the time before. `at_once`: it does not wait before the first time. `level`: how loud a refusal is told."""

    name: str
    every_s: int
    once: Callable[[Desk, Hashable], Hashable]
    at_once: bool = False
    level: int = logging.WARNING


def beside(*jobs: Job) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """The lifespan of a server that does them."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        stop = threading.Event()
        for job in jobs:
            threading.Thread(target=go_on, args=(job, app.state.desk, stop), name=job.name, daemon=True).start()
        yield
        stop.set()
        traces.flush()

    return lifespan


def go_on(job: Job, desk: Desk, stop: threading.Event) -> None:
    seen: Hashable = None
    wait_s = 0 if job.at_once else job.every_s
    while not stop.wait(wait_s):
        wait_s = job.every_s
        try:
            seen = job.once(desk, seen)
        except ApportionError as error:
            LOG.log(job.level, "%s: %s", job.name, error.message)
        except Exception:
            LOG.exception("%s: this is a defect", job.name)
