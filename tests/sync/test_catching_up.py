"""A source that was not asked for days brings them all in one round, and one that fails holds up only what it owes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion.model.times import parse_instant, parse_period
from apportion.verbs import due
from apportion.verbs.project import open_project
from apportion.verbs.sync import sync
from apportion.verbs.syncing.reading import owing, still_owed
from tests.outside.server import Behaviour, serving
from tests.outside.test_ingest import meter

__all__ = ["meter"]

DAY = 86_400
NOON = parse_instant("2026-10-03T12:00:00Z")


@pytest.fixture
def server() -> Iterator[tuple[str, Behaviour]]:
    with serving() as (url, behaviour):
        behaviour.answer = {"gpus": 2}
        yield url, behaviour


def test_days_that_were_missed_are_brought_by_one_round(
    tmp_path: Path, server: tuple[str, Behaviour], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apportion.toml").write_text(
        f'[[sources]]\nname = "meter"\nkind = "meter"\nurl = "{server[0]}"\nretries = 0\nsince = 2026-10-01\n'
    )
    project = open_project(tmp_path)
    monkeypatch.setattr(due, "now_s", lambda: NOON)
    assert sync(project).steps[0].changed == 3
    monkeypatch.setattr(due, "now_s", lambda: NOON + 5 * DAY)
    server[1].faults = [""] * 30 + ["half"]  # the first time it breaks off on the second day
    broken = sync(project).steps[0]
    assert (broken.outcome, "kept" in broken.what) == ("failed", True)
    made = sync(project).steps[0]
    assert made.outcome == "done"
    windows = sorted((row["start_s"], row["end_s"]) for row in project.books.deliveries())
    assert (windows[0][0], max(end for _, end in windows)) == (parse_instant("2026-10-01T00:00:00Z"), NOON + 5 * DAY)
    assert not due.holes(due.delivered(project, project.sources[0]), windows[0][0], NOON + 5 * DAY, 0)
    held = {row["start_s"] // DAY: 0 for row in project.books.scan("usage").to_pylist()}
    assert len(held) == 8
    assert sync(project).steps[0].outcome == "nothing new"


def test_what_it_owes_is_a_matter_of_days(
    tmp_path: Path, server: tuple[str, Behaviour], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "apportion.toml").write_text(
        f'[[sources]]\nname = "meter"\nkind = "meter"\nurl = "{server[0]}"\nretries = 0\nsince = 2026-09-28\n'
    )
    project = open_project(tmp_path)
    monkeypatch.setattr(due, "now_s", lambda: NOON)
    sync(project)
    monkeypatch.setattr(due, "now_s", lambda: NOON + DAY)
    server[1].faults = ["half"] * 100
    assert sync(project).failed[0].subject == "meter"
    owed = {"meter": still_owed(project, project.sources[0])}
    assert owing(project, owed, parse_period("2026-09")) == []
    assert owing(project, owed, parse_period("2026-10")) == ["meter"]
