"""A loopback server that speaks the shapes of Datadog's `POST /api/v2/query/timeseries`, over a schedule, with faults where a test asks for them."""

import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

API_KEY, APP_KEY = "stub-api-key-0123456789", "stub-app-key-9876543210"
QUERY = re.compile(r"sum:([\w.]+)\{([^}]*)\} by \{([^}]*)\}")


@dataclass(frozen=True)
class Metric:
    """A metric by group: the value in the bucket that begins at a second, None where nothing was measured."""

    unit: str | None
    groups: dict[tuple[str, ...], Callable[[int], float | None]]


@dataclass
class Stub:
    metrics: dict[str, Metric] = field(default_factory=dict)
    coarsest_points: int = 1500  # beyond so many the interval grows, as Datadog's does
    faults: list[str] = field(default_factory=list)  # taken one by one
    half_from_s: int | None = None  # the first question about this second or later is answered in half
    seen: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def fault_of(self, body: dict[str, Any]) -> str:
        if self.half_from_s is not None and body["data"]["attributes"]["from"] >= self.half_from_s * 1000:
            self.half_from_s = None
            return "half"
        return self.faults.pop(0) if self.faults else ""

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        asked = body["data"]["attributes"]
        first, last, interval = (asked[name] // 1000 for name in ("from", "to", "interval"))
        while (last - first) // interval > self.coarsest_points:
            interval *= 2
        times = list(range(first // interval * interval, last, interval))
        series, values = [], []
        for number, query in enumerate(asked["queries"]):
            found = QUERY.match(query["query"])
            assert found, query
            metric = self.metrics.get(found[1], Metric(None, {}))
            for group, value in metric.groups.items():
                points = [value(at) for at in times]
                if any(point is not None for point in points):
                    unit = [{"family": "any", "name": metric.unit}, None] if metric.unit else None
                    series.append({"group_tags": list(group), "query_index": number, "unit": unit})
                    values.append(points)
        attributes = {"series": series, "times": [at * 1000 for at in times], "values": values}
        return {"data": {"id": "0", "type": "timeseries_response", "attributes": attributes}}


def handler_of(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stub.seen.append({"path": self.path, "body": body})
            if (self.headers.get("DD-API-KEY"), self.headers.get("DD-APPLICATION-KEY")) != (API_KEY, APP_KEY):
                return self.send(403, {"errors": ["Forbidden"]})
            fault = stub.fault_of(body)
            if fault == "429":
                return self.send(
                    429, {"errors": ["Rate limit exceeded"]}, {"X-RateLimit-Reset": "1", "X-RateLimit-Name": "query"}
                )
            if fault == "half":
                return self.half(stub.answer(body))
            if fault:
                return self.send(int(fault), {"errors": ["the stub was told so"]})
            return self.send(200, stub.answer(body))

        def send(self, status: int, document: object, headers: dict[str, str] | None = None) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            for name, value in {
                "Content-Type": "application/json",
                "Content-Length": str(len(data)),
                **(headers or {}),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def half(self, document: object) -> None:
            data = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True

    return Handler


@contextmanager
def serving(stub: Stub, context: ssl.SSLContext | None = None) -> Iterator[Stub]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(stub))
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that hang up are what we test
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    stub.url = f"{'https' if context else 'http'}://127.0.0.1:{server.server_port}"
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
