"""A live source of the tests' own: a server that says how many GPUs one job held in each hour. Registered by an entry point, as anybody's is."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.rows import USAGE, WORKLOADS
from apportion.model.times import Interval
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.outside.web import WEB_SETTINGS, Web
from apportion.sources.settings import stanza

HOUR_S = 3600


def read(settings: Mapping[str, Any], base: Path, window: Interval | None) -> Iterator[Delivery | Progress]:
    """One delivery of a window, of every hour in it."""
    del base
    assert window is not None
    found = stanza(settings, WEB_SETTINGS)
    rows = []
    hours = range(window.start_s // HOUR_S * HOUR_S, window.end_s, HOUR_S)
    with Web.of(found) as web:
        for number, hour in enumerate(hours):
            yield Progress(number, len(hours))
            held = web.get(f"/hours/{hour}")["gpus"]
            cut = Interval(hour, hour + HOUR_S).clip(window)
            rows.append({"source": settings["name"], "workload": "job", "meter": "gpu", "resource": "node-1",
                         "start_s": cut.start_s, "end_s": cut.end_s, "allocated": held * GPU, "used": None})  # fmt: skip
    job = {"source": settings["name"], "workload": "job", "run": "job", "name": None, "start_s": window.start_s,
           "end_s": window.end_s, "outcome": "running", "labels": [("team", "vision")]}  # fmt: skip
    tables = {
        "usage": pa.Table.from_pylist(rows, schema=USAGE),
        "workloads": pa.Table.from_pylist([job], schema=WORKLOADS),
    }
    yield Delivery(settings["name"], window, tables)


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    del base
    with Web.of(stanza(settings, WEB_SETTINGS)) as web:
        web.get("/hours/0")
    yield Sign("ok", "reachable")
    yield Sign("note", "has no labels", "start it with --labels")


SOURCE = Live(read, probe, '[[sources]]\nname = "meter"\nkind = "meter"\nurl = "http://127.0.0.1:1"\n')
