"""The tiny project with a row that ends before it starts, and a delivery that says how many hours it could not take."""

from pathlib import Path

import pytest

from apportion.errors import Problem
from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.verbs.project import open_project
from tests.cli.conftest import run
from tests.cli.tiny import edit, write_tiny

__all__ = ["run"]

MONTH = "2026-10"
OCTOBER = Interval(1_790_812_800, 1_793_491_200)
NOVEMBER = Interval(1_793_491_200, 1_796_083_200)
BACKWARDS = "j9,j9,speech,bob,n1,2026-10-01T20:00:00Z,2026-10-01T19:00:00Z,1,COMPLETED\n"
GPU_HOUR = 504_000 * 3600


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """Nothing is wrong with it but for a job without an owner."""
    return write_tiny(tmp_path / "sound")


@pytest.fixture
def doubtful(tmp_path: Path) -> Path:
    """1 of 5 rows of the log is lost."""
    folder = write_tiny(tmp_path / "doubtful")
    with (folder / "usage/jobs.csv").open("a", encoding="utf-8") as log:
        log.write(BACKWARDS)
    return folder


def lose_hours(folder: Path, hours: int, window: Interval = OCTOBER, at: str = "") -> None:
    """A source that took nothing and says how many GPU hours it could not take."""
    told = Problem("probe:1", "not-measured", "nobody looked", quantity=str(hours * GPU_HOUR), meter="gpu", at=at)
    open_project(folder).books.ingest(Delivery("probe", window, {}, (told,)))


def set_bound(folder: Path, percent: str) -> None:
    edit(folder / "policy.yaml", "time_zone: UTC\n", f"time_zone: UTC\nfindings: {{bound: {percent}}}\n")
