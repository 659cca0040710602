"""A live source through `ingest` and `check`: back-fill, faults on the way, holes, overlap, and nothing counted twice."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from apportion.errors import ApportionError
from apportion.model.meters import GPU
from apportion.model.times import Interval, parse_instant
from apportion.sources.registry import source_kinds
from apportion.verbs.check import check
from apportion.verbs.due import due_windows, holes, steps
from apportion.verbs.ingest import ingest
from apportion.verbs.project import Project, open_project
from tests.outside.server import Behaviour, serving

DAY = 86_400
BACK = 31


@pytest.fixture(autouse=True)
def meter(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("offer")
    info = folder / "meter-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: meter\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[apportion.sources]\nmeter = tests.outside.meter:SOURCE\n")
    monkeypatch.syspath_prepend(str(folder))
    assert "meter" in source_kinds()


@pytest.fixture
def server() -> Iterator[tuple[str, Behaviour]]:
    with serving() as (url, behaviour):
        behaviour.answer = lambda path: {"gpus": held(int(path.rpartition("/")[2]))}
        yield url, behaviour


def held(hour: int) -> int:
    """The truth: how many GPUs in which hour."""
    return hour // 3600 % 8


def project(folder: Path, url: str, more: str = "", back: int = 3) -> Project:
    since = (datetime.now(UTC) - timedelta(days=back)).date()
    (folder / "apportion.toml").write_text(
        f'[[sources]]\nname = "meter"\nkind = "meter"\nurl = "{url}"\nretries = 0\nsince = {since}\n{more}'
    )
    return open_project(folder)


def booked(found: Project) -> dict[int, int]:
    """GPU-seconds in the books, by hour."""
    rows = found.books.scan("usage").to_pylist()
    sums: dict[int, int] = {}
    for row in rows:
        hour = row["start_s"] // 3600 * 3600
        sums[hour] = sums.get(hour, 0) + row["allocated"] // GPU * (row["end_s"] - row["start_s"])
    return sums


def truth(found: Project) -> dict[int, int]:
    start = parse_instant(f"{found.settings.sources[0].settings['since']}T00:00:00Z")
    end = max(row["end_s"] for row in found.books.deliveries())
    return {hour: held(hour) * (min(end, hour + 3600) - hour) for hour in range(start, end, 3600)}


def test_days_are_filled_one_by_one_and_the_bar_knows_how_far(tmp_path: Path, server: tuple[str, Behaviour]) -> None:
    found = project(tmp_path, server[0])
    told: list[tuple[str, int, int]] = []
    (done,) = ingest(found, step=lambda *told_now: told.append(told_now))
    assert done.deliveries == len({hour // DAY for hour in truth(found)})
    assert booked(found) == truth(found)
    known = [(part, whole) for _, part, whole in told if whole > 1]
    assert known == sorted(known)
    assert len({whole for _, whole in known}) == 1


def test_a_fault_on_the_way_keeps_the_days_before_it_and_the_next_run_goes_on(
    tmp_path: Path, server: tuple[str, Behaviour]
) -> None:
    url, behaviour = server
    found = project(tmp_path, url, back=BACK)
    behaviour.faults = [""] * (12 * 24 + 7) + ["half"]
    with pytest.raises(ApportionError) as broken:
        ingest(found)
    assert broken.value.code == "half-response"
    assert "12 deliveries before it were kept" in broken.value.hint
    assert len(found.books.deliveries()) == 12
    assert len(booked(found)) == 12 * 24  # not one hour of the day that broke off
    behaviour.seen.clear()
    ingest(found)
    assert booked(found) == truth(found)
    first = int(behaviour.seen[0][1].rpartition("/")[2])
    assert first == min(booked(found)) + 12 * DAY - 7200  # two hours are read again, for late data


def test_running_twice_changes_nothing(tmp_path: Path, server: tuple[str, Behaviour]) -> None:
    found = project(tmp_path, server[0])
    ingest(found)
    before = booked(found)
    ingest(found)
    ingest(found)
    over = sorted(before)[:-1]  # the hour that runs goes on growing; files come in any order
    assert {hour: before[hour] for hour in over} == {
        hour: seconds for hour, seconds in booked(found).items() if hour in over
    }
    assert booked(found) == truth(found)


def test_a_past_month_can_be_read_again_and_late_data_replaces_it(
    tmp_path: Path, server: tuple[str, Behaviour]
) -> None:
    from apportion.model.times import parse_periods

    url, behaviour = server
    found = project(tmp_path, url)
    ingest(found)
    behaviour.answer = {"gpus": 5}
    months = parse_periods("last-month", datetime.now(UTC).date())
    ingest(found, periods=months)
    start, end = (months[0].first_day, months[0].next.first_day)
    last = {hour: sum_ for hour, sum_ in booked(found).items() if start <= day_of(hour) < end}
    assert last
    assert set(last.values()) == {5 * 3600}
    assert len(last) == (end - start).days * 24


def day_of(second: int) -> date:
    return datetime.fromtimestamp(second, UTC).date()


def test_check_says_reachable_missing_and_fresh(tmp_path: Path, server: tuple[str, Behaviour]) -> None:
    url, behaviour = server
    found = project(tmp_path, url)
    before = [(one.status, one.text, one.fix) for one in check(found).checks if one.what == "source meter"]
    assert before[:2] == [("ok", "reachable", ""), ("note", "has no labels", "start it with --labels")]
    assert before[2][0] == "wrong"
    assert before[2][2] == "apportion ingest meter"
    ingest(found)
    after = [(one.status, one.text) for one in check(found).checks if one.what == "source meter"]
    assert after[2][0] == "ok"
    assert "without a gap" in after[2][1]
    behaviour.faults = ["status 403"]
    broken = [(one.status, one.text) for one in check(found).checks if one.what == "source meter"]
    assert broken[0][0] == "wrong"
    assert "[login-refused]" in broken[0][1]


def test_holes_are_found_and_filled() -> None:
    windows = [Interval(0, 10), Interval(20, 30), Interval(25, 40)]
    assert holes(windows, 0, 50, 5) == [Interval(10, 20), Interval(35, 50)]
    assert holes(windows, 5, 40, 5) == [Interval(10, 20)]
    assert holes([], 5, 40, 5) == [Interval(5, 40)]
    assert holes([Interval(0, 100)], 5, 40, 5) == []
    assert holes([Interval(50, 60)], 5, 40, 5) == [Interval(5, 40)]
    assert steps(Interval(5, 25), 10) == [Interval(5, 10), Interval(10, 20), Interval(20, 25)]


@pytest.mark.parametrize("line", ['since = "soon"', "overlap_hours = -1", "since = 2026-10-01T00:00:00Z"])
def test_a_wrong_setting_of_time_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "apportion.toml").write_text(
        f'[[sources]]\nname = "meter"\nkind = "meter"\nurl = "http://127.0.0.1:1"\n{line}\n'
    )
    found = open_project(tmp_path)
    with pytest.raises(ApportionError) as refused:
        ingest(found)
    assert refused.value.code == "invalid-setting"


def test_the_overlap_is_the_users_to_choose(tmp_path: Path, server: tuple[str, Behaviour]) -> None:
    from tests.outside.meter import SOURCE

    found = project(tmp_path, server[0], "overlap_hours = 48\n")
    ingest(found)
    found_again = due_windows(found, found.settings.sources[0], SOURCE, None)
    now = int(time.time())
    assert not found_again or now - found_again[0].start_s >= 48 * 3600 - 120
