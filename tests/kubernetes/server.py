"""An API server on loopback that serves recorded objects: lists in pages, versions, reviews; and the faults of real ones on request."""

import json
import ssl
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from apportion.sources.kubernetes.objects import BY_KEY, KINDS
from tests.kubernetes.objects import AT_S, Object

TOKEN = "t0ken-of-the-test"


@dataclass
class Recorded:
    """What the server has and how it behaves. `faults` are answers to give first: (path, status, headers, body)."""

    objects: list[Object]
    now_s: int = AT_S
    denied: set[str] = field(default_factory=set)  # plurals
    absent: set[str] = field(default_factory=set)  # API groups
    faults: list[tuple[str, int, dict[str, str], bytes]] = field(default_factory=list)
    versions: dict[str, list[str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)
    url: str = ""

    def served(self, group: str) -> list[str]:
        known = {version for kind in KINDS if kind.group == group for version in kind.versions}
        return self.versions.get(group, sorted(known))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    recorded: Recorded

    def log_message(self, *_: object) -> None: ...

    def date_time_string(self, timestamp: float | None = None) -> str:
        return formatdate(self.recorded.now_s, usegmt=True)

    def answer(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        given = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or int(given["Content-Length"]) != len(body)

    def status(self, code: int, reason: str, message: str) -> None:
        self.answer(
            code,
            {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "reason": reason,
                "message": message,
                "code": code,
            },
        )

    def allowed(self) -> bool:
        self.recorded.asked.append(self.path)
        self.recorded.methods.add(self.command)
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        if (scheme.casefold(), token) != ("bearer", TOKEN):
            self.status(401, "Unauthorized", "Unauthorized")
            return False
        for place, fault in enumerate(self.recorded.faults):
            if self.path.startswith(fault[0]):
                del self.recorded.faults[place]
                self.answer(fault[1], fault[3], fault[2])
                return False
        return True

    def do_GET(self) -> None:
        if not self.allowed():
            return
        parts = urlsplit(self.path)
        if parts.path == "/version":
            self.answer(200, {"major": "1", "minor": "34", "gitVersion": "v1.34.1"})
        elif parts.path == "/apis":
            groups = sorted({kind.group for kind in KINDS if kind.group} - self.recorded.absent)
            self.answer(200, {"kind": "APIGroupList", "groups": [self.group(name) for name in groups]})
        else:
            self.page(parts.path, parse_qs(parts.query))

    def group(self, name: str) -> Object:
        versions = [{"groupVersion": f"{name}/{each}", "version": each} for each in self.recorded.served(name)]
        return {"name": name, "versions": versions, "preferredVersion": versions[-1] if versions else None}

    def page(self, path: str, query: dict[str, list[str]]) -> None:
        *_, version, plural = path.split("/")
        group = "" if path.startswith("/api/") else path.split("/")[2]
        kind = next((each for each in KINDS if (each.group, each.plural) == (group, plural)), None)
        if kind is None or (group and version not in self.recorded.served(group)):
            self.status(404, "NotFound", "the server could not find the requested resource")
            return
        if plural in self.recorded.denied:
            self.status(
                403,
                "Forbidden",
                f'{plural} is forbidden: User "reader" cannot list resource "{plural}" at the cluster scope',
            )
            return
        name = f"{group}/{version}" if group else version
        whole = [
            each for each in self.recorded.objects if (each["apiVersion"].rpartition("/")[0], each["kind"]) == kind.key
        ]
        first, limit = int(query.get("continue", ["0"])[0]), int(query.get("limit", ["500"])[0])
        shown = [
            {key: value for key, value in each.items() if key not in ("apiVersion", "kind")}
            for each in whole[first : first + limit]
        ]
        metadata: Object = {"resourceVersion": "4711"}
        if first + limit < len(whole):
            metadata |= {"continue": str(first + limit), "remainingItemCount": len(whole) - first - limit}
        if "PartialObjectMetadataList" in self.headers.get("accept", ""):
            shown = [{"metadata": each["metadata"]} for each in shown]
        self.answer(200, {"kind": f"{kind.name}List", "apiVersion": name, "metadata": metadata, "items": shown})

    def do_POST(self) -> None:
        document = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if not self.allowed():
            return
        if document["kind"] == "SelfSubjectReview":
            self.answer(
                201, {**document, "status": {"userInfo": {"username": "system:serviceaccount:apportion:reader"}}}
            )
            return
        wanted = document["spec"]["resourceAttributes"]
        allowed = wanted["verb"] == "list" and wanted["resource"] not in self.recorded.denied
        self.answer(201, {**document, "status": {"allowed": allowed}})


@contextmanager
def serving(objects: Iterable[Object], context: ssl.SSLContext | None = None, **more: Any) -> Iterator[Recorded]:
    recorded = Recorded(list(objects), **more)
    strange = [
        each["kind"] for each in recorded.objects if (each["apiVersion"].rpartition("/")[0], each["kind"]) not in BY_KEY
    ]
    assert not strange, strange
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"recorded": recorded}))
    server.daemon_threads = True
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    recorded.url = f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
