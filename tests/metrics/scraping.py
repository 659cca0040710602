"""A small organisation with all that metrics tell of, and its figures in a real Prometheus."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

import apportion
from apportion.books.audit import acting
from apportion.books.rounds import FINE
from apportion.render.exposition import exposed
from apportion.verbs.adjust import Wish, adjust
from apportion.verbs.budget import set_budget
from apportion.verbs.metrics import metrics
from apportion.verbs.project import Project
from tests.web import world

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
MONTH, CLOSED = "2026-10", "2026-09"


def make(folder: Path) -> Project:
    """September closed, October posted with a credit, November running; a budget that holds, and a round that ended well."""
    project = world.make(folder)
    with acting("root"):
        set_budget(project, "vision", "3000", CLOSED, "agreed")
        set_budget(project, "speech/asr", "100", CLOSED, "agreed")
        adjust(project, MONTH, Wish("speech", "platform", "10.00", "a node was down"))
        project.books.rounds.end(project.books.rounds.begin(), FINE)
    return project


def told(project: Project) -> str:
    """As OpenMetrics, with what was found by looking through the ledger."""
    return exposed(metrics(project, apportion.__version__, verify=True), OPENMETRICS)[0].decode()


def at(text: str, seconds: Sequence[int]) -> Iterator[str]:
    """The same samples at each of some times, as promtool takes them."""
    for line in text.splitlines():
        if line.startswith("#"):
            yield line
        else:
            yield from (f"{line} {second}" for second in seconds)


def asked(url: str, path: str, **query: str | int | list[str]) -> Any:
    """An answer of Prometheus, or its error."""
    answer = httpx.get(f"{url}/api/v1/{path}", params=query, timeout=60, trust_env=False)
    said = answer.json()
    assert said["status"] == "success", (query, said)
    return said["data"]


def values(url: str, expr: str, **query: str | int) -> dict[tuple[tuple[str, str], ...], float]:
    """What an expression comes to, by its labels."""
    found: Iterable[Any] = asked(url, "query", query=expr, **query)["result"]
    return {tuple(sorted(one["metric"].items())): float(one["value"][1]) for one in found}
