"""Every question that the pages and the API take, asked by everyone about what is theirs, what is another's and what nobody has.

`python -m tests.leaks.matrix FILE` writes what came of it as Markdown.
"""

import hashlib
import hmac
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from string import Formatter
from typing import Any

from fastapi.testclient import TestClient

from apportion.books.tokens import Grant
from apportion.verbs.project import Project
from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from apportion.web.pages import ACTIONS, DOWNLOADS, ROUTES
from apportion.web.viewer import VIEWS
from tests.leaks.rows import DOOR, FORMS, HARMLESS, MORE, NAMING, OPEN, OTHERWISE, PLAIN
from tests.leaks.told import Row, written
from tests.web import world
from tests.web.conftest import OUR_HOST, PEOPLE
from tests.web.examples import ABSENT, EXAMPLES, FOREIGN, OWN, WHOSE

ROLES = (
    "stranger",
    "viewer",
    "lead",
    "nobody",
    "token",
    "finance",
    "admin",
)  # admins last: they can end others' sessions
SEE_ALL = ("finance", "admin")
FORMATS = ("", ".json", ".csv")
SAFE = "GET"
CHANGING = ("content-length", "date", "set-cookie", "x-request-id")  # headers that are never the same
EDGE = (
    r"(?:(?<![\w.-])|(?<=%2F)|(?<=%3A)|(?<=%3D)|(?<=%253D))"  # where a name begins, also in a URL, or in one in a URL
)
NAMES = {given[name] for given in (FOREIGN, ABSENT) for name in WHOSE}
ASKED = re.compile(rf"{EDGE}(?:{'|'.join(map(re.escape, sorted(NAMES, key=len, reverse=True)))})(?![\w-])")
TOKEN = {"owner": "ada", "role": "viewer", "teams": frozenset({"vision"})}


@dataclass(frozen=True)
class Question:
    """`url` and `fields` have names in braces."""

    method: str
    pattern: str
    url: str
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def names_somebody(self) -> bool:
        texts = (self.url, *self.fields.values())
        return any(name in WHOSE for text in texts for _, name, _, _ in Formatter().parse(text))

    def filled(self, names: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
        texts = {key: value.format_map(names) for key, value in self.fields.items()}
        listed = {key: [text.strip("[]")] for key, text in texts.items() if text.startswith("[")}
        return self.url.format_map(names), {**texts, **listed}


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: tuple[tuple[str, str], ...]


class Asker:
    """Everyone, logged in at one server."""

    def __init__(self, folder: Path) -> None:
        self.app = create_app(folder)
        self.books = self.app.state.desk.books
        self.clients = {role: self._client(role) for role in ROLES}
        self.counts: dict[str, Counter[str]] = {role: Counter() for role in ROLES}

    def _client(self, role: str) -> TestClient:
        if role == "token":
            grant = Grant("nightly", deeds=frozenset(deed.value for deed in VIEWS), lasts_s=3600, **TOKEN)  # type: ignore[arg-type]
            given: dict[str, Any] = {"headers": {"Authorization": f"Bearer {self.books.tokens.make(grant)[1]}"}}
        elif role == "stranger":
            given = {"headers": {"Sec-Fetch-Site": "same-origin"}}
        else:
            given = {
                "cookies": {COOKIE: self.books.doors.open_session(PEOPLE[role], 3600)},
                "headers": {"Sec-Fetch-Site": "same-origin"},
            }
        return TestClient(self.app, OUR_HOST, raise_server_exceptions=False, follow_redirects=False, **given)

    def ask(self, role: str, question: Question, names: Mapping[str, str]) -> Answer:
        url, fields = question.filled(names)
        sent: dict[str, Any] = (
            {} if question.method == SAFE else {"json" if url.startswith("/api/") else "data": fields}
        )
        if "data" in sent and question.pattern not in OPEN:
            fields["csrf"] = csrf(self.clients[role])
        made = self.clients[role].request(question.method, url, **sent)
        self.counts[role][counted_as(made.status_code, made.headers.get("location", ""))] += 1
        headers = tuple((name, value) for name, value in made.headers.items() if name not in CHANGING)
        return Answer(made.status_code, made.text, headers)


def csrf(client: TestClient) -> str:
    """As a page of the session carries it."""
    key = client.cookies.get(COOKIE, "")
    return hmac.new(key.encode(), b"form", hashlib.sha256).hexdigest() if key else ""


def counted_as(status: int, to: str = "") -> str:
    if to.startswith("/login?"):
        return "to login"
    return "seen" if status < 400 else {401: "refused", 403: "refused", 404: "not there"}.get(status, "not in order")


def questions(app: Any) -> Iterator[Question]:
    """Of all pages, downloads, forms and endpoints. One that has no row raises KeyError with its name."""
    for route in ROUTES:
        example = EXAMPLES[route.path]
        for query in (example.query, *example.queries):
            for form in FORMATS:
                yield Question(SAFE, route.path, example.pattern(form) + form + (f"?{query}" if query else ""))
    for download in DOWNLOADS:
        page = EXAMPLES[download.path.removesuffix(".csv").removesuffix("/download")]
        queries = (page.query, *page.queries, *MORE.get(download.path, ()))
        yield from (Question(SAFE, download.path, f"{download.path}?{query}") for query in queries)
    for action in ACTIONS:
        path = action.path.replace("{number}", "{draft}") if action.path.startswith("/drafts/") else action.path
        yield Question("POST", action.path, path, FORMS["POST", action.path])
    yield from (Question(method, path, f"{path}{query}") for method, path, query in (*DOOR, *PLAIN))
    yield from of_api(app.openapi())


def of_api(document: Mapping[str, Any]) -> Iterator[Question]:
    for path, methods in document["paths"].items():
        for method, told in methods.items():
            parameters = told.get("parameters", ())
            names = {one["name"]: filling(one, path) for one in parameters if one["in"] == "path"}
            if "/drafts/" in path:
                names["number"] = "{draft}"
            url = path.format_map(names)
            if method != "get":
                yield Question(method.upper(), path, url, FORMS[method.upper(), path])
                continue
            asked = {one["name"]: filling(one, path) for one in parameters if one["in"] == "query"}
            needed = [
                f"{one['name']}={asked[one['name']]}"
                for one in parameters
                if one["in"] == "query" and one.get("required")
            ]
            yield Question(SAFE, path, "?".join([url, *(["&".join(needed)] if needed else [])]))
            month = "period=2026-10&" if "period" in asked else ""
            for query in MORE.get(path, ()):
                yield Question(SAFE, path, query if query.startswith("/") else f"{url}?{query}")
            for name in (name for name in asked if name in NAMING and (path, name) not in OTHERWISE):
                yield Question(SAFE, path, f"{url}?{month}{name}={asked[name]}")


def filling(parameter: Mapping[str, Any], path: str) -> str:
    name = parameter["name"]
    if name not in NAMING and name not in HARMLESS:
        raise KeyError(f"{path}: {name}")
    return NAMING.get(name) or HARMLESS[name]


def alike(answer: Answer) -> Answer:
    """What is left when the asked names are taken out: it must not tell whether they exist."""
    return Answer(
        answer.status, without_names(answer.text), tuple((name, without_names(value)) for name, value in answer.headers)
    )


def without_names(text: str) -> str:
    text = re.sub(r'(name="csrf" value=")[^"]*', r"\\1", text)
    return ASKED.sub("§", text)


def difference(one: Answer, other: Answer) -> str:
    """Where two answers begin to differ."""
    if one.status != other.status or one.headers != other.headers:
        return f"{one.status} {set(one.headers) - set(other.headers)}, {other.status} {set(other.headers) - set(one.headers)}"
    place = next(n for n, (a, b) in enumerate(zip_longest(one.text, other.text)) if a != b)
    return " | ".join(answer.text[max(0, place - 60) : place + 60] for answer in (one, other))


def leaked(answer: Answer, amounts: set[str], asked: Mapping[str, str]) -> list[str]:
    """Words and amounts of the team that nobody else may know, beyond those that were asked with."""
    text = answer.text + "".join(f"\n{name}: {value}" for name, value in answer.headers)
    if asked is FOREIGN:
        text = without_names(text)
    words = [word for word in world.SECRET if re.search(rf"{EDGE}{re.escape(word)}", text)]
    return words + [amount for amount in amounts if re.search(rf"(?<![\d.]){re.escape(amount)}(?!\d)", text)]


def everything(project: Project) -> tuple[Asker, list[Row]]:
    """Everyone asks everything about what is theirs, another's and nobody's."""
    asker, amounts = Asker(project.folder), world.secret_amounts(project)
    asked = list(questions(asker.app))
    rows = [Row(*key) for key in dict.fromkeys((one.method, one.pattern) for one in asked)]
    row_of = {(row.method, row.pattern): row for row in rows}
    for role in ROLES:
        for question in asked:
            own, foreign, absent = (asker.ask(role, question, names) for names in (OWN, FOREIGN, ABSENT))
            is_told = alike(foreign) != alike(absent) or bool(
                leaked(own, amounts, OWN) + leaked(foreign, amounts, FOREIGN)
            )
            row_of[question.method, question.pattern].add(role, (kind_of(own), kind_of(foreign)), told=is_told)
    return asker, rows


def kind_of(answer: Answer) -> str:
    return counted_as(answer.status, dict(answer.headers).get("location", ""))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        made, found = everything(world.make(Path(scratch, "project")))
        Path(sys.argv[1]).write_text(written(made.counts, found, SEE_ALL), "utf-8")
        sys.exit(any(row.tells(role) for row in found for role in ROLES if role not in SEE_ALL))
