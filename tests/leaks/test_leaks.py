"""Whoever may not see a team learns nothing of it: not by a page, the API, a count, a search, an error or a refusal.

Another's team and one that does not exist give the same answer to the same question, to the last byte but for the name that was asked with.
How long an answer takes is not compared.
"""

from collections.abc import Callable

import pytest

from apportion.verbs.project import Project
from apportion.web.door import login
from tests.leaks.matrix import (
    ROLES,
    SAFE,
    SEE_ALL,
    Answer,
    Asker,
    Question,
    alike,
    difference,
    kind_of,
    leaked,
    questions,
)
from tests.leaks.rows import OPEN
from tests.leaks.told import summed
from tests.web import world
from tests.web.examples import ABSENT, FOREIGN, OWN

RESTRICTED = [role for role in ROLES if role not in SEE_ALL]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return world.make(tmp_path_factory.mktemp("small") / "project")


@pytest.fixture(scope="module")
def asker(project: Project) -> Asker:
    return Asker(project.folder)


@pytest.fixture(scope="module")
def amounts(project: Project) -> set[str]:
    return world.secret_amounts(project)


@pytest.fixture(scope="module")
def asked(asker: Asker) -> list[Question]:
    """All of them; a page, a form or an endpoint that nobody tries raises here."""
    return list(questions(asker.app))


def is_turned_away(question: Question, answer: Answer) -> bool:
    """To the login, or by the door itself, which tells of nobody."""
    return kind_of(answer) == "to login" or question.pattern in OPEN


def test_every_route_has_a_row(asker: Asker, asked: list[Question]) -> None:
    """Those of the server itself, not of our tables: one that was added in another way would not be asked."""
    known = {one.pattern for one in asked}
    for route in (*asker.app.routes, *login.router.routes):
        path = getattr(route, "path", "").replace(":path}", "}")
        assert not path or {path, path.removesuffix(".json").removesuffix(".csv")} & known, path


def test_a_stranger_is_sent_to_the_login(asker: Asker, asked: list[Question]) -> None:
    wrong = []
    for question in (one for one in asked if one.pattern not in OPEN):
        answer = asker.ask("stranger", question, OWN)
        if kind_of(answer) != "to login" and answer.status != 401:
            wrong.append(f"{question.method} {question.url}: {answer.status}")
    assert not wrong


def test_zebra_has_amounts_of_its_own(amounts: set[str]) -> None:
    assert len(amounts) > 10


@pytest.mark.parametrize("role", RESTRICTED)
def test_another_team_and_none_are_the_same(role: str, asker: Asker, asked: list[Question], amounts: set[str]) -> None:
    wrong = []
    for question in asked:
        if question.method != SAFE or not question.names_somebody:
            continue
        foreign, absent = (asker.ask(role, question, names) for names in (FOREIGN, ABSENT))
        if alike(foreign) != alike(absent):
            wrong.append(f"{question.url}: {difference(alike(foreign), alike(absent))}")
        wrong += [f"{question.url} tells {word}" for word in leaked(foreign, amounts, FOREIGN)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("role", RESTRICTED)
def test_what_is_theirs_tells_no_word_of_another(
    role: str, asker: Asker, asked: list[Question], amounts: set[str]
) -> None:
    wrong = []
    for question in asked:
        if question.method == SAFE:
            answer = asker.ask(role, question, OWN)
            wrong += [f"{question.url} tells {word}" for word in leaked(answer, amounts, OWN)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("role", RESTRICTED)
def test_nothing_is_done_to_another_team(role: str, asker: Asker, asked: list[Question], amounts: set[str]) -> None:
    wrong = []
    before = asker.books.state()
    for question in asked:
        if question.method == SAFE:
            continue
        foreign, absent = (asker.ask(role, question, names) for names in (FOREIGN, ABSENT))
        if (foreign.status < 400 and not is_turned_away(question, foreign)) or alike(foreign) != alike(absent):
            wrong.append(f"{question.method} {question.url}: {foreign.status} and {absent.status}")
        wrong += [f"{question.method} {question.url} tells {word}" for word in leaked(foreign, amounts, FOREIGN)]
    assert not wrong, "\n".join(wrong)
    assert asker.books.state() == before


@pytest.mark.parametrize("role", SEE_ALL)
def test_whoever_may_see_it_does(role: str, asker: Asker, asked: list[Question], amounts: set[str]) -> None:
    """Else the rows prove nothing: what is asked about is there, in one of the page's forms at least."""
    seen: dict[str, bool] = {}
    for question in asked:
        if question.method == SAFE and question.names_somebody and question.pattern not in OPEN:
            what = question.url.replace(".json", "").replace(".csv", "").replace("/overview", "/")
            answer = asker.ask(role, question, FOREIGN)
            seen[what] = seen.get(what, False) or bool(leaked(answer, amounts, OWN))
    assert [what for what, is_seen in seen.items() if not is_seen] == []


def test_the_matrix(asker: Asker, asked: list[Question], record_property: Callable[[str, object], None]) -> None:
    """Says it; runs last."""
    record_property("questions", f"{len(asked)} by {len(ROLES)} roles")
    for line in summed(asker.counts)[2:]:
        record_property("asked, seen, to login, refused, not there, not in order", line.strip("| "))
    assert asker.counts["nobody"]["not there"] > 0
