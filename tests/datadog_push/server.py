"""A loopback server that takes custom costs and series as Datadog's documentation says it does: keys, fields, lengths, days; with faults on request."""

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.loopback import listening

API_KEY, APP_KEY = "push-api-key-0123456789", "push-app-key-9876543210"
COSTS, SERIES = "/api/v2/cost/custom_costs", "/api/v2/series"
FIELDS = {
    "ProviderName", "ChargePeriodStart", "ChargePeriodEnd", "ChargeDescription", "BilledCost", "BillingCurrency", "Tags",
}  # fmt: skip
META = {"version": "0.1.0"}
LONGEST, HOUR_S, AHEAD_S = 1000, 3600, 600


@dataclass
class Datadog:
    """`faults` are answers to the next requests of a method: a status, or `lost`, when it does what it is asked and hangs up."""

    today: date
    url: str = ""
    page: int = 100
    files: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    series: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[str, list[str]] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    now_s: int = 0
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def knows(self, headers: Any, path: str) -> bool:
        """Series need the one key, costs both."""
        keys = {"DD-API-KEY": API_KEY, **({} if path == SERIES else {"DD-APPLICATION-KEY": APP_KEY})}
        return all(headers.get(name) == key for name, key in keys.items())

    def wrong(self, items: Any) -> str:
        """What is wrong with a file, or nothing."""
        if not isinstance(items, list) or not items:
            return "no items"
        for one in items:
            if set(one) != FIELDS or None in one.values():
                return f"fields {sorted(one)}"
            texts = [value for name, value in one.items() if name not in ("BilledCost", "Tags")]
            texts += [*one["Tags"], *one["Tags"].values()]
            if not all(isinstance(text, str) and 0 < len(text) <= LONGEST for text in texts):
                return "an empty, long or other text"
            if not isinstance(one["BilledCost"], int | float):
                return "BilledCost"
            first, last = (date.fromisoformat(one[name]) for name in ("ChargePeriodStart", "ChargePeriodEnd"))
            if not first <= last <= self.today:
                return "a day to come"
        return ""

    def metadata(self, file: str) -> dict[str, Any]:
        items = self.files[file]
        first, last = (
            1000 * int(datetime.combine(day, datetime.min.time(), UTC).timestamp())
            for day in (
                date.fromisoformat(min(one["ChargePeriodStart"] for one in items)),
                date.fromisoformat(max(one["ChargePeriodEnd"] for one in items)),
            )
        )
        attributes = {
            "name": "data.json",
            "status": "active",
            "provider_names": sorted({one["ProviderName"] for one in items}),
            "billed_cost": sum(one["BilledCost"] for one in items),
            "billing_currency": items[0]["BillingCurrency"],
            "charge_period": {"start": first, "end": last},
            "uploaded_at": 1_790_000_000_000,
        }
        return {"id": file, "type": "cost", "attributes": attributes}

    def listed(self, asked: dict[str, list[str]]) -> tuple[int, object]:
        wanted = set(asked.get("filter[provider]", []))
        every = [self.metadata(file) for file in self.files]
        mine = [one for one in every if not wanted or wanted & set(one["attributes"]["provider_names"])]
        size, number = int(asked["page[size]"][0]), int(asked["page[number]"][0])
        return 200, {"data": mine[(number - 1) * size : number * size], "meta": META}

    def file(self, method: str, name: str) -> tuple[int, object]:
        if name not in self.files:
            return 404, {"errors": ["Not Found"]}
        if method == "DELETE":
            del self.files[name]
            return 204, None
        data = self.metadata(name)
        return 200, {"data": {**data, "attributes": {**data["attributes"], "content": self.files[name]}}, "meta": META}

    def uploaded(self, body: Any) -> tuple[int, object]:
        wrong = self.wrong(body)
        return (400, {"errors": [wrong]}) if wrong else (202, {"data": self.take(body), "meta": META})

    def points(self, body: Any) -> tuple[int, object]:
        ages = [point["timestamp"] - self.now_s for one in body["series"] for point in one["points"]]
        if not all(-HOUR_S <= age <= AHEAD_S for age in ages):
            return 400, {"errors": ["a point is too old or to come"]}
        self.series += body["series"]
        return 202, {"errors": []}

    def take(self, items: list[dict[str, Any]]) -> dict[str, Any]:
        file = f"file-{next(self.numbers)}"
        self.files[file] = items
        return self.metadata(file)


class Handler(BaseHTTPRequestHandler):
    site: Datadog
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def answer(self) -> None:
        body, path = self.body(), urlsplit(self.path)
        self.site.seen.append(f"{self.command} {path.path}")
        waiting = self.site.faults.get(self.command)
        fault = waiting.pop(0) if waiting else ""
        if not self.site.knows(self.headers, path.path):
            self.send(403, {"errors": ["Forbidden"]})
        elif fault.isdigit():
            self.send(int(fault), {"errors": ["told so"]}, {"X-RateLimit-Reset": "1"} if fault == "429" else {})
        else:
            self.serve(path.path, parse_qs(path.query), body, lost=fault == "lost")

    def do_GET(self) -> None:
        self.answer()

    def do_PUT(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def do_DELETE(self) -> None:
        self.answer()

    def body(self) -> Any:
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        packed = self.headers.get("Content-Encoding")
        data = zlib.decompress(data) if packed == "deflate" else gzip.decompress(data) if packed == "gzip" else data
        return json.loads(data) if data else None

    def serve(self, path: str, asked: dict[str, list[str]], body: Any, *, lost: bool) -> None:
        if path == SERIES:
            self.send(*self.site.points(body))
        elif path == COSTS:
            self.send(*(self.site.uploaded(body) if self.command == "PUT" else self.site.listed(asked)), lost=lost)
        else:
            self.send(*self.site.file(self.command, path.removeprefix(COSTS + "/")), lost=lost)

    def send(self, status: int, document: object, headers: dict[str, str] | None = None, *, lost: bool = False) -> None:
        data = b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {
            "Content-Type": "application/json",
            "Content-Length": str(len(data)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if lost else data)
        self.close_connection = self.close_connection or lost


@contextmanager
def serving(site: Datadog) -> Iterator[Datadog]:
    with listening(type("Bound", (Handler,), {"site": site})) as address:
        site.url = address
        yield site
