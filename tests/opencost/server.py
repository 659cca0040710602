"""A server on loopback that answers as OpenCost or Kubecost does, for whichever window is asked."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from apportion.model.times import Interval, parse_instant
from tests.loopback import listening
from tests.opencost import answers as a

PAGE = "<!doctype html><title>Kubecost</title>"
Answer = tuple[int, str]


@dataclass
class Fake:
    """`change` may spoil an answer: path and window in, status and body out, None to leave it."""

    prefix: str = ""
    token: str = ""
    change: Callable[[str, Interval], Answer | None] = lambda _path, _window: None
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""

    def answer(self, target: str, token: str) -> Answer:
        parts = urlsplit(target)
        params = {key: values[0] for key, values in parse_qs(parts.query).items()}
        self.asked.append((parts.path, params))
        if self.token and token != f"Bearer {self.token}":
            return 401, "no"
        if not parts.path.startswith(f"{self.prefix}/"):
            return 200, PAGE
        path = parts.path.removeprefix(self.prefix)
        if path == "/installInfo":
            return 200, json.dumps({"code": 200, "data": {"version": "1.121.0"}})
        start, _, end = params.get("window", "").partition(",")
        window = Interval(parse_instant(start), parse_instant(end))
        return self.change(path, window) or (200, json.dumps(body(path, window)))


def body(path: str, day: Interval) -> Any:
    pods = [a.Container("train-0", day=day), a.Container("train-1", day=day, start=3600, end=7200)]
    if path == "/allocation":
        return a.allocations(pods, a.idle_of(a.node(day=day), pods) | a.times(day.start_s, day.end_s, day))
    if path == "/assets":
        return a.assets(a.node(day=day))
    row = {
        "properties": {"provider": "AWS", "accountID": "42"},
        "listCost": {"cost": 3.0},
        "amortizedNetCost": {"cost": 2.0},
    }
    return {"code": 200, "data": {"sets": [{"cloudCosts": {"AWS": row}}]}}


@contextmanager
def serving(fake: Fake) -> Iterator[Fake]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, text = fake.answer(self.path, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler) as fake.url:
        yield fake
