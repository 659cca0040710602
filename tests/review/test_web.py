"""The page and the API say what the command says, to those who may see all teams; a form saves a draft."""

from pathlib import Path

import pytest

import apportion
from apportion.client.reviews import ReviewDraftWish
from apportion.errors import ApportionError
from apportion.render.json import portable
from apportion.render.review import value
from apportion.reports.review.review import Review
from apportion.verbs.draft import drafts, policy_text
from apportion.verbs.project import Project
from apportion.web.app import create_app
from tests.review.test_review import FOUND, READY
from tests.review.world import NOW
from tests.web.conftest import clients_at, clients_of
from tests.web.forms import sent
from tests.web.serving import serving
from tests.web.test_api_client import as_one

PAGE, API = f"/review?period={NOW}", f"/api/v1/review?period={NOW}"


def test_client_page_and_verb_say_the_same(planted: Project, made: Review) -> None:
    told, state = portable(value(made)), planted.books.state()
    app = create_app(planted.folder)
    with serving(app) as address, as_one(planted, address, "finance") as client:
        assert client.review(NOW).model_dump() == told
        with pytest.raises(ApportionError) as error:
            client.save_review_draft(ReviewDraftWish(period=NOW, key="idle:none"))
        assert error.value.code == "unknown-finding"
    clients = clients_at(app)
    page = clients("finance").get(f"/review.json?period={NOW}").json()
    assert (page["title"], page["command"]) == (made.title, f"apportion review --period {NOW}")
    findings, *evidence, profiles = page["tables"]
    assert [row["key"] for row in findings["rows"]] == FOUND
    assert [one["rows"] for one in evidence] == [one["evidence"] for one in told["findings"]]
    assert profiles["rows"] == told["profiles"]
    assert planted.books.state()[1:] == state[1:]  # but for the sessions, nothing was written
    text = clients("admin").get(PAGE).text
    assert {key for key in FOUND if f"Propose {key}<" in text} == {*READY, "unmapped:account=xq17"}
    for role in ("lead", "viewer", "nobody"):
        assert [clients(role).get(path).status_code for path in (PAGE, API)] == [403, 403]


def test_a_form_saves_the_draft_of_one_finding(own: Path) -> None:
    project = apportion.open_project(own)
    text, finance = policy_text(project), clients_of(own)("finance")
    refused = sent(finance, PAGE, "/review/draft", period=NOW, key="owners:new")
    assert (refused.status_code, "has no draft" in refused.text) == (409, True)
    answer = sent(finance, PAGE, "/review/draft", period=NOW, key="unmapped:account=xq17", team="vision")
    assert (answer.status_code, answer.headers["location"]) == (303, "/drafts/1")
    ((who, status, drafted),) = [(one.who, one.status, one.text) for one in drafts(project)]
    assert (who, status, '{when: {account: "xq17"}, team: vision}' in drafted) == ("fin", "open", True)
    assert policy_text(project) == text
