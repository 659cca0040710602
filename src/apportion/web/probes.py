"""`/livez` and `/readyz`: whether the server answers, and whether it can read its books. No login, and not a word more.

How the last round went is no part of it: pages are as good as the books are, and taking them away mends no source.
"""

import logging

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from apportion.errors import ApportionError

LIVE, READY = "/livez", "/readyz"
PROBES = frozenset({LIVE, READY})
LOG = logging.getLogger("apportion.web")
router = APIRouter(include_in_schema=False)


@router.get(LIVE)
async def live() -> JSONResponse:
    """Whatever the threads are busy with."""
    return JSONResponse({"status": "ok"})


@router.get(READY)
def ready(request: Request) -> JSONResponse:
    try:
        request.app.state.desk.books.head()
    except ApportionError as error:
        LOG.warning("%s: %s", READY, error.message)
        return JSONResponse({"status": "unavailable"}, 503)
    return JSONResponse({"status": "ok"})
