"""A cluster through `ingest` and `check`, hour after hour: what was said of an hour stays, whatever is deleted later."""

import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from apportion.model.meters import GPU
from apportion.model.times import Period, instant_text
from apportion.verbs import due
from apportion.verbs.check import check
from apportion.verbs.ingest import Ingested, ingest
from apportion.verbs.project import Project, open_project
from tests.kubernetes.objects import HOUR_S, namespace, node, pod
from tests.kubernetes.server import TOKEN, Recorded, serving

NOON = int(time.time()) // 86_400 * 86_400 - 86_400 + 12 * HOUR_S  # yesterday's
DAYS = 3


def project(folder: Path, recorded: Recorded) -> Project:
    since = (datetime.fromtimestamp(NOON, UTC) - timedelta(days=DAYS)).date()
    (folder / "apportion.toml").write_text(
        f'[[sources]]\nname = "cluster"\nkind = "kubernetes"\ncluster = "c"\nurl = "{recorded.url}"\ntoken = "env:TEST_TOKEN"\n'
        f"retries = 0\nusage = true\nsince = {since}\n",
        encoding="utf-8",
    )
    return open_project(folder)


def held(found: Project) -> dict[str, int]:
    """GPU-seconds in the books by the pod's name."""
    names = {row["workload"]: row["name"] for row in found.books.scan("workloads").to_pylist()}
    total: Counter[str] = Counter()
    for row in found.books.scan("usage").to_pylist():
        total[names[row["workload"]]] += row["allocated"] * (row["end_s"] - row["start_s"]) // GPU
    return dict(total)


def test_hour_after_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TOKEN", TOKEN)
    world = [node(), namespace("vision")]

    def at(recorded: Recorded, found: Project, hours: int, *pods: dict[str, object]) -> Ingested:
        recorded.now_s, recorded.objects = NOON + hours * HOUR_S, [*world, *pods]
        monkeypatch.setattr(due, "now_s", lambda: recorded.now_s)
        (done,) = ingest(found)
        return done

    with serving(world) as recorded:
        found = project(tmp_path, recorded)
        long, short = pod("long", start=NOON - 1800), pod("short", start=NOON - 600)
        first = at(recorded, found, 0, long, short)
        assert Counter(each.code for each in first.problems) == {"past-window": DAYS + 1}
        assert held(found) == {"long": 1800, "short": 600}
        at(recorded, found, 1, long)  # `short` is gone, what it held is not
        assert held(found) == {"long": 1800 + 3600, "short": 600}
        again = at(recorded, found, 1, long)
        assert again.deliveries == 0
        late = at(recorded, found, 6, long)  # four runs were missed; two hours can be made good
        assert [each.code for each in late.problems] == ["past-window"]
        assert held(found) == {"long": 1800 + 3600 + 2 * 3600, "short": 600}
        before = held(found)
        today = datetime.fromtimestamp(NOON, UTC)
        ingest(found, periods=[Period(today.year, today.month)])  # asked for again, long after
        assert held(found) == before
        assert not [row for row in found.books.scan("capacity").to_pylist() if row["end_s"] > recorded.now_s]
        assert instant_text(max(row["end_s"] for row in found.books.deliveries())) == instant_text(recorded.now_s)


def test_check_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_TOKEN", TOKEN)
    with serving([node(), pod("a")], now_s=int(time.time()), denied={"nodes"}) as recorded:
        told = str(check(project(tmp_path, recorded)))
    assert "it may not list nodes" in told
    assert TOKEN not in told
