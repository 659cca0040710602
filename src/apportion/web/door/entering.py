"""The one way in: whatever answers with more than the door itself has its `Ask` from here, so that nothing can forget to look who asks."""

from starlette.exceptions import HTTPException
from starlette.requests import Request

from apportion.web.ask import Ask, whole
from apportion.web.door.session import viewer_from
from apportion.web.frame import asked_path, split_form
from apportion.web.viewer import Deed


def entered(request: Request, deed: Deed) -> Ask:
    """Somebody who is logged in and may do that. Nobody is sent to the login by `faults`, where a page was asked for."""
    viewer = viewer_from(request)
    if viewer is None:
        raise HTTPException(
            401, "log in, or bring a token: `Authorization: Bearer ...`", {"WWW-Authenticate": "Bearer"}
        )
    query = {name: request.query_params.getlist(name) for name in request.query_params}
    ask = Ask(request.app.state.desk, viewer, page_path(request), query)
    ask.require(deed)
    return ask


def page_path(request: Request) -> str:
    """Of the page, whichever form of it is asked for."""
    path = whole(split_form(asked_path(request))[0])
    return "/" if path == "/overview" else path
