"""What went wrong, in the same words as on the command line: problem+json (RFC 9457) for programs, a page for people."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from apportion.client.shapes import Problem
from apportion.errors import ApportionError, InvariantError, PolicyError
from apportion.web.ask import NotAllowedError, NotThereError
from apportion.web.door.session import viewer_from
from apportion.web.frame import asked_path, bare, split_form
from apportion.web.page import Link
from apportion.web.viewer import Deed

PROBLEM = "application/problem+json"
API = "/api/"
ABSENT = frozenset({
    "not-there", "unknown-figure", "unknown-report", "unknown-run", "unknown-dispute", "nothing-posted", "nothing-matches", "no-period", "not-issued",
    "unknown-token", "unknown-draft", "unknown-policy",
})  # fmt: skip
BROKEN = frozenset({"database-failed", "warehouse-failed"})  # what the database said is for the log
CONFLICT = frozenset(
    {"dispute-open", "period-closed", "inputs-moved", "push-conflict", "draft-ended", "draft-outdated"}
)


def status_of(error: ApportionError) -> int:
    if isinstance(error, NotAllowedError):
        return 403
    if error.code == "login-failed":
        return 401
    if isinstance(error, NotThereError) or error.code in ABSENT:
        return 404
    if error.code in BROKEN:
        return 503
    return 409 if error.code in CONFLICT else 422


def answer(request: Request, problem: Problem) -> Response:
    if request.url.path.startswith(API) or split_form(asked_path(request))[1] != ".html":
        return JSONResponse(problem.model_dump(exclude_none=True), problem.status, media_type=PROBLEM)
    said = [problem.detail, *([problem.hint] if problem.hint else [])]
    return bare(request, problem.title, said, [Link("Overview", "/")], problem.status)


def about_policy(request: Request, error: PolicyError) -> tuple[str, str]:
    """What is wrong and where, for those who may read the policy: its words are of every team."""
    viewer = viewer_from(request)
    if viewer is None or not viewer.may(Deed.whole):
        return "the policy cannot be read as it is now", "ask whoever looks after it"
    return f"{error.where}: {error.message}" if error.where else error.message, error.hint


def add_faults(app: FastAPI) -> None:
    @app.exception_handler(ApportionError)
    def told(request: Request, error: ApportionError) -> Response:
        status = status_of(error)
        title = {401: "You are not logged in", 403: "That is not yours to do", 404: "Nothing is there"}.get(
            status, "That cannot be answered"
        )
        detail, hint = about_policy(request, error) if isinstance(error, PolicyError) else (error.message, error.hint)
        if status >= 500:
            detail, hint = "the books cannot be asked just now", "try again"
        return answer(request, Problem(status=status, code=error.code, title=title, detail=detail, hint=hint))

    @app.exception_handler(InvariantError)
    def broken(request: Request, error: InvariantError) -> Response:
        del error  # its figures may be of teams that are not theirs to see
        detail = "the record is not what its inputs say; `apportion verify` tells more"
        return answer(
            request,
            Problem(status=500, code="integrity-broken", title="Two figures that must agree do not", detail=detail),
        )

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return answer(
            request,
            Problem(
                status=422,
                code="invalid-request",
                title="The request is not in order",
                detail=f"{place}: {first['msg']}",
            ),
        )

    @app.exception_handler(HTTPException)
    def plain(request: Request, error: HTTPException) -> Response:
        said = {
            404: ("not-there", "Nothing is there"),
            405: ("wrong-method", "That cannot be done here"),
            401: ("not-logged-in", "Nobody is logged in"),
            413: ("too-large", "That is too large"),
        }
        code, title = said.get(error.status_code, ("refused", "That was refused"))
        response = answer(request, Problem(status=error.status_code, code=code, title=title, detail=str(error.detail)))
        response.headers.update(error.headers or {})
        return response
