"""The server: pages and API over one project, in as many processes as one likes."""

import gc
import os
import signal
from collections.abc import Callable
from multiprocessing import connection, parent_process
from pathlib import Path
from threading import Thread

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from apportion import __version__
from apportion.verbs import logs, traces
from apportion.web import probes
from apportion.web.api import API
from apportion.web.api.document import add_document
from apportion.web.beside import beside
from apportion.web.desk import Desk
from apportion.web.door import login
from apportion.web.door.door import Door
from apportion.web.faults import add_faults
from apportion.web.frame import STATIC
from apportion.web.guards import add_guards
from apportion.web.metrics import METRICS, Scrapes
from apportion.web.pages import ACTIONS, DOWNLOADS, ROUTES
from apportion.web.routes import add_pages
from apportion.web.telling import TELLING
from apportion.web.warm import WARMING

FOLDER = "APPORTION_SERVED"  # how several processes learn which project they serve


def create_app(folder: Path, *, warm: bool = False, door: Callable[[Desk], Door] = Door) -> FastAPI:
    """`warm`: the newest month is computed before anybody asks. `door`: who may come in, where that is not for the settings to say."""
    app = FastAPI(
        title="Apportion",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=beside(TELLING, WARMING) if warm else beside(TELLING),
    )
    app.state.desk = Desk(folder)
    app.state.door = door(app.state.desk)
    app.state.scrapes = Scrapes()
    add_guards(app, app.state.door)
    add_faults(app)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.include_router(probes.router)
    app.include_router(login.router)
    app.include_router(API)
    app.include_router(METRICS)
    add_document(app)
    add_pages(app, ROUTES, ACTIONS, DOWNLOADS)
    return app


def served() -> FastAPI:
    """For a server that starts its processes by itself. What is there now is there for good: no use in looking through it for garbage ever again."""
    if form := logs.chosen(None):
        logs.start(form)
    traces.start()
    app = create_app(Path(os.environ[FOLDER]), warm=True)
    gc.collect()
    gc.freeze()
    Thread(target=leave_with_parent, daemon=True).start()
    return app


def leave_with_parent() -> None:
    """A process whose parent was killed would hold the port for ever, with nobody to stop it."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)
