"""What a child uses counts in its parents; the tightest limit decides and is named; soft ones are told and stop nobody."""

from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.model.times import Period
from apportion.reports.quotas import OVER, SOFT
from apportion.verbs.check import quota_findings
from apportion.verbs.counting import limit_of, window
from apportion.verbs.fit import Where, fit, needed
from apportion.verbs.project import Project
from apportion.verbs.standing import standing
from tests.quotas.world import HELD, SPEECH, TODAY, VISION, opened

DEPARTMENT = "{department: research, meter: gpu, hours: 110, per: month}"
ANN = "{team: vision, user: ann, meter: gpu, hours: 50, per: quarter}"


@pytest.fixture(scope="module")
def every(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return opened(ingested, tmp_path_factory.mktemp("every") / "p", DEPARTMENT, VISION, SPEECH, ANN)


def test_departments_teams_and_users_count_their_own(every: Project) -> None:
    project = every
    used = {one.limit.owner: (one.used, one.left) for one in standing(project, TODAY)}
    assert used == {
        "department research": (2 * HELD, 110 - 2 * HELD),
        "vision": (HELD, 100 - HELD),
        "speech": (HELD, 60 - HELD),
        "user ann of vision": (HELD, Fraction(2)),
    }


def test_the_tightest_decides_and_is_named(every: Project) -> None:
    project = every
    assert fit(project, "vision", "14", TODAY).fits
    made = fit(project, "vision", "15", TODAY)
    assert not made.fits
    assert "14 of 110 GPU-hours of department research are left" in made.sentence
    assert "of 12" not in made.sentence
    assert [one.limit.owner for one in fit(project, "speech", "13", TODAY).against] == ["speech"]
    of_ann = fit(project, "vision", needed(project, "3", "gpu-hours", Where(user="ann")), TODAY)
    assert [one.limit.owner for one in of_ann.against] == ["user ann of vision"]
    assert fit(project, "vision", needed(project, "3", "gpu", Where(user="bob")), TODAY).fits


def test_soft_limits_are_told_and_stop_nobody(ingested: Path, tmp_path: Path) -> None:
    project = opened(
        ingested,
        tmp_path / "p",
        "{team: vision, meter: gpu, hours: 100, soft: 40, per: month}",
        "{team: speech, meter: gpu, hours: 10, kind: soft, per: month}",
        "{department: research, money: 9, per: month, kind: soft}",
    )
    states = {one.limit.owner: one.state for one in standing(project, TODAY)}
    assert (states["vision"], states["speech"]) == (SOFT, SOFT)
    made = fit(project, "vision", "52", TODAY)
    assert made.fits
    assert made.sentence.endswith("; above the soft limit of vision.")
    assert not fit(project, "vision", "53", TODAY).fits
    assert fit(project, "speech", "1000", TODAY).fits


def test_below_what_is_used_is_told_and_not_refused(posted: Path, tmp_path: Path) -> None:
    project = opened(posted, tmp_path / "p", "{team: vision, meter: gpu, hours: 40, per: month}")
    (one,) = apportion.quotas(project, "2026-10", today=TODAY)
    assert (one.state, one.left) == (OVER, 40 - HELD)
    (said,) = quota_findings(project, Period(2026, 10))
    assert said.text == "vision: 48 of 40 GPU-hours are used in 2026-10, more than the quota"
    assert "raise it" in said.fix


def test_months_are_as_long_as_they_are(ingested: Path, tmp_path: Path) -> None:
    project = opened(ingested, tmp_path / "p", "{team: vision, meter: gpu, months: 2, soft: 1, per: month}")
    limit = limit_of(project.policy.quotas[0], project.policy, window("month", TODAY))
    assert (limit.size, limit.soft, limit.unit) == (Fraction(2 * 31 * 24), Fraction(31 * 24), "GPU-hours")
    assert needed(project, "3", "USD").of == "money"
    assert needed(project, "3", "core-hours").unit == "core-hours"
    months = needed(project, "1", "GiB-months")
    assert months.amount in (28 * 24, 29 * 24, 30 * 24, 31 * 24)
    assert (months.of, months.unit, Fraction(months.amount).denominator) == ("storage", "GiB-hours", 1)
