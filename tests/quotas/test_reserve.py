"""Reservations: pending, posted, void, expired. What a job has used replaces what was set aside for it."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.errors import ProjectError
from apportion.verbs.fit import Where
from apportion.verbs.project import Project
from apportion.verbs.reserve import (
    Wish,
    all_pledges,
    end_said,
    post_reservation,
    reserve,
    settle_reservations,
    void_reservation,
)
from apportion.verbs.standing import standing
from tests.quotas.world import HELD, NOW_S, TODAY, VISION, came, opened

LEFT = 100 - HELD


def left(project: Project) -> int:
    return int(next(one.left for one in standing(project, TODAY) if one.limit.owner == "vision"))


def held(project: Project, amount: object, job: str, cost: str = "", expires: str = "") -> bool:
    wish = Wish("vision", str(amount), job, cost=cost, expires=expires)
    return bool(reserve(project, wish, TODAY, NOW_S).pledges)


def test_what_is_reserved_is_not_left(project: Project) -> None:
    assert held(project, 20, "a")
    assert left(project) == LEFT - 20
    assert not held(project, LEFT - 19, "b")
    assert left(project) == LEFT - 20
    made = reserve(project, Wish("vision", str(LEFT - 19), "b"), TODAY, NOW_S)
    assert "does not fit: 32 of 100 GPU-hours are left in 2026-10" in made.sentence
    assert "20 GPU-hours reserved" in made.sentence
    assert held(project, LEFT - 20, "b")
    assert left(project) == 0
    assert project.books.verify() == []


def test_the_same_again_changes_nothing_and_another_is_refused(project: Project) -> None:
    first = reserve(project, Wish("vision", "20", "a"), TODAY, NOW_S)
    again = reserve(project, Wish("vision", "20", "a"), TODAY, NOW_S)
    assert (first.made, again.made) == (True, False)
    assert first.pledges == again.pledges
    with pytest.raises(ProjectError, match="reservation 1 holds 20 GPU-hours of vision for a"):
        reserve(project, Wish("vision", "21", "a"), TODAY, NOW_S)
    assert len(project.books.pledges.all()) == 1


def test_void_frees_and_ends_once(project: Project) -> None:
    held(project, 20, "a")
    assert void_reservation(project, 1, "cancelled").status == "void"
    assert void_reservation(project, 1).end_why == "cancelled"
    assert left(project) == LEFT
    with pytest.raises(ProjectError) as refused:
        post_reservation(project, 1, "3")
    assert refused.value.code == "pledge-ended"
    assert held(project, 21, "a")  # a new one for the same job


def test_posted_counts_until_usage_comes_and_then_that_does(project: Project) -> None:
    held(project, 20, "r1")
    with pytest.raises(ProjectError) as refused:
        post_reservation(project, 1)
    assert refused.value.code == "nothing-known"
    assert post_reservation(project, 1, "15").status == "posted"
    # it counts in the window of the day on which it was said: that of this test's run, not of October
    assert [one.ended for one in project.books.pledges.all()] == [15]
    project = came(project, "r1,r1,vision,ann,n1,2026-10-01T20:00:00Z,2026-10-01T23:00:00Z,4,COMPLETED")
    assert left(project) == LEFT - 12


def test_a_running_job_takes_from_what_was_set_aside_for_it(project: Project) -> None:
    held(project, 20, "r1")
    project = came(project, "r1,r1,vision,ann,n1,2026-10-01T20:00:00Z,2026-10-01T23:00:00Z,4,RUNNING")
    (one,) = [one for one in standing(project, TODAY) if one.limit.owner == "vision"]
    assert (one.used, one.moved.pending, one.left) == (HELD + 12, Fraction(8), LEFT - 20)
    assert all_pledges(project)[0].is_open


def test_ingest_settles_jobs_that_are_over(project: Project) -> None:
    held(project, 20, "r1")
    held(project, 7, "never")
    project = came(project, "r1.0,r1,vision,ann,n1,2026-10-01T20:00:00Z,2026-10-01T23:00:00Z,4,FAILED")
    first, second = project.books.pledges.all()
    assert (first.status, first.ended, first.end_why) == ("posted", Decimal(12), "as usage says")
    assert second.is_open
    assert left(project) == LEFT - 12 - 7
    assert project.books.verify() == []


def test_another_teams_job_says_nothing(project: Project) -> None:
    """j1 is vision's, and over: what speech sets aside for a job of that name stands until speech's own comes."""
    reserve(project, Wish("speech", "2", "j1"), TODAY, NOW_S)
    assert settle_reservations(project, NOW_S) == []
    assert next(one.moved.pending for one in standing(project, TODAY) if one.limit.owner == "speech") == 2


def test_what_expires_frees_itself_and_is_told(project: Project) -> None:
    held(project, LEFT, "a", expires="24h")
    assert not held(project, 1, "b")
    later = NOW_S + 86_400
    assert reserve(project, Wish("vision", "1", "b"), TODAY, later).pledges
    assert [one.status for one in project.books.pledges.all()] == ["expired", "open"]
    assert settle_reservations(project, later) == []
    held(project, 3, "c", expires="30m")
    (over,) = settle_reservations(project, later)
    assert end_said(over) == "Reservation 4 of vision for c is expired: 0 of 3 GPU-hours."


def test_money_is_reserved_beside_hours_in_one_go(ingested: Path, tmp_path: Path) -> None:
    project = opened(ingested, tmp_path / "p", VISION, "{team: vision, money: 300, per: month}")
    spent = next(one.used for one in standing(project, TODAY) if not one.limit.meter)
    assert not held(project, 20, "a", cost=str(301 - int(spent)))
    assert project.books.pledges.all() == []
    assert held(project, 20, "a", cost="40")
    assert {one.limit.what: one.moved.pending for one in standing(project, TODAY)} == {"gpu": 20, "money": 40}
    project = came(project, "a,a,vision,ann,n1,2026-10-01T20:00:00Z,2026-10-01T21:00:00Z,5,RUNNING")
    assert {one.limit.what: one.moved.pending for one in standing(project, TODAY)} == {"gpu": 15, "money": 30}


def test_users_stand_as_tokens_and_count_for_their_quota(ingested: Path, tmp_path: Path) -> None:
    project = opened(ingested, tmp_path / "p", "{team: vision, user: ann, meter: gpu, hours: 50, per: month}")
    wish = Wish("vision", "2", "a", where=Where(user="ann"))
    assert reserve(project, wish, TODAY, NOW_S).pledges
    assert project.books.pledges.all()[0].begun.user.startswith("user-")
    assert not reserve(project, Wish("vision", "1", "b", where=Where(user="ann")), TODAY, NOW_S).pledges
    assert reserve(project, Wish("vision", "1", "b", where=Where(user="bob")), TODAY, NOW_S).pledges


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (Wish("visoin", "1", "a"), "unknown-owner"),
        (Wish("vision", "0", "a"), "invalid-amount"),
        (Wish("vision", "1", " "), "no-job"),
        (Wish("vision", "1", "a", "gpu-days"), "unknown-meter"),
        (Wish("vision", "1", "a", expires="soon"), "invalid-span"),
        (Wish("vision", "1", "a", where=Where("h100")), "unknown-pool"),
    ],
)
def test_bad_wishes_say_what_is_wrong_and_keep_nothing(project: Project, wish: Wish, code: str) -> None:
    with pytest.raises(apportion.ApportionError) as refused:
        reserve(project, wish, TODAY, NOW_S)
    assert refused.value.code == code
    assert refused.value.hint
    assert project.books.pledges.all() == []
