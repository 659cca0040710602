"""Asking a server for one window: one day at a time, since longer ones time out on large clusters."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from apportion.errors import InputError
from apportion.model.times import Interval, instant_text
from apportion.sources.live import Progress
from apportion.sources.opencost.answers import data_of, entries
from apportion.sources.opencost.day import Day, Reading, check_windows
from apportion.sources.opencost.rows import Allocation, Asset, CloudCost, read_rows
from apportion.sources.outside.web import Web

BELOW = "/model"  # where Kubecost's front end, and OpenCost's own, keep the API
PREFIXES = {"opencost": ("",), "kubecost": (BELOW, ""), "": ("", BELOW)}
WHOLE = {
    "includeIdle": "true",
    "idle": "true",
    "shareIdle": "false",
    "accumulate": "false",
}  # two words for idle: one each
CLOUD = {"aggregate": "provider,invoiceEntityID,accountID,service,category", "accumulate": "none"}


@dataclass(frozen=True, slots=True)
class Server:
    """One that answers: `flavour` as the stanza says, or as the place of its API tells."""

    web: Web
    prefix: str
    flavour: str

    def data(self, path: str, params: dict[str, str] | None = None) -> Any:
        return data_of(
            self.web.fetch("GET", f"{self.prefix}{path}", params=params), f"{self.web.host}{self.prefix}{path}"
        )


def find(web: Web, flavour: str, path: str, params: dict[str, str]) -> tuple[Server, Any]:
    """The server and its first answer: where one prefix leads to a page or nowhere, the next is tried."""
    url = str(web.client.base_url).rstrip("/")
    prefixes = ("",) if url.endswith(BELOW) else PREFIXES[flavour]
    refusals = []
    for prefix in prefixes:
        server = Server(web, prefix, flavour or ("kubecost" if prefix or url.endswith(BELOW) else "opencost"))
        try:
            return server, server.data(path, params)
        except InputError as error:
            if error.code != "bad-response":
                raise
            refusals.append(error)
    raise refusals[0]


def ask(web: Web, reading: Reading, window: Interval) -> Iterator[Progress | tuple[Day, Server]]:
    """What it says of the window."""
    day = Day(window, f"{reading.source} {instant_text(window.start_s)[:10]}")
    if reading.report == "cloudCost":
        server, costs = find(web, reading.flavour, "/cloudCost", {"window": span(window), **CLOUD})
        put(day, CloudCost, costs)
    else:
        server, allocations = find(web, reading.flavour, "/allocation", {"window": span(window), **WHOLE})
        put(day, Allocation, allocations)
        yield Progress(1, 2, "assets")
        put(day, Asset, server.data("/assets", {"window": span(window)}))
    check_windows(day)
    yield day, server


def put(day: Day, kind: type, data: Any) -> None:
    found = read_rows(kind, entries(data), day.where, day.window)
    day.problems += found.problems
    day.take(found.rows)


def span(window: Interval) -> str:
    return f"{instant_text(window.start_s)},{instant_text(window.end_s)}"
