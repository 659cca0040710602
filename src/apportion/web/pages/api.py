"""`/api`: the REST API, read from its own document."""

from collections.abc import Iterator, Mapping
from typing import Any

from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.web.api import API
from apportion.web.api.asked import SAID
from apportion.web.api.document import ABOUT, TAGS, described
from apportion.web.ask import Ask
from apportion.web.page import Block, Link, Page, Prose, Rows
from apportion.web.routes import Route

DOCUMENT = "/api/v1/openapi.json"
FIRST = """\
curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8765/api/v1/teams?period=2026-10

import apportion

with apportion.Client("http://127.0.0.1:8765", token) as client:
    for team in client.teams(period="2026-10"):
        print(team.name, team.amounts)
"""


def api(ask: Ask) -> Page:
    document = ask.desk.lasting("the API's document", lambda: described(API.routes))
    calls = list(operations(document))
    blocks: list[Block] = [
        Prose(
            tuple(ABOUT.replace("`", "").splitlines()),
            code=FIRST,
            links=(Link("The same for programs: OpenAPI", DOCUMENT), Link("Tokens", "/tokens")),
        )
    ]
    for tag, said in TAGS.items():
        own = [one for one in calls if tag in one["tags"]]
        blocks.append(Rows(table(own), f"{tag.capitalize()}: {said.replace('`', '')}"))
    blocks.append(Rows(failures(), "How things fail: problem+json, with the command line's codes"))
    title = f"{len(calls)} things that programs can ask and do here, as you are allowed to."
    return Page("api", title, tuple(blocks), timeless=True)


def operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            yield {**one, "path": path, "method": method.upper()}


def table(calls: list[dict[str, Any]]) -> Table:
    names = ("call", "what", "parameters", "deed")
    titles = ("call", "what it does", "parameters", "needs")
    rows = tuple(
        (
            f"{one['method']} {one['path']}",
            one["description"].partition("\n")[0].replace("`", ""),
            parameters(one),
            one["x-deed"],
        )
        for one in calls
    )
    return Table(tuple(Column(name, title) for name, title in zip(names, titles, strict=True)), rows)


def parameters(one: Mapping[str, Any]) -> str:
    """Those behind the path; a star marks what is needed."""
    found = [
        given["name"] + ("*" if given.get("required") else "")
        for given in one.get("parameters", ())
        if given["in"] != "path"
    ]
    body = ["a body*"] if "requestBody" in one else []
    return ", ".join([*found, *body])


def failures() -> Table:
    columns = (Column("status", "status"), Column("means", "means"))
    return Table(columns, tuple((str(status), said) for status, said in sorted(SAID.items())))


ROUTES = (Route("/api", api),)
