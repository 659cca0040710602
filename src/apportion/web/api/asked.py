"""What every endpoint asks first: who is it, and may they?"""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Query, Request

from apportion.client.shapes import Problem
from apportion.web.ask import Ask
from apportion.web.door.session import viewer_from
from apportion.web.routes import queried
from apportion.web.viewer import Deed

ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "content": {"application/problem+json": {}}, "description": said}
    for status, said in {
        401: "nobody is logged in",
        403: "not allowed",
        404: "no such thing, or not theirs to see",
        409: "it conflicts with what is there",
        422: "the request is not in order",
    }.items()
}


def asking(deed: Deed) -> Callable[[Request], Ask]:
    def ask(request: Request) -> Ask:
        viewer = viewer_from(request)
        if viewer is None:
            raise HTTPException(
                401, "log in, or bring a token: `Authorization: Bearer ...`", {"WWW-Authenticate": "Bearer"}
            )
        made = Ask(request.app.state.desk, viewer, request.url.path, queried(request))
        made.require(deed)
        return made

    return ask


PERIOD = Query(description="2026-10, 2026-Q4 or last-month; the newest posted unless given")
WHERE = Query(description="filters such as team=vision; of one dimension any, of several all must hold")
AS_OF = Query(description="a day: as the books stood at its end")


def filtered(
    period: Annotated[str, PERIOD] = "",
    where: Annotated[list[str] | None, WHERE] = None,
    as_of: Annotated[str, AS_OF] = "",
) -> None:
    """What `Ask` reads from the URL by itself, named here for the document alone."""
    del period, where, as_of


FILTERED = Depends(filtered)
Reading = Annotated[Ask, Depends(asking(Deed.read))]
