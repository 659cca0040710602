"""What every endpoint asks first: who is it, and may they? And what it says of itself in the document."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Path, Query, Request
from pydantic import StringConstraints

from apportion.client.texts import DAY, MONTH, QUARTER, WITHOUT_NUL, maybe
from apportion.model.facets import KNOWN
from apportion.reports.groups import DIMENSIONS
from apportion.web.ask import Ask, NotThereError
from apportion.web.door.entering import entered
from apportion.web.viewer import Deed

SAID = {
    400: "it is meant for another host, or cannot be read at all",
    401: "nobody is logged in",
    403: "not allowed",
    404: "no such thing, or not yours to see",
    405: "that cannot be done here",
    406: "no form of the answer suits",
    409: "it conflicts with what is there",
    413: "too large",
    415: "the body has a form that is not taken",
    422: "the request is not in order",
    429: "too many requests; `Retry-After` says when",
    500: "our fault: two figures that must agree do not",
    503: "the books are busy; try again",
}
ACCEPTED = {"", "*/*", "application/*", "application/json", "application/problem+json"}
ALWAYS = (400, 401, 403, 404, 406, 413, 422, 429, 500, 503)


def problem(status: int) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": SAID[status], "content": {"application/problem+json": {"schema": schema}}}


def about(deed: Deed, *more: int) -> dict[str, Any]:
    """What one must be allowed to do, and how it can fail."""
    return {
        "openapi_extra": {"x-deed": deed.value},
        "responses": {status: problem(status) for status in (*ALWAYS, *more)},
    }


def asking(deed: Deed) -> Callable[[Request], Ask]:
    def ask(request: Request) -> Ask:
        made = entered(request, deed)
        refuse_unsuited(request)
        return made

    return ask


def refuse_unsuited(request: Request) -> None:
    """Answers are JSON. A filter that is misspelt, or said twice where one counts, would give a sum that nobody asked for."""
    wanted = {part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "*/*").split(",")}
    if not wanted & ACCEPTED:
        raise HTTPException(406, "answers are application/json")
    known = parameters_of(request)
    for name in request.query_params:
        if name not in known:
            raise HTTPException(422, f"there is no parameter {name!r} here: {', '.join(known) or 'it takes none'}")
        if not known[name] and len(request.query_params.getlist(name)) > 1:
            raise HTTPException(422, f"{name!r} is said more than once")


def parameters_of(request: Request) -> dict[str, bool]:
    """Those of the URL that the document has, and whether they may be said more than once."""
    operations = (one for methods in request.app.openapi()["paths"].values() for one in methods.values())
    told = next(one for one in operations if one["operationId"] == request.scope["route"].name)
    queried = (one for one in told.get("parameters", ()) if one["in"] == "query")
    return {one["name"]: "items" in str(one["schema"]) for one in queried}


PERIOD = Query(
    description="2026-10, 2026-Q4 or last-month; the newest posted unless given",
    examples=["2026-10"],
    pattern=maybe(f"{MONTH}|{QUARTER}|last-month"),
)
ONE_MONTH = Query(
    description="2026-10 or last-month; the newest posted unless given",
    examples=["2026-10"],
    pattern=maybe(f"{MONTH}|last-month"),
)
Filter = Annotated[str, StringConstraints(pattern=rf"^({'|'.join(DIMENSIONS)})=[^\x00]*$", max_length=1100)]
OfWork = Annotated[str, StringConstraints(pattern=rf"^({'|'.join((*DIMENSIONS, *KNOWN))})=[^\x00]*$", max_length=1100)]
WHERE = Query(
    description="filters such as team=vision; of one dimension any, of several all must hold", examples=[["pool=h100"]]
)
AS_OF = Query(description="a day: as the books stood at its end", examples=["2026-11-05"], pattern=maybe(DAY))
NAME = Path(min_length=1, max_length=1024, pattern=WITHOUT_NUL)
Named = Annotated[str, NAME]
Number = Annotated[int, Path(ge=1, le=2**31 - 1, examples=[1])]


def filtered(
    period: Annotated[str, PERIOD] = "",
    where: Annotated[list[Filter] | None, WHERE] = None,
    as_of: Annotated[str, AS_OF] = "",
) -> None:
    """What `Ask` reads from the URL by itself, named here for the document alone."""
    del period, where, as_of


def of_work(period: Annotated[str, PERIOD] = "", where: Annotated[list[OfWork] | None, WHERE] = None) -> None:
    """The same for work, which facets tell apart, too."""
    del period, where


def of_month(period: Annotated[str, ONE_MONTH] = "") -> None:
    del period


FILTERED = Depends(filtered)
OF_MONTH = Depends(of_month)
OF_WORK = Depends(of_work)
Reading = Annotated[Ask, Depends(asking(Deed.read))]
Whole = Annotated[Ask, Depends(asking(Deed.whole))]
Admin = Annotated[Ask, Depends(asking(Deed.admin))]
Disputing = Annotated[Ask, Depends(asking(Deed.dispute))]
Settling = Annotated[Ask, Depends(asking(Deed.settle))]
Adjusting = Annotated[Ask, Depends(asking(Deed.adjust))]
Budgeting = Annotated[Ask, Depends(asking(Deed.budget))]
Proposing = Annotated[Ask, Depends(asking(Deed.propose))]
Adopting = Annotated[Ask, Depends(asking(Deed.adopt))]
Pushing = Annotated[Ask, Depends(asking(Deed.push))]


def require_theirs(ask: Ask, owner: str, what: str) -> None:
    if not ask.sees_owner(owner):
        raise NotThereError(what)
