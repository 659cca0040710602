"""Lending: what one has more the other has less; nobody lends what is used, reserved or lent."""

from datetime import date
from fractions import Fraction

import pytest

from apportion.errors import ProjectError
from apportion.verbs.lend import Loan, give_back, lend
from apportion.verbs.project import Project
from apportion.verbs.reserve import Wish, reserve, stands
from apportion.verbs.standing import standing
from tests.quotas.world import HELD, NOW_S, TODAY


def sizes(project: Project, day: date = TODAY) -> dict[tuple[str, str], Fraction]:
    return {(one.limit.owner, one.limit.per): one.size for one in standing(project, day)}


def loan(amount: object, period: str = "2026-10", **more: str) -> Loan:
    return Loan("vision", "speech", str(amount), period, "a paper is due", **more)


def test_lending_moves_and_the_sum_stays(project: Project) -> None:
    before = sizes(project)
    made = lend(project, loan(30, approver="head of research"), TODAY)
    after = sizes(project)
    assert after["vision", "month"] == before["vision", "month"] - 30
    assert after["speech", "month"] == before["speech", "month"] + 30
    assert sum(after.values()) == sum(before.values())
    assert (made.begun.first, made.begun.per, made.begun.approver) == ("2026-10-01", "month", "head of research")
    assert reserve(project, Wish("speech", str(60 + 30 - HELD), "a"), TODAY, NOW_S).pledges
    assert project.books.verify() == []
    assert next(note.why for note in project.books.audit() if note.what == "pledge") == "a paper is due"


def test_only_what_is_free_can_be_lent(project: Project) -> None:
    reserve(project, Wish("vision", "20", "a"), TODAY, NOW_S)
    free = 100 - HELD - 20
    with pytest.raises(
        ProjectError, match=rf"vision cannot lend {free + 1} GPU-hours: {free} of 100 GPU-hours are left"
    ):
        lend(project, loan(free + 1), TODAY)
    lend(project, loan(free), TODAY)
    with pytest.raises(ProjectError) as refused:
        lend(project, loan(1), TODAY)
    assert refused.value.code == "not-enough"
    assert not reserve(project, Wish("vision", "1", "b"), TODAY, NOW_S).pledges


def test_it_is_given_back_unless_it_is_used(project: Project) -> None:
    lend(project, loan(30), TODAY)
    reserve(project, Wish("speech", "20", "a"), TODAY, NOW_S)
    with pytest.raises(ProjectError, match="speech cannot give back 30 GPU-hours"):
        give_back(project, 1, today=TODAY)
    before = sizes(project)
    lend(project, Loan("speech", "vision", "5", "2026-10", "back"), TODAY)
    assert give_back(project, 3, "not needed", TODAY).status == "returned"
    assert give_back(project, 3, today=TODAY).end_why == "not needed"
    assert sizes(project) == before


def test_a_month_to_come_has_its_whole_quota(project: Project) -> None:
    lend(project, loan(100, "2026-11"), TODAY)
    with pytest.raises(ProjectError):
        lend(project, loan(1, "2026-11"), TODAY)
    assert sizes(project)["vision", "month"] == 100
    assert sizes(project, date(2026, 11, 2))["speech", "month"] == 160


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (Loan("vision", "speach", "1", "2026-10", "why"), "unknown-owner"),
        (Loan("vision", "vision", "1", "2026-10", "why"), "same-owner"),
        (Loan("vision", "speech", "1", "2026-10", " "), "no-reason"),
        (Loan("vision", "speech", "0", "2026-10", "why"), "invalid-amount"),
        (Loan("vision", "speech", "1", "2026-10", "why", "money"), "no-quota"),
        (Loan("vision", "speech", "1", "2026-09", "why"), "no-policy-in-force"),
    ],
)
def test_bad_loans_say_what_is_wrong_and_keep_nothing(project: Project, made: Loan, code: str) -> None:
    with pytest.raises(ProjectError) as refused:
        lend(project, made, TODAY)
    assert refused.value.code == code
    assert project.books.pledges.all() == []


def test_what_is_over_stays_as_it_was(project: Project) -> None:
    lend(project, loan(30), TODAY)
    later = date(2026, 11, 3)
    (one,) = project.books.pledges.all()
    assert (stands(one, TODAY, NOW_S), stands(one, later, NOW_S)) == (True, False)
    with pytest.raises(ProjectError, match="stays as it was"):
        lend(project, loan(1), later)
    with pytest.raises(ProjectError, match="stays as it was"):
        give_back(project, 1, today=later)
