"""What-ifs that are saved show what they showed, say when the record moved, go when they are forgotten, and become drafts."""

from pathlib import Path

import pytest
from sqlalchemy import text

import apportion
from apportion.books.audit import acting
from apportion.books.database import writing
from apportion.errors import BooksError, ProjectError
from apportion.policy.load import load_policy
from apportion.render.sheet import Sheet
from apportion.verbs.draft import drafts
from apportion.verbs.project import Project
from apportion.verbs.saved import Wish, forget, save, saved, text_of, turned, wish_of
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.preview.conftest import NEXT
from tests.stating.world import POLICY, post, write_bill

MONTH = "2026-10"
RATES = POLICY.replace("method: proportional", "method: rate_card, prices: [{price: 2, per: hour}]")


def test_what_is_saved_is_shown_as_it_was_until_it_is_forgotten(run: Run, own: Path, tmp_path: Path) -> None:
    (tmp_path / "next.yaml").write_text(NEXT, "utf-8")
    ask = ["--project", own, "whatif", "--period", MONTH, "--policy", tmp_path / "next.yaml"]
    fresh = run(*ask, "-o", "csv")
    assert run(*ask, "--save", "cards by agreement").code == 0
    again = run("--project", own, "whatif", "--saved", "cards by agreement", "-o", "csv")
    assert again.out == fresh.out
    told = run("--project", own, "whatif", "--saved", "cards by agreement", "-o", "json").value()
    project = apportion.open_project(own)
    assert (told["head"], told["moved"], told["period"]) == (project.books.head(), "", MONTH)
    assert told["answer"] == run(*ask, "-o", "json").value()
    (listed,) = run("--project", own, "whatif", "--saved", "-o", "json").value()["saved"]
    assert (listed["name"], listed["id"]) == ("cards by agreement", told["id"])
    assert run("--project", own, "whatif", "--saved", told["id"], "-o", "csv").out == fresh.out
    write_bill(own, MONTH, "360")
    post(project, MONTH)
    assert run("--project", own, "whatif", "--saved", told["id"], "-o", "csv").out == fresh.out
    assert "What is posted for 2026-10 changed since" in run("--project", own, "whatif", "--saved", told["id"]).out
    assert run(*ask, "-o", "csv").out != fresh.out
    assert run("--project", own, "whatif", "--saved", told["id"], "--forget").code == 0
    assert saved(project) == []
    assert [note.detail.split(",")[0] for note in project.books.audit() if note.what == "whatif"] == [
        f"{told['id']} saved",
        f"{told['id']} forgotten",
    ]
    assert project.books.verify() == []


def put(project: Project, name: str, text: str = NEXT) -> str:
    made = Sheet("vision would owe less.", (), {"answer": 1}, ("pools.gpus.method changes",))
    return save(project, name, Wish((MONTH,), {"next": text}), made).id


def test_a_name_is_taken_once_and_is_a_name(own: Path) -> None:
    project = apportion.open_project(own)
    with acting("ada"):
        first = put(project, " even ")
    assert [(one.name, one.who) for one in saved(project)] == [("even", "ada")]
    for wrong in ("even", "", " ", "a\nb", "n" * 121):
        with pytest.raises((BooksError, ProjectError)) as caught:
            put(project, wrong)
        assert caught.value.code == "whatif-name"
    with pytest.raises(BooksError) as unknown:
        forget(project, "evem")
    assert unknown.value.code == "unknown-whatif"
    assert [one.id for one in saved(project)] == [first]


WRONG = [
    (["--save", "x"], "give --policy FILE"),
    (["--saved", "--save", "x"], "--saved shows what was asked before"),
    (["--saved", "--forget"], "name the what-if"),
    (["name"], "go with --saved"),
    (["--forget", "--price", "gpus=1"], "go with --saved"),
]


@pytest.mark.parametrize(("given", "why"), WRONG)
def test_wrong_usage_is_said(run: Run, kept: Path, given: list[str], why: str) -> None:
    result = run("--project", kept, "whatif", *given)
    assert result.code == 2
    assert why in " ".join(result.err.split())


def test_what_is_changed_or_gone_is_found(own: Path) -> None:
    project = apportion.open_project(own)
    id_ = put(project, "even")
    assert project.books.verify() == []
    with writing(project.books.engine) as connection:
        connection.execute(text("UPDATE whatifs SET result = replace(result, 'less', 'more')"))
    assert [one.code for one in project.books.verify()] == ["whatif-changed"]
    with writing(project.books.engine) as connection:
        connection.execute(text("DELETE FROM whatifs"))
    assert [(one.code, one.where) for one in project.books.verify()] == [("whatif-changed", f"what-if {id_}")]


def test_it_becomes_a_draft(run: Run, own: Path, tmp_path: Path) -> None:
    project = apportion.open_project(own)
    put(project, "even")
    made = turned(project, wish_of(saved(project)[0]), "agreed")
    assert (made.text, made.why, made.status) == (NEXT, "agreed", "open")
    other = NEXT.replace("vision: 50, speech: 25", "vision: 25, speech: 50")
    (tmp_path / "other.yaml").write_text(other, "utf-8")
    ask = ["--project", own, "whatif", "--period", MONTH, "--policy", tmp_path / "other.yaml"]
    assert "Draft 2 is open." in run(*ask, "--propose", "fairer", "--save", "other").err
    assert [one.text for one in drafts(project)] == [NEXT, other]
    assert {one.name for one in saved(project)} == {"even", "other"}
    result = run(*ask, "--policy", own / "next.yaml", "--propose", "both")
    assert (result.code, "[one-policy]" in result.err) == (1, True)
    result = run("--project", own, "whatif", "--period", MONTH, "--price", "gpus=+10%", "--propose", "dearer")
    assert (result.code, "[no-rule-changes]" in result.err) == (1, True)
    assert len(drafts(project)) == 2


def test_a_published_price_is_in_the_draft(project: Project) -> None:
    tried = text_of(project, Wish((MONTH,), {"rates": RATES}, ("gpus=+10%",)))
    assert load_policy(tried).pools["gpus"].prices[0].price * 10 == 22
