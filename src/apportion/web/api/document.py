"""What the API says of itself: the OpenAPI document, with how to come in and how things fail."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from apportion import __version__
from apportion.client.shapes import Problem

ABOUT = """\
The same verbs as on the command line, for programs. What you may not see does not exist: lists, sums and counts leave it out.
Amounts are texts with every digit; times are UTC seconds (`_s`) or days. Errors are problem+json (RFC 9457) with the command line's codes.
Long lists come in parts: `next` of an answer is the `cursor` of the next request. `x-deed` names what one must be allowed to do.
"""
TAGS = {
    "people": "Who you are, and keys for programs.",
    "figures": "What is posted for teams, projects, users, pools and runs.",
    "reports": "The reports of `apportion report`.",
    "ledger": "Every entry behind a figure, and what was done to the books.",
    "statements": "What each owner owes for a month.",
    "disputes": "What is doubted, and how it ended.",
    "adjustments": "Credits and re-attributions that people decided.",
    "anomalies": "What is not as usual, what it meant and why; and what somebody said of it.",
    "budgets": "What owners mean to spend, and what they may use.",
    "pledges": "What is set aside of quotas for jobs, and lent between teams.",
    "policies": "What was agreed, what is proposed, and what it would change.",
    "health": "What the sources brought.",
    "webhooks": "Who is told of what.",
    "push": "Rows that are pushed rather than read.",
}
SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "a token for programs, made by an admin or by its owner",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "apportion",
        "description": "the cookie of somebody logged in",
    },
}


def add_document(app: FastAPI) -> None:
    """Made when it is first asked for."""

    def document() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = described(app.routes)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # as FastAPI would have it


def described(routes: Sequence[BaseRoute]) -> dict[str, Any]:
    tags = [{"name": name, "description": text} for name, text in TAGS.items()]
    made = get_openapi(title="Apportion", version=__version__, description=ABOUT, routes=routes, tags=tags)
    shape = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas = made.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {**shape.pop("$defs", {}), "Problem": shape}
    made["components"]["securitySchemes"] = SCHEMES
    made["security"] = [{name: []} for name in SCHEMES]
    return made
