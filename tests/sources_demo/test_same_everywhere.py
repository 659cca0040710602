"""The demo is one month, not a different one on every machine."""

import os
import sys
from pathlib import Path

import pytest

from apportion.sources.demo import make_demo, read
from tests import processes

DIGEST = """
import hashlib, pathlib
from apportion.sources.demo import read
digest = hashlib.sha256()
for delivery in read({"name": "demo", "kind": "demo", "scale": "0.02", "seed": 7}, pathlib.Path(), None):
    for name, table in sorted(delivery.tables.items()):
        digest.update(f"{delivery.source} {delivery.window} {name}".encode())
        digest.update(repr(table.to_pylist()).encode())
print(digest.hexdigest())
"""


def digest(**environment: str) -> str:
    done = processes.run([sys.executable, "-c", DIGEST], env=os.environ | environment, text=True, check=True)
    return done.stdout.strip()


def test_hash_seed_time_zone_and_locale_change_nothing() -> None:
    found = {
        digest(PYTHONHASHSEED="0", TZ="UTC", LC_ALL="C"),
        digest(PYTHONHASHSEED="4711", TZ="Asia/Kolkata", LC_ALL="C.UTF-8"),
        digest(PYTHONHASHSEED="1", TZ="America/St_Johns", LC_ALL="tr_TR.UTF-8"),
    }
    assert len(found) == 1


def test_another_seed_is_another_month() -> None:
    first, second = (make_demo(seed=seed, scale="0.01") for seed in (7, 8))
    assert [work.start for work in first.month.works] != [work.start for work in second.month.works]


@pytest.mark.parametrize(
    "month", ["2026-11", "2027-02", "2027-03"]
)  # a clock that goes back, a short month, a clock that goes forward
def test_other_months_work_too(month: str) -> None:
    made = make_demo(scale="0.01", month=month)
    calendar = made.month.calendar
    assert all(work.end <= calendar.window.end_s and work.start < work.end for work in made.month.works)
    days = [line.charge.seconds for line in made.bills[1].lines if line.service == "CPU servers"]
    assert set(days) == {"2026-11": {86400, 90000}, "2027-02": {86400}, "2027-03": {86400, 82800}}[month]


def test_a_window_narrows_what_is_delivered() -> None:
    calendar = make_demo(scale="0.01").month.calendar
    first = next(iter(read({"name": "demo", "kind": "demo", "scale": "0.01"}, Path(), None)))
    week = type(calendar.window)(calendar.at(8, 0), calendar.at(15, 0))
    narrow = list(read({"name": "demo", "kind": "demo", "scale": "0.01"}, Path(), week))
    assert [delivery.source for delivery in narrow] == ["demo"]  # both bills begin before the week
    assert narrow[0].window == week
    assert 0 < len(narrow[0].tables["usage"]) < len(first.tables["usage"])
