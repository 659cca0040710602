"""What went wrong, in the same words as on the command line: problem+json (RFC 9457) for programs, a page for people."""

import logging
import re
from collections.abc import Sequence
from urllib.parse import urlencode

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException

from apportion.client.shapes import Problem, RowProblem
from apportion.client.texts import QUARTER
from apportion.errors import ApportionError, InvariantError, PolicyError
from apportion.verbs.push import RefusedError
from apportion.web.ask import NotAllowedError, NotThereError
from apportion.web.door.session import viewer_from
from apportion.web.frame import asked_path, bare, split_form
from apportion.web.moments import WITHHELD
from apportion.web.page import Link
from apportion.web.viewer import Deed

PROBLEM = "application/problem+json"
API = "/api/"
METRICS = "/metrics"
ABSENT = frozenset({
    "unknown-figure", "unknown-report", "unknown-job", "unknown-dispute", "unknown-owner", "unknown-policy", "unknown-source",
    "unknown-token", "unknown-webhook", "unknown-draft", "unknown-finding", "unknown_method", "nothing-posted", "nothing-matches", "no-period",
    "nothing-to-plan", "no-plan", "no-policy-in-force", "nothing-owed",
})  # fmt: skip
CONFLICT = frozenset({
    "dispute-open", "dispute-settled", "nothing-left", "period-closed", "inputs-moved", "policy-moved", "engine-changed", "run-conflict", "push-conflict",
    "draft-ended", "draft-outdated", "same-policy", "webhook-ended", "credit-too-large", "same-owner", "no-money", "no-draft", "already-acknowledged",
    "pledge-ended", "reservation-differs", "not-enough", "no-quota", "period-over", "nothing-known", "ambiguous-job",
})  # fmt: skip
NOT_READY = frozenset({  # nothing that the caller could put right
    "no-project", "unreadable-project", "invalid-toml", "unknown-key", "wrong-kind", "unknown-engine", "incomplete-source", "double-source", "no-policy-file",
    "pdf-missing", "metrics-missing", "postgres-missing", "spark-missing", "spark-not-started", "evidence-out-of-reach", "no-books", "books-url",
    "books-version", "books-busy", "database-failed", "warehouse-failed", "wrong-names-key", "damaged-plan", "damaged-file", "system",
})  # fmt: skip
MISREAD = {
    "period": ("invalid-period", "is not a month", "write it as 2026-10"),
    "as_of": ("invalid-day", "is not a day", "write it as 2026-11-05"),
    "where": ("invalid-filter", "is no filter", "write it as team=vision"),
    "by": ("invalid-filter", "tells nothing apart here", "`/api/v1/openapi.json` says what does"),
    "cursor": ("invalid-cursor", "is no cursor", "take it from the answer before, as it is"),
}  # by parameter
TITLES = {
    401: "You are not logged in",
    403: "That is not yours to do",
    404: "Nothing is there",
    409: "It conflicts with what is there",
    503: "That cannot be answered now",
}
PLAIN = {
    400: ("invalid-request", "The request is not in order"),
    401: ("not-logged-in", "Nobody is logged in"),
    404: ("not-there", "Nothing is there"),
    405: ("wrong-method", "That cannot be done here"),
    406: ("not-acceptable", "No form of the answer suits"),
    413: ("too-large", "That is too large"),
    415: ("wrong-form", "The body has a form that is not taken"),
    422: ("invalid-request", "The request is not in order"),
    429: ("too-fast", "Too many requests"),
}
RETRY_S = "5"
LOG = logging.getLogger("apportion.web")


def status_of(error: ApportionError) -> int:
    if isinstance(error, NotAllowedError):
        return 403
    if error.code == "login-failed":
        return 401
    if isinstance(error, NotThereError) or error.code in ABSENT:
        return 404
    if error.code in NOT_READY:
        return 503
    return 409 if error.code in CONFLICT else 422


def answer(request: Request, problem: Problem) -> Response:
    if not wants_page(request):
        headers = {"Retry-After": RETRY_S} if problem.status == 503 else {}
        return JSONResponse(problem.model_dump(exclude_none=True), problem.status, headers, media_type=PROBLEM)
    said = [problem.detail, *([problem.hint] if problem.hint else [])]
    return bare(problem.title, said, [Link("Overview", "/")], problem.status)


def wants_page(request: Request) -> bool:
    for_programs = request.url.path.startswith(API) or request.url.path == METRICS
    return not for_programs and split_form(asked_path(request))[1] == ".html"


def to_login(request: Request) -> Response:
    asked = asked_path(request) + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse("/login?" + urlencode({"to": asked}), 303)


def about_policy(request: Request, error: PolicyError) -> tuple[str, str]:
    """What is wrong and where, for those who may read the policy: its words are of every team."""
    viewer = viewer_from(request)
    if viewer is None or not viewer.may(Deed.whole):
        return "the policy cannot be read as it is now", "ask whoever looks after it"
    return f"{error.where}: {error.message}" if error.where else error.message, error.hint


def is_withheld(request: Request, status: int) -> bool:
    """Nobody is told of it, so the log is not either: it is asked for again, and then said if it fails once more."""
    withholds = request.scope.get(WITHHELD)
    return withholds is not None and withholds(status)


def problem_of(request: Request, error: ApportionError) -> Problem:
    status = status_of(error)
    if status >= 500 and not is_withheld(request, status):
        LOG.warning("%s %s: %s", request.method, request.url.path, error)
    detail, hint = about_policy(request, error) if isinstance(error, PolicyError) else (error.message, error.hint)
    rows = error.problems if isinstance(error, RefusedError) else ()
    return Problem(
        status=status,
        code=error.code,
        title=TITLES.get(status, "That cannot be answered"),
        detail=detail if status < 500 else "the server cannot answer that just now; its log says why",
        hint=hint if status < 500 else "try again, or tell an admin",
        problems=[RowProblem(where=one.where, code=one.code, message=one.message, row=one.row) for one in rows],
    )


def misread(place: Sequence[object], given: object, why: str) -> tuple[str, str, str]:
    """What is not in order, by code, what and hint: of the URL as the command line says it, of the rest as the document does."""
    name = str(place[1]) if len(place) > 1 and place[0] == "query" else ""
    if name == "period" and re.fullmatch(QUARTER, str(given)):
        return "one-month", "this is about one month", "give period=2026-10"
    if name in MISREAD:
        code, what, hint = MISREAD[name]
        return code, f"{given!r} {what}", hint
    return PLAIN[422][0], f"{'.'.join(map(str, place))}: {why}", "`/api/v1/openapi.json` says what is taken here"


def add_faults(app: FastAPI) -> None:
    @app.exception_handler(ApportionError)
    def told(request: Request, error: ApportionError) -> Response:
        return answer(request, problem_of(request, error))

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
        code, said, hint = misread(first["loc"], first["input"], first["msg"])
        return answer(request, Problem(status=422, code=code, title=PLAIN[422][1], detail=said, hint=hint))

    @app.exception_handler(HTTPException)
    def plain(request: Request, error: HTTPException) -> Response:
        if error.status_code == 401 and wants_page(request):
            return to_login(request)
        code, title = PLAIN.get(error.status_code, ("refused", "That was refused"))
        response = answer(request, Problem(status=error.status_code, code=code, title=title, detail=str(error.detail)))
        response.headers.update(error.headers or {})
        return response
