"""Reading a recorded cluster, and what came of it by name."""

from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.kubernetes import SOURCE
from tests.kubernetes.objects import AT_S, HOUR_S
from tests.kubernetes.server import TOKEN, Recorded

LAST_HOUR = Interval(AT_S - HOUR_S, AT_S)


def stanza(recorded: Recorded, **more: Any) -> dict[str, Any]:
    given = {"url": recorded.url, "token": "env:TEST_TOKEN", "retries": 2, "timeout_s": 5}
    return {"name": "it", "kind": "kubernetes", "cluster": "c", "capacity": True, **given, **more}


def ask(recorded: Recorded, window: Interval = LAST_HOUR, **more: Any) -> list[Delivery]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_TOKEN", TOKEN)
        told = list(SOURCE.read(stanza(recorded, **more), Path(), window))
    return [each for each in told if isinstance(each, Delivery)]


def one(recorded: Recorded, window: Interval = LAST_HOUR, **more: Any) -> Delivery:
    (found,) = ask(recorded, window, **more)
    return found


def rows(found: Delivery, table: str) -> list[dict[str, Any]]:
    return [
        {**row, "labels": dict(row["labels"])} if "labels" in row else row for row in found.tables[table].to_pylist()
    ]


def codes(found: Delivery) -> list[str]:
    return sorted(problem.code for problem in found.problems)
