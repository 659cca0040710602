"""A source of kind `prometheus` that hands over made tables, so that beginning from a cluster is tested apart from asking one."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import Interval
from apportion.sources.live import Live, Progress, Sign
from tests.logs.test_cluster_proposal import pods

SEED = 81


def read(settings: Mapping[str, Any], _: Path, window: Interval | None) -> Iterator[Delivery | Progress]:
    """All of October, clipped to nothing: the books do that."""
    assert window is not None
    assert settings["url"] == "http://127.0.0.1:9090"
    yield Progress(1, 2)
    made = pods(SEED)[0]
    yield Delivery(settings["name"], window, made.tables)


def probe(_: Mapping[str, Any], __: Path) -> Iterator[Sign]:
    """Always there."""
    yield Sign("ok", "reachable")


source = Live(read, probe, '[[sources]]\nname = "cluster"\nkind = "prometheus"\n# url = "http://..."\n')
