"""What is left goes on to the next window: a cap, an end, from closed months alone."""

import random
import shutil
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.reports.quotas import Lot, quota_report
from apportion.reports.rolling import Past, rolled
from apportion.verbs.project import Project
from apportion.verbs.standing import standing
from tests.estimate.world import write_small
from tests.quotas.world import with_quotas

QUOTA = "{team: vision, meter: gpu, hours: 60, per: month, rollover: {cap: 10}}"
OCTOBER = date(2026, 10, 20)


def months(*used: int, size: int = 100, cap: int | None = None, expires: int = 1) -> list[Past]:
    """Months numbered from 1: `until` is the last of the month so many later."""
    last = [date(2026, number, 28) for number in range(1, 13)]
    limit = None if cap is None else Fraction(cap)
    return [
        Past(str(number + 1), last[number], Fraction(size), Fraction(one), last[number + expires], limit)
        for number, one in enumerate(used)
    ]


def lots(past: list[Past]) -> list[tuple[str, int]]:
    return [(one.window, int(one.amount)) for one in rolled(past)]


def test_what_came_from_before_is_used_first_and_ends() -> None:
    assert lots(months(40)) == [("1", 60)]
    assert lots(months(40, 50)) == [("2", 100)]  # 10 of the 60 were left, and ended
    assert lots(months(40, 50, expires=2)) == [("1", 10), ("2", 100)]
    assert lots(months(40, 130)) == [("2", 30)]
    assert lots(months(40, 200)) == []


def test_the_cap_cuts_what_ends_first() -> None:
    assert lots(months(40, cap=25)) == [("1", 25)]
    assert lots(months(40, 50, cap=25, expires=2)) == [("2", 25)]
    assert lots(months(90, 100, cap=25, expires=2)) == [("2", 10)]
    assert lots(months(85, 0, cap=105, expires=3)) == [("1", 5), ("2", 100)]


def test_no_more_is_ever_used_than_was_given() -> None:
    """With a cap or without, what goes on is at most what all windows had less what was used in them."""
    dice = random.Random(7)
    for _ in range(200):
        used = [dice.randrange(0, 130) for _ in range(dice.randrange(1, 8))]
        past = months(*used, cap=dice.choice([None, 20, 150]), expires=dice.randrange(1, 4))
        going = sum((one.amount for one in rolled(past)), Fraction(0))
        assert 0 <= going <= min(past[-1].cap or 10**9, max(0, 100 * len(used)))
        assert all(isinstance(one, Lot) and one.amount > 0 and one.until > past[-1].last for one in rolled(past))


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """September is closed: vision held 48 of 60 hours in it, so 12 were left and 10 go on."""
    folder = write_small(tmp_path_factory.mktemp("rolling") / "p")
    project = with_quotas(folder, QUOTA, "{team: vision, meter: gpu, hours: 200, per: quarter, rollover: {}}")
    apportion.ingest(project)
    apportion.plan(project, "2026-09")
    apportion.apply(project, "2026-09")
    month, _ = standing(project, OCTOBER)
    assert (month.rolled, month.moved.waits) == (Fraction(0), "")  # nothing is closed yet
    apportion.close(project, "2026-09", "one day is all there is")
    return apportion.open_project(folder)


def test_closed_months_roll_over(closed: Project) -> None:
    month, quarter = standing(closed, OCTOBER)
    assert (month.rolled, month.size, month.left) == (Fraction(10), Fraction(70), 70 - month.used)
    assert month.moved.rolled == (Lot("2026-09", Fraction(10), date(2026, 10, 31)),)
    assert quarter.moved.rolled == (Lot("2026-Q3", Fraction(200 - 48), date(2026, 12, 31)),)
    said = quota_report([month], "2026-10", "").notes
    assert "vision: 10 GPU-hours rolled over from 2026-09, until 2026-10-31." in said
    again = standing(apportion.open_project(closed.folder), OCTOBER)  # from what was kept
    assert again == (month, quarter)


def test_core_hours_count_in_a_pool_of_cores_and_memory(closed: Project, tmp_path: Path) -> None:
    """vision held 10 cores and 20 GiB for 5 hours on October 1st, in a pool that both drive; not on the 2nd."""
    shutil.copytree(closed.folder, tmp_path / "p")
    lines = (
        "{team: vision, meter: cpu, hours: 80, per: month}",
        "{department: research, meter: memory, hours: 1000, per: month}",
    )
    project = with_quotas(tmp_path / "p", *lines, "{team: vision, meter: cpu, hours: 80, per: day}")
    assert [one.used for one in standing(project, OCTOBER)] == [50, 200, 0]
    assert [one.used for one in standing(project, date(2026, 10, 1))] == [50, 200, 50]


def test_what_is_not_closed_is_waited_for(closed: Project) -> None:
    month, _ = standing(closed, date(2026, 11, 5))
    assert (month.rolled, month.moved.waits) == (Fraction(0), "2026-10")
    assert any("comes once it is closed" in one for one in quota_report([month], "2026-11", "").notes)
