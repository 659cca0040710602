"""The API's own document says all: who may, how it fails, how to come in; and the page of it is made of the document."""

from pathlib import Path
from typing import Any, get_args

import pytest

from apportion.books.hooks import EVENTS
from apportion.client import agreed
from apportion.verbs.project import Project
from apportion.verbs.web_settings import ROLES
from apportion.web.api import reports
from apportion.web.viewer import MAY, Deed, Role
from tests import docs
from tests.web.conftest import Clients

DOCUMENT = "/api/v1/openapi.json"
ERRORS = Path(__file__).parents[2] / "docs/reference/errors.md"


@pytest.fixture(scope="module")
def document(clients: Clients) -> Any:
    client = clients("viewer")
    client.cookies.clear()
    return client.get(DOCUMENT).json()  # it tells of nobody, so that everybody may read it


def operations(document: Any) -> list[tuple[str, str, Any]]:
    return [(method, path, one) for path, methods in document["paths"].items() for method, one in methods.items()]


def test_every_operation_says_who_may_and_how_it_fails(document: Any) -> None:
    found = operations(document)
    assert len({one["operationId"] for _, _, one in found}) == len(found) > 40
    for method, path, one in found:
        assert one["x-deed"] in [*Deed], path
        assert one["tags"], path
        assert one["description"].strip(), path
        assert {"401", "403", "404", "422", "429", "503"} <= set(one["responses"]), path
        for status, answer in one["responses"].items():
            form = "application/json" if status.startswith("2") else "application/problem+json"
            assert list(answer["content"]) == [form], f"{method} {path} {status}"
    assert {"token", "session"} == set(document["components"]["securitySchemes"])
    assert document["security"] == [{"token": []}, {"session": []}]


def test_a_deed_is_asked_for_as_the_document_says(document: Any, clients: Clients) -> None:
    """Whoever may not is refused before anything else is looked at, whatever the path names."""
    tried = 0
    for role in ("viewer", "lead", "finance"):
        client = clients(role)
        for method, path, one in operations(document):
            if Deed(one["x-deed"]) in MAY[Role(role)]:
                continue
            url = path.replace("{number}", "1").replace("{period}", "2026-10")
            answer = client.request(method, url, json={}, headers={"Sec-Fetch-Site": "same-origin"})
            assert answer.status_code in (403, 422), f"{role} {method} {path}: {answer.text}"
            tried += answer.status_code == 403
    assert tried > 20


def test_nobody_who_is_not_logged_in_learns_anything(document: Any, clients: Clients) -> None:
    client = clients("admin")
    client.cookies.clear()
    for method, path, _ in operations(document):
        url = path.replace("{number}", "1").replace("{period}", "2026-10")
        answer = client.request(method, url, json={}, headers={"Sec-Fetch-Site": "same-origin"})
        assert answer.status_code == 401, f"{method} {path}: {answer.text}"


def test_every_code_that_a_status_is_given_to_exists() -> None:
    from apportion.web.faults import ABSENT, CONFLICT, NOT_READY

    listed = docs.headings(ERRORS.read_text(encoding="utf-8"))  # which tests/test_docs.py holds to the sources
    assert not (ABSENT | CONFLICT | NOT_READY) - listed


def test_the_page_names_every_call(document: Any, clients: Clients, small: Project) -> None:
    text = clients("viewer").get("/api").text
    for method, path, _ in operations(document):
        assert f"{method.upper()} {path}" in text
    rows = clients("viewer").get("/api.json").json()["tables"]
    assert sum(len(one["rows"]) for one in rows[:-1]) == len(operations(document))


def test_the_words_of_the_document_are_the_servers_own() -> None:
    assert get_args(agreed.Deed) == tuple(Deed)
    assert get_args(agreed.Role) == ROLES
    assert get_args(agreed.Event) == EVENTS
    assert {*get_args(reports.By)} == {"", *(word for words in reports.BY_OF.values() for word in words)}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("wher=team=vision", "invalid-request"), ("period=2026-10&period=2026-09", "invalid-request"), ("period=2026-13", "invalid-period"),
        ("period=soon", "invalid-period"), ("where=team", "invalid-filter"), ("as_of=2026-1-1", "invalid-day"),
    ],
)  # fmt: skip
def test_a_question_that_is_misspelt_gets_no_sum(asked: str, code: str, clients: Clients) -> None:
    for path in ("teams", "reports/showback"):
        answer = clients("finance").get(f"/api/v1/{path}?{asked}")
        assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert clients("finance").get(f"/api/v1/pools/gpus?{asked}").status_code == 422
    several = clients("finance").get("/api/v1/teams?period=2026-10&where=team%3Dvision&where=team%3Dspeech")
    assert several.status_code == 200


@pytest.mark.parametrize("by", ["bill", "reason"])
def test_carbon_is_told_by_what_its_sums_are_made_of(by: str, clients: Clients) -> None:
    assert clients("finance").get(f"/api/v1/reports/carbon?period=2026-10&by={by}").status_code == 200


def test_only_a_trend_is_of_an_owner(clients: Clients) -> None:
    answer = clients("finance").get("/api/v1/reports/showback?period=2026-10&owner=vision")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-filter")
