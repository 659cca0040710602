"""Stands between obstore and a store and spoils answers on request."""

import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.loopback import listening

HEX = re.compile(r'(?<=")[0-9a-f]{32}(?=")|(?<=&quot;)[0-9a-f]{32}(?=&quot;)')


class Seen(NamedTuple):
    what: str  # list, head or get
    path: str
    headers: Mapping[str, str]


@dataclass
class Between:
    """`faults` by what is asked, used up one by one. With `opaque`, ETags are no MD5, as of buckets encrypted with keys of one's own."""

    url: str
    port: int
    faults: dict[str, list[str]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    opaque: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> int:
        return sum(seen.what == what for seen in self.seen)

    def next_fault(self, what: str) -> str:
        with self.lock:
            waiting = self.faults.get(what)
            return waiting.pop(0) if waiting else ""

    def turned(self, text: str) -> str:
        """Hexadecimal digests backwards; the same again gives them back."""
        return HEX.sub(lambda found: found[0][::-1], text) if self.opaque else text


class Handler(BaseHTTPRequestHandler):
    between: Between

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        return

    def do_GET(self) -> None:
        what = "list" if "list-type=2" in self.path else "head" if self.command == "HEAD" else "get"
        self.between.seen.append(Seen(what, self.path, dict(self.headers)))
        fault, _, word = self.between.next_fault(what).partition(" ")
        status, headers, body = self.upstream()
        if fault.isdigit():
            text = f"<?xml version='1.0'?><Error><Code>{word}</Code><Message>{self.headers['Authorization']}</Message></Error>"
            self.send(int(fault), {}, text.encode())
        else:
            getattr(self, f"fault_{fault}", self.send)(status, headers, body)

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def upstream(self) -> tuple[int, dict[str, str], bytes]:
        link = HTTPConnection("127.0.0.1", self.between.port, timeout=60)
        try:
            headers = {name: self.between.turned(value) for name, value in self.headers.items()}
            link.request(self.command, self.path, headers=headers)
            answer = link.getresponse()
            body = answer.read()
            found = {name: self.between.turned(value) for name, value in answer.getheaders()}
        finally:
            link.close()
        if "xml" in found.get("Content-Type", ""):
            body = self.between.turned(body.decode()).encode()
        return answer.status, found, body

    def send(self, status: int, headers: dict[str, str], body: bytes, sent: int | None = None) -> None:
        self.send_response_only(status)
        length = headers.get("Content-Length", "") if self.command == "HEAD" else str(len(body))
        for name, value in {**headers, "Content-Length": length or "0"}.items():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:sent])

    def fault_half(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send(status, headers, body, sent=len(body) // 2)
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def fault_cut(self, *_: object) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def fault_stall(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send(status, headers, body, sent=len(body) // 2)
        self.wfile.flush()
        time.sleep(1.5)
        self.close_connection = True

    def fault_slow(self, *_: object) -> None:
        time.sleep(1.5)
        self.close_connection = True

    def fault_etag(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send(status, {**headers, "ETag": '"00000000000000000000000000000000"'}, body)

    def fault_shorter(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send(status, headers, body[:-1])

    def fault_damaged(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send(status, headers, bytes([body[0] ^ 1]) + body[1:])

    def fault_page(self, *_: object) -> None:
        self.send(200, {}, b"please log in")


@contextmanager
def between(url: str) -> Iterator[Between]:
    found = Between("", urlsplit(url).port or 0)
    with listening(type("HandlerOfOne", (Handler,), {"between": found})) as here:
        found.url = here
        yield found
