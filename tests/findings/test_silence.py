"""A source that delivers day by day and has nothing of some days: as much of it is lost as those are of the month."""

from decimal import Decimal
from pathlib import Path

from apportion.errors import Problem
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval
from apportion.verbs.findings import findings_now
from apportion.verbs.project import open_project
from tests.books.rows import capacity
from tests.findings.conftest import MONTH, OCTOBER, set_bound

GPU = 504_000


def deliver(folder: Path, day: int, *, silent: bool) -> None:
    window = Interval(OCTOBER.start_s + day * DAY_S, OCTOBER.start_s + (day + 1) * DAY_S)
    rows = capacity([] if silent else [("g01", "gpu", window.start_s, window.end_s, GPU, "up")], "cluster")
    told = (Problem("up", "no-rows", "no pod was running, or nobody recorded that one was"),) if silent else ()
    open_project(folder).books.ingest(Delivery("cluster", window, {"capacity": rows}, told))


def silence(folder: Path) -> list[tuple[int, Decimal, bool]]:
    judged = [one for one in findings_now(open_project(folder), MONTH) if one.finding.code == "no-rows"]
    return [(one.finding.rows, one.finding.share, one.stops) for one in judged]


def test_two_silent_days_of_a_month_are_two_days_of_it(sound: Path) -> None:
    set_bound(sound, "10")
    for day in range(31):
        deliver(sound, day, silent=day in (3, 17))
    assert silence(sound) == [(2, Decimal("0.064516129032258065"), False)]
    deliver(sound, 3, silent=False)
    assert silence(sound) == [(1, Decimal("0.032258064516129032"), False)]


def test_a_month_that_is_silent_is_all_of_it(sound: Path) -> None:
    told = (Problem("log.csv", "no-rows", "the log says nothing"),)
    open_project(sound).books.ingest(Delivery("log", OCTOBER, {"capacity": capacity([], "log")}, told))
    assert silence(sound) == [(1, Decimal(1), True)]


def test_of_two_silent_months_each_is_its_own(sound: Path) -> None:
    """Said of the last day of September and all of October."""
    window = Interval(OCTOBER.start_s - DAY_S, OCTOBER.end_s)
    told = (Problem("log.csv", "no-rows", "the log says nothing"),)
    open_project(sound).books.ingest(Delivery("log", window, {"capacity": capacity([], "log")}, told))
    assert silence(sound) == [(1, Decimal(1), True)]
